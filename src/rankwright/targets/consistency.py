"""Which posteriors of pairs can hold together, and the nearest that can.

Posteriors are consistent where outputs o exist with P̄ij = logistic(o_i - o_j) for every pair (RankNet, Eq. 4). The
nearest ones maximise the likelihood of what was given, each posterior counted by its weight: Bradley and Terry's model.

Certain posteriors need infinite outputs. Draw an arrow from i to j wherever i may rank above j, that is P̄ij > 0. Where
arrows lead from i to j and back again, on any path, outputs differ by finite amounts: such documents are a block.
Between two blocks all arrows point one way, so pushing the blocks infinitely far apart meets those posteriors exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.sparse.linalg import spsolve

from rankwright.arrays import BoolArray, Float64Array, IntArray, as_vector
from rankwright.errors import InputError
from rankwright.targets.posteriors import as_probabilities, log_odds, logistic

MAX_STEPS = 1_000
LARGEST_MOVE = 3.0  # of a pair's log-odds in a step: where the likelihood is nearly straight, Newton's steps are wild
CERTAIN_LOG_ODDS = 5.0  # where a fit starts from a certain posterior that the others contradict
LEAST_CURVATURE = 1e-12  # of a pair: keeps the equations solvable where a posterior is all but certain
DENSE_UP_TO = 2_000  # documents: with pairs all over them a sparse matrix would fill up, and solve more slowly
CLOSE_ENOUGH = 1e-12  # of a document's force, as a share of the weight of its pairs


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
    wanted = as_probabilities(given, "a posterior")
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
    if not ((weights >= 0) & np.isfinite(weights)).all():
        raise InputError("a pair's weight must be 0 or more, and finite")


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
