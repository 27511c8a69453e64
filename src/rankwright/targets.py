"""Target probabilities of pairs: how they combine, which of them can hold together, and the nearest that can.

A posterior P̄ij is the target probability that i ranks above j. A model has logistic(o_i - o_j), so it can meet those
whose log-odds are differences: they add along a chain (RankNet, Eq. 4-6), and one posterior for each pair of
neighbours, in any order of the documents, gives all the others (the theorem). Log-odds are summed, so that a thousand
nearly certain steps lose nothing; certain steps, whose log-odds are infinite, are counted.

Posteriors are consistent where outputs o exist with P̄ij = logistic(o_i - o_j) for every pair (Eq. 4). The nearest ones
maximise the likelihood of what was given, each posterior counted by its weight: Bradley and Terry's model.

Certain posteriors need infinite outputs. Draw an arrow from i to j wherever i may rank above j, that is P̄ij > 0. Where
arrows lead from i to j and back again, on any path, outputs differ by finite amounts: such documents are a block.
Between two blocks all arrows point one way, so pushing the blocks infinitely far apart meets those posteriors exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.sparse.linalg import spsolve

from rankwright.arrays import BoolArray, Float64Array, IntArray, as_numbers, as_vector
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, SettingError, require, require_input

__all__ = [
    "ConsistentFit",
    "chain_posterior",
    "chain_posteriors",
    "combine",
    "fit_consistent",
    "is_consistent",
    "log_odds",
    "logistic",
    "posterior_at_distance",
    "preferences_from_votes",
]

MAX_STEPS = 1_000
LARGEST_MOVE = 3.0  # of a pair's log-odds in a step: where the likelihood is nearly straight, Newton's steps are wild
CERTAIN_LOG_ODDS = 5.0  # where a fit starts from a certain posterior that the others contradict
LEAST_CURVATURE = 1e-12  # of a pair: keeps the equations solvable where a posterior is all but certain
DENSE_UP_TO = 2_000  # documents: with pairs all over them a sparse matrix would fill up, and solve more slowly
CLOSE_ENOUGH = 1e-12  # of a document's force, as a share of the weight of its pairs


def _as_probabilities(values: ArrayLike, name: str) -> Float64Array:
    """`values` as float64; all must lie between 0 and 1."""
    array = as_numbers(values, name=name, dtype=np.float64)
    wrong = ~((array >= 0.0) & (array <= 1.0))
    if wrong.any():
        raise InputError(f"{name} must lie between 0 and 1, got {array[wrong].flat[0]:g}")
    return array


def log_odds(probability: ArrayLike) -> Float64Array:
    """The log-odds of a probability: log(P / (1 - P)) (RankNet, Eq. 6).

    Parameters
    ----------
    probability : float or array-like
        Probabilities, from 0 to 1.

    Returns
    -------
    array of float64
        Their log-odds: 0 at ½, infinite at 0 and 1.

    Examples
    --------
    >>> import rankwright as rw
    >>> float(rw.targets.log_odds(0.5))
    0.0
    """
    values = _as_probabilities(probability, "a probability")
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values) - np.log1p(-values), np.float64)


def logistic(odds: ArrayLike) -> Float64Array:
    """The probability that has the given log-odds: e^o / (1 + e^o) (RankNet, Eq. 2).

    Parameters
    ----------
    odds : float or array-like
        Log-odds o, of any size.

    Returns
    -------
    array of float64
        The probabilities.

    Examples
    --------
    >>> import rankwright as rw
    >>> float(rw.targets.logistic(0.0))
    0.5
    """
    values = np.asarray(odds, dtype=np.float64)
    shrunk = np.exp(-np.abs(values))  # at most 1: nothing overflows
    return np.asarray(np.where(values >= 0, 1.0, shrunk) / (1.0 + shrunk), np.float64)


@overload
def combine(first: float, second: float) -> float: ...
@overload
def combine(first: ArrayLike, second: ArrayLike) -> Float64Array: ...
def combine(first: ArrayLike, second: ArrayLike) -> Float64Array | float:
    """The posterior of i above k, from that of i above j and that of j above k (RankNet, Eq. 5).

    Parameters
    ----------
    first : float or array-like
        Posteriors P̄ij, from 0 to 1.
    second : float or array-like
        Posteriors P̄jk, from 0 to 1.

    Returns
    -------
    float or array of float64
        Posteriors P̄ik; exact where either is 0, ½ or 1.

    Raises
    ------
    InputError
        Where one is 0 and the other 1: then P̄ik is not defined.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.targets.combine(0.5, 0.3), rw.targets.combine(1.0, 0.3)
    (0.3, 1.0)
    """
    left, right = _as_probabilities(first, "the first posterior"), _as_probabilities(second, "the second posterior")
    both, neither = left * right, (1.0 - left) * (1.0 - right)
    _refuse_contradiction(np.minimum(left, right) == 0.0, np.maximum(left, right) == 1.0)
    combined: Float64Array = both / (both + neither)
    return float(combined) if np.ndim(combined) == 0 else combined


def chain_posterior(adjacent: ArrayLike) -> float:
    """The posterior that the first document of a chain ranks above the last.

    Parameters
    ----------
    adjacent : array-like
        For each step, the posterior that a document ranks above the next one.

    Returns
    -------
    float
        The posterior of the whole chain.

    Examples
    --------
    >>> import rankwright as rw
    >>> round(rw.targets.chain_posterior([0.6, 0.6]), 4)
    0.6923
    """
    finite, up, down = _steps(adjacent)
    return 1.0 if up.any() else 0.0 if down.any() else float(logistic(finite.sum()))


def chain_posteriors(adjacent: ArrayLike, order: ArrayLike | None = None) -> Float64Array:
    """The posteriors of all pairs, from those of neighbours (RankNet's theorem).

    Parameters
    ----------
    adjacent : array-like, shape (n_docs - 1,)
        `adjacent[k]` is the posterior that document `order[k]` ranks above document `order[k + 1]`.
    order : array-like of int, shape (n_docs,), optional
        The order of the documents; the default is 0, 1, 2, …

    Returns
    -------
    array of float64, shape (n_docs, n_docs)
        Row i, column j has the posterior that i ranks above j; the diagonal has ½.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.targets.chain_posteriors([0.6, 0.6]).round(4).tolist()
    [[0.5, 0.6, 0.6923], [0.4, 0.5, 0.6], [0.3077, 0.4, 0.5]]
    """
    finite, up, down = _steps(adjacent)
    n_docs = len(finite) + 1
    # Row i sums from step i on, so that neighbours keep the digits of their own posterior.
    later = np.triu(np.ones((n_docs, n_docs - 1), bool))
    sums = np.zeros((n_docs, n_docs))
    sums[:, 1:] = np.cumsum(later * finite, axis=1)
    passed = np.zeros((n_docs, n_docs))
    passed[:, 1:] = np.cumsum(later * (up.astype(float) - down), axis=1)
    upper = np.where(passed > 0, 1.0, np.where(passed < 0, 0.0, logistic(sums)))
    below = np.where(passed > 0, 0.0, np.where(passed < 0, 1.0, logistic(-sums)))  # 1 - upper, with all its digits
    by_place = np.where(np.tri(n_docs, k=-1, dtype=bool), below.T, upper)
    places = np.argsort(_permutation(order, n_docs))
    return by_place[np.ix_(places, places)]


@overload
def posterior_at_distance(probability: float, distance: int) -> float: ...
@overload
def posterior_at_distance(probability: ArrayLike, distance: ArrayLike) -> Float64Array: ...
def posterior_at_distance(probability: ArrayLike, distance: ArrayLike) -> Float64Array | float:
    """The posterior of documents some places apart in a chain of equal steps (RankNet's lemma).

    It is Δ^n / (1 + Δ^n) with Δ = P / (1 - P): above ½ it grows with the distance n, below ½ it falls, at ½ it stays.

    Parameters
    ----------
    probability : float or array-like
        The posterior P of each step, from 0 to 1.
    distance : int or array-like of int
        The number of steps n, 1 or more.

    Returns
    -------
    float or array of float64
        The posterior at that distance.

    Examples
    --------
    >>> import rankwright as rw
    >>> round(rw.targets.posterior_at_distance(0.6, 2), 4)  # 0.36 / (0.36 + 0.16)
    0.6923
    """
    values, steps = _as_probabilities(probability, "the posterior"), np.asarray(distance)
    if steps.dtype.kind not in "iu" or (steps < 1).any():
        raise SettingError(f"a distance must be a whole number of 1 or more, got {distance!r}")
    with np.errstate(divide="ignore"):  # certain ones are infinite, and stay so
        far = logistic(steps * log_odds(values))
    found = np.where(steps == 1, values, far)
    return float(found) if np.ndim(found) == 0 else found


def preferences_from_votes(
    first: ArrayLike, second: ArrayLike, votes_for_first: ArrayLike, votes_for_second: ArrayLike, *, prior: float = 0.0
) -> Preferences:
    """Preferences from votes on pairs: the target is the share of votes for the first row, the weight how many voted.

    Votes may contradict each other; training can handle that, and `fit_consistent` tells how much they do. Pairs
    without votes are left out.

    Parameters
    ----------
    first, second : array-like of int, shape (n_pairs,)
        The two rows of each pair, which belong to the same query.
    votes_for_first, votes_for_second : array-like, shape (n_pairs,)
        How many voted for each of the two; 0 or more.
    prior : float, default 0.0
        Votes to add for each side of every pair. With few votes it keeps targets away from 0 and 1.

    Returns
    -------
    Preferences
        The pairs.

    Examples
    --------
    >>> import rankwright as rw
    >>> pairs = rw.targets.preferences_from_votes([0, 0], [1, 2], [3, 0], [1, 0])
    >>> pairs.better.tolist(), pairs.probability.tolist(), pairs.weight.tolist()
    ([0], [0.75], [4.0])
    """
    require(0 <= prior < np.inf, f"prior must be 0 or more and finite, got {prior}")
    rows = as_vector(first, name="first", dtype=np.int64)
    others = as_vector(second, name="second", dtype=np.int64, length=len(rows))
    ours = _votes(votes_for_first, "votes_for_first", len(rows))
    theirs = _votes(votes_for_second, "votes_for_second", len(rows))
    voted = ours + theirs > 0
    ours, theirs = ours[voted], theirs[voted]
    share = (ours + prior) / (ours + theirs + 2.0 * prior)
    return Preferences(rows[voted], others[voted], share, ours + theirs)


def _votes(votes: ArrayLike, name: str, length: int) -> Float64Array:
    counts = as_vector(votes, name=name, dtype=np.float64, length=length)
    require_input(((counts >= 0) & np.isfinite(counts)).all(), f"{name} must be 0 or more, and finite")
    return counts


def _steps(adjacent: ArrayLike) -> tuple[Float64Array, BoolArray, BoolArray]:
    """The log-odds of each step, 0 where it is certain, and which are certain to go up and which down."""
    values = _as_probabilities(adjacent, "adjacent posteriors")
    require_input(values.ndim == 1, f"adjacent posteriors must have one dimension, got shape {values.shape}")
    up, down = values == 1.0, values == 0.0
    _refuse_contradiction(down.any(), up.any())
    return log_odds(np.where(up | down, 0.5, values)), up, down


def _permutation(order: ArrayLike | None, n_docs: int) -> IntArray:
    if order is None:
        return np.arange(n_docs)
    places = as_vector(order, name="order", dtype=np.int64)
    if len(places) != n_docs or (np.sort(places) != np.arange(n_docs)).any():
        raise InputError(f"order must hold each of 0 to {n_docs - 1} once, as {n_docs - 1} posteriors join {n_docs}")
    return places


def _refuse_contradiction(zero: BoolArray | np.bool_, one: BoolArray | np.bool_) -> None:
    if np.any(zero & one):
        told = "a chain that holds both a posterior of 0 and one of 1 contradicts itself and defines no posterior"
        raise InputError(told)


@dataclass(frozen=True, slots=True, eq=False)
class ConsistentFit:
    """The consistent posteriors nearest to given ones; `fit_consistent` makes it.

    Attributes
    ----------
    outputs : array of float64, shape (n_docs,)
        The output o of each document, 0 on average in each block.
    block : array of int64, shape (n_docs,)
        The block of each document. Documents of one block rank above each other with probability logistic(o_i - o_j).
        Documents of different blocks are certain to rank one way, or were never compared.
    probability : array of float64, shape (n_pairs,)
        The fitted posterior of each given pair.
    residual : array of float64, shape (n_pairs,)
        Given less fitted.
    arrows : scipy.sparse.csr_array, shape (n_docs, n_docs)
        Has an entry at i, j where i may rank above j.
    """

    outputs: Float64Array
    block: IntArray
    probability: Float64Array
    residual: Float64Array
    arrows: csr_array

    @property
    def worst(self) -> float:
        """The largest residual, up or down: 0 where the given posteriors are consistent."""
        return float(np.abs(self.residual).max(initial=0.0))

    def posteriors(self) -> Float64Array:
        """The fitted posteriors of all pairs.

        Returns
        -------
        array of float64, shape (n_docs, n_docs)
            Row i, column j has the posterior that i ranks above j, NaN where the given pairs say nothing about it.
        """
        gaps = self.outputs[:, None] - self.outputs[None, :]
        above = np.isfinite(shortest_path(self.arrows, unweighted=True))
        between = np.where(above, 1.0, np.where(above.T, 0.0, np.nan))
        return np.where(self.block[:, None] == self.block[None, :], logistic(gaps), between)


def is_consistent(first: ArrayLike, second: ArrayLike, probability: ArrayLike, *, tolerance: float = 1e-6) -> bool:
    """Whether posteriors can hold together: outputs exist that meet every one of them.

    Parameters
    ----------
    first, second : array-like of int, shape (n_pairs,)
        The two documents of each pair, numbered from 0. Pairs may be missing or repeated.
    probability : array-like, shape (n_pairs,)
        The posterior, from 0 to 1, that `first` ranks above `second`.
    tolerance : float, default 1e-6
        How far a fitted posterior may be from the given one.

    Returns
    -------
    bool
        True where they are consistent.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.targets.is_consistent([0, 1, 0], [1, 2, 2], [0.6, 0.6, 0.9])
    False
    """
    return fit_consistent(first, second, probability).worst <= tolerance


def fit_consistent(
    first: ArrayLike, second: ArrayLike, probability: ArrayLike, weight: ArrayLike = 1.0
) -> ConsistentFit:
    """The consistent posteriors under which the given ones are likeliest.

    Parameters
    ----------
    first, second : array-like of int, shape (n_pairs,)
        The two documents of each pair, numbered from 0. Pairs may be missing or repeated.
    probability : array-like, shape (n_pairs,)
        The posterior, from 0 to 1, that `first` ranks above `second`. Posteriors may be
        certain and contradict each other.
    weight : float or array-like, default 1.0
        How often each pair was measured, 0 or more.

    Returns
    -------
    ConsistentFit
        The fitted posteriors, and how far the given ones are from them.

    Examples
    --------
    >>> import rankwright as rw
    >>> fit = rw.targets.fit_consistent([0, 1, 0], [1, 2, 2], [0.6, 0.6, 0.9])
    >>> fit.probability.round(3).tolist(), round(fit.worst, 3)
    ([0.681, 0.681, 0.819], 0.081)
    """
    a = as_vector(first, name="first", dtype=np.int64)
    b = as_vector(second, name="second", dtype=np.int64, length=len(a))
    given = as_vector(probability, name="probability", dtype=np.float64, length=len(a))
    wanted = _as_probabilities(given, "a posterior")
    weights = as_vector(np.broadcast_to(weight, len(a)), name="weight", dtype=np.float64)
    _check(a, b, weights)
    n_docs = int(max(a.max(initial=-1), b.max(initial=-1))) + 1
    down, up = (wanted > 0) & (weights > 0), (wanted < 1) & (weights > 0)
    tails, heads = np.concatenate([a[down], b[up]]), np.concatenate([b[down], a[up]])
    arrows = csr_array((np.ones(len(tails)), (tails, heads)), shape=(n_docs, n_docs))
    n_blocks, block = connected_components(arrows, directed=True, connection="strong")
    inside = (block[a] == block[b]) & (weights > 0)
    free = np.ones(n_docs, bool)
    free[np.unique(block, return_index=True)[1]] = False  # only differences count: a block's first output is fixed at 0
    pairs = _PairFit(a[inside], b[inside], wanted[inside], weights[inside], free)
    outputs = pairs.most_likely_outputs()
    outputs -= (np.bincount(block, outputs, n_blocks) / np.maximum(1, np.bincount(block, minlength=n_blocks)))[block]
    # Between blocks every posterior that counts is 0 or 1, and is met; one of weight 0 says nothing and is not missed.
    fitted = np.where(block[a] == block[b], logistic(outputs[a] - outputs[b]), wanted)
    return ConsistentFit(outputs, block.astype(np.int64), fitted, wanted - fitted, arrows)


def _check(a: IntArray, b: IntArray, weights: Float64Array) -> None:
    if min(a.min(initial=0), b.min(initial=0)) < 0:
        raise InputError("documents are numbered from 0, got a negative one")
    if (a == b).any():
        raise InputError(f"pair {int(np.flatnonzero(a == b)[0])} joins a document to itself")
    require_input(bool(((weights >= 0) & np.isfinite(weights)).all()), "a pair's weight must be 0 or more, and finite")


@dataclass(frozen=True, slots=True, eq=False)
class _PairFit:
    """The pairs within blocks, and the outputs that are likeliest to have given them."""

    a: IntArray
    b: IntArray
    wanted: Float64Array
    weight: Float64Array
    free: BoolArray  # documents whose output is to be found

    def most_likely_outputs(self) -> Float64Array:
        """The outputs of greatest likelihood, by Newton's steps, each shortened until it helps."""
        outputs = self._nearest_in_log_odds()
        at_most = np.bincount(self.a, self.weight, len(self.free)) + np.bincount(self.b, self.weight, len(self.free))
        for _ in range(MAX_STEPS):
            fitted = logistic(outputs[self.a] - outputs[self.b])
            force = self._by_document(self.weight * (self.wanted - fitted))
            if (np.abs(force) <= CLOSE_ENOUGH * at_most).all():
                break
            step = self._solve(self.weight * np.maximum(fitted * (1.0 - fitted), LEAST_CURVATURE), force)
            step *= min(1.0, LARGEST_MOVE / np.abs(step[self.a] - step[self.b]).max())
            before, slope = self._cost(outputs), float(force @ step)
            size = 1.0
            while self._cost(outputs + size * step) > before - 1e-4 * size * slope and size > 1e-8:
                size /= 2.0
            if size <= 1e-8:  # only the last digits still change
                break
            outputs = outputs + size * step
        return outputs

    def _nearest_in_log_odds(self) -> Float64Array:
        """The outputs whose differences are nearest, in squares, to the log-odds: the answer where all agree."""
        wanted_log_odds = np.nan_to_num(log_odds(self.wanted), posinf=CERTAIN_LOG_ODDS, neginf=-CERTAIN_LOG_ODDS)
        return self._solve(self.weight, self._by_document(self.weight * wanted_log_odds))

    def _cost(self, outputs: Float64Array) -> float:
        gap = outputs[self.a] - outputs[self.b]
        return float((self.weight * (np.logaddexp(0.0, gap) - self.wanted * gap)).sum())  # Burges et al. 2005, Eq. 3

    def _by_document(self, of_pair: Float64Array) -> Float64Array:
        n_docs = len(self.free)
        return (np.bincount(self.a, of_pair, n_docs) - np.bincount(self.b, of_pair, n_docs)).astype(np.float64)

    def _solve(self, stiffness: Float64Array, force: Float64Array) -> Float64Array:
        """The moves at which springs between paired documents balance the force; only those that are free move."""
        n_docs, moves = len(self.free), np.zeros(len(self.free))
        if not self.free.any():
            return moves
        rows = np.concatenate([self.a, self.b, self.a, self.b])
        columns = np.concatenate([self.a, self.b, self.b, self.a])
        values = np.concatenate([stiffness, stiffness, -stiffness, -stiffness])
        matrix = csr_array((values, (rows, columns)), shape=(n_docs, n_docs))[self.free][:, self.free]
        if len(force) <= DENSE_UP_TO:
            moves[self.free] = np.linalg.solve(matrix.toarray(), force[self.free])
        else:
            moves[self.free] = spsolve(matrix.tocsc(), force[self.free], permc_spec="MMD_AT_PLUS_A")
        return moves
