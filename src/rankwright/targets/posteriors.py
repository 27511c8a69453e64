"""Target probabilities of pairs: how they combine (RankNet, section 3.1).

A posterior P̄ij is the target probability that i ranks above j. A model has logistic(o_i - o_j), so it can meet those
whose log-odds are differences: they add along a chain (Eq. 4-6), and one posterior for each pair of neighbours, in any
order of the documents, gives all the others (the theorem). Log-odds are summed, so that a thousand nearly certain steps
lose nothing; certain steps, whose log-odds are infinite, are counted.
"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.arrays import BoolArray, Float64Array, as_numbers, as_vector
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, SettingError, require


def as_probabilities(values: ArrayLike, name: str) -> Float64Array:
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
    values = as_probabilities(probability, "a probability")
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
    left, right = as_probabilities(first, "the first posterior"), as_probabilities(second, "the second posterior")
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
    values, steps = as_probabilities(probability, "the posterior"), np.asarray(distance)
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
    if not ((counts >= 0) & np.isfinite(counts)).all():
        raise InputError(f"{name} must be 0 or more, and finite")
    return counts


def _steps(adjacent: ArrayLike) -> tuple[Float64Array, BoolArray, BoolArray]:
    """The log-odds of each step, 0 where it is certain, and which are certain to go up and which down."""
    values = as_probabilities(adjacent, "adjacent posteriors")
    if values.ndim != 1:
        raise InputError(f"adjacent posteriors must have one dimension, got shape {values.shape}")
    up, down = values == 1.0, values == 0.0
    _refuse_contradiction(down.any(), up.any())
    return log_odds(np.where(up | down, 0.5, values)), up, down


def _permutation(order: ArrayLike | None, n_docs: int) -> NDArray[np.int64]:
    if order is None:
        return np.arange(n_docs)
    places = as_vector(order, name="order", dtype=np.int64)
    if len(places) != n_docs or (np.sort(places) != np.arange(n_docs)).any():
        raise InputError(f"order must hold each of 0 to {n_docs - 1} once, as {n_docs - 1} posteriors join {n_docs}")
    return places


def _refuse_contradiction(zero: BoolArray | np.bool_, one: BoolArray | np.bool_) -> None:
    if np.any(zero & one):
        raise InputError(
            "a chain that holds both a posterior of 0 and one of 1 contradicts itself and defines no posterior"
        )
