"""How likely each position is examined, from logs that show the same documents at different positions."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, IntArray, whole_number
from rankwright.clicks.logs.click_log import ClickLog, check_log, pair_log
from rankwright.errors import require_input
from rankwright.linear_algebra import solve_symmetric, times


def from_randomised(log: ClickLog, n_ranks: int = 10) -> Float64Array:
    """Examination of each position from lists in random order.

    Where documents are put in random order, all positions show documents that are equally good on average; so click
    rates differ by examination alone.

    Parameters
    ----------
    log : ClickLog
        Lists in random order, and no others.
    n_ranks : int, default 10
        How many positions to tell of.

    Returns
    -------
    array of float64
        Examination relative to the first position; NaN for positions that were never shown.

    Examples
    --------
    >>> import rankwright as rw
    >>> log = rw.clicks.ClickLog.from_lists(["q"] * 4, [["a", "b"], ["b", "a"]] * 2, [[1], [1], [2], []])
    >>> rw.clicks.from_randomised(log, 2).tolist()
    [1.0, 0.5]
    """
    check_log(log)
    n_ranks = whole_number(n_ranks, "n_ranks", least=1)
    ranks, times = log.ranks, log.list_counts[log.list_of_row].astype(np.float64)
    kept = ranks < n_ranks
    shown = np.bincount(ranks[kept], weights=times[kept], minlength=n_ranks)
    clicks = np.bincount(ranks[kept], weights=(times * log.clicked)[kept], minlength=n_ranks)
    rates = np.divide(clicks, shown, out=np.full(n_ranks, np.nan), where=shown > 0)
    require_input(rates[0] > 0, "the first position has no clicks to compare others with")
    relative: Float64Array = rates / rates[0]
    return relative


def from_interventions(log: ClickLog, n_ranks: int = 10) -> Float64Array:
    """Examination of each position from documents that were shown at several positions of the same query.

    This is intervention harvesting (Agarwal et al. 2019): for every two positions, the documents that were shown at
    both are compared with themselves, each weighed by how often it was shown at either. The ratios of all pairs of
    positions are then fitted together, on a logarithmic scale.

    Parameters
    ----------
    log : ClickLog
        A log in which documents change places, by experiment or because rankers changed.
    n_ranks : int, default 10
        How many positions to tell of.

    Returns
    -------
    array of float64
        Examination relative to the first position; NaN for positions that no swap joins to it.

    Examples
    --------
    >>> import rankwright as rw
    >>> log = rw.clicks.ClickLog.from_lists(["q"] * 4, [["a", "b"], ["b", "a"]] * 2, [[1], [1], [2], []])
    >>> rw.clicks.from_interventions(log, 2).round(2).tolist()
    [1.0, 0.5]
    """
    check_log(log)
    n_ranks = whole_number(n_ranks, "n_ranks", least=1)
    numbered = pair_log(log)
    lists = numbered.lists
    sizes = np.diff(lists.offsets)
    ranks = np.arange(len(lists.pairs)) - np.repeat(lists.offsets[:-1], sizes)
    kept, times = ranks < n_ranks, np.repeat(lists.counts, sizes).astype(np.float64)
    cells = lists.pairs[kept].astype(np.int64) * n_ranks + ranks[kept]
    used, place = np.unique(cells, return_inverse=True)
    shown = np.bincount(place, weights=times[kept]).astype(np.float64)
    clicks = np.bincount(place, weights=(times * lists.clicked)[kept]).astype(np.float64)
    pair, rank = used // n_ranks, used % n_ranks
    return _fitted(*_ratios(pair, rank, shown, clicks, n_ranks))


def _ratios(
    pair: IntArray, rank: IntArray, shown: Float64Array, clicks: Float64Array, n_ranks: int
) -> tuple[Float64Array, Float64Array]:
    """Clicks at position i of documents that were also shown at j, each weighed alike at both; and the evidence."""
    rates, evidence = np.zeros((n_ranks, n_ranks)), np.zeros((n_ranks, n_ranks))
    order = np.lexsort((rank, pair))
    pair, rank, shown, clicks = pair[order], rank[order], shown[order], clicks[order]
    for step in range(1, n_ranks):  # cells of one pair stand together: those `step` further on, of the same pair
        first, second = np.arange(len(pair) - step), np.arange(step, len(pair))
        same = pair[first] == pair[second]
        i, j = first[same], second[same]
        weight = np.minimum(shown[i], shown[j])
        np.add.at(rates, (rank[i], rank[j]), weight * clicks[i] / shown[i])
        np.add.at(rates, (rank[j], rank[i]), weight * clicks[j] / shown[j])
        np.add.at(evidence, (rank[i], rank[j]), clicks[i] * weight / shown[i] + clicks[j] * weight / shown[j])
    return rates, evidence + evidence.T


def _fitted(rates: Float64Array, evidence: Float64Array) -> Float64Array:
    """Positions' examination that explains the ratios of all pairs of positions best, by weighed least squares."""
    n_ranks = len(rates)
    upper, lower = np.nonzero(np.triu((rates > 0) & (rates.T > 0), k=1))
    design = np.zeros((len(upper), n_ranks))
    design[np.arange(len(upper)), lower], design[np.arange(len(upper)), upper] = 1, -1
    target = np.log(rates[lower, upper] / rates[upper, lower])
    weight = np.sqrt(evidence[upper, lower])
    joined = _reachable(upper, lower, n_ranks)
    found = np.full(n_ranks, np.nan)
    found[0] = 1.0
    if joined.sum() > 1:
        free, aim = (design * weight[:, None])[:, 1:], target * weight
        solution = solve_symmetric(np.einsum("pi,pj->ij", free, free), times(free.T, aim))
        found[1:] = np.where(joined[1:], np.exp(solution), np.nan)
    return found


def _reachable(upper: IntArray, lower: IntArray, n_ranks: int) -> BoolArray:
    """Which positions comparisons join to the first one."""
    joined = np.zeros(n_ranks, np.bool_)
    joined[0] = True
    for _ in range(n_ranks):
        for i, j in zip(upper, lower, strict=True):
            joined[i] = joined[j] = joined[i] or joined[j]
    return joined
