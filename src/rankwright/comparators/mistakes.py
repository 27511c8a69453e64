"""The pairs of documents that a comparator gets wrong while sorting; it is trained on them next (Algorithm 3.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, IntArray
from rankwright.comparators.net import ComparatorNet
from rankwright.comparators.sorting import most_comparisons
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.preferences import Preferences

COMPARISONS_AT_A_TIME = 1 << 22  # each needs room for a pair, 16 bytes


def mistakes_of(net: ComparatorNet, data: RankingDataset, *, threads: int = 1) -> tuple[IntArray, IntArray]:
    """The better and the worse rows of the pairs that the net gets wrong when it sorts each query from its row order.

    A pair is wrong where its labels differ and the net does not prefer the document with the larger one. Preferences,
    where the data has them, are used instead of labels, and all of them are compared.
    """
    if data.preferences is not None:
        return _wrong_preferences(net, data.features, data.preferences, threads)
    assert data.labels is not None  # a dataset without preferences has labels
    found = [
        _of_queries(net, data.features, data.labels, part, data.groups, threads) for part in _parts(data.groups)
    ] or [np.zeros((0, 2), np.int64)]
    pairs = np.concatenate(found)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def _parts(groups: Groups) -> Iterator[slice]:
    """Runs of queries that together need at most `COMPARISONS_AT_A_TIME` comparisons, or single queries."""
    room = np.concatenate([[0], np.cumsum(most_comparisons(groups))])
    first = 0
    while first < groups.n_queries:
        last = int(np.searchsorted(room, room[first] + COMPARISONS_AT_A_TIME, side="right")) - 1
        last = min(max(last, first + 1), groups.n_queries)
        yield slice(first, last)
        first = last


def _of_queries(
    net: ComparatorNet, features: Float32Array, labels: Float32Array, part: slice, groups: Groups, threads: int
) -> IntArray:
    offsets = groups.offsets[part.start : part.stop + 1]
    start, stop = offsets[0], offsets[-1]
    own = Groups(offsets - start)
    room = np.concatenate([[0], np.cumsum(most_comparisons(own))])
    mistakes, counts = np.empty((room[-1], 2), np.int64), np.empty(own.n_queries, np.int64)
    kernels.sort_noting_mistakes(
        features[start:stop], own.offsets, net.sizes, net.weights, labels[start:stop], room[:-1],
        np.arange(own.n_docs), np.empty_like(counts), counts, mistakes, threads,
    )  # fmt: skip
    return _taken(mistakes, room, counts) + int(start)


def _taken(mistakes: IntArray, room: IntArray, counts: IntArray) -> IntArray:
    """The first `counts[q]` pairs from `room[q]` on, query after query."""
    before = np.cumsum(counts) - counts
    return np.asarray(mistakes[np.repeat(room[:-1] - before, counts) + np.arange(counts.sum())])


def _wrong_preferences(
    net: ComparatorNet, features: Float32Array, preferences: Preferences, threads: int
) -> tuple[IntArray, IntArray]:
    swapped = preferences.probability < 0.5
    better = np.where(swapped, preferences.worse, preferences.better)
    worse = np.where(swapped, preferences.better, preferences.worse)
    margins = net.margins(features, better, worse, threads=threads)
    wrong = (preferences.probability != 0.5) & ~(margins[:, 0] > margins[:, 1])
    return better[wrong], worse[wrong]


def n_possible_pairs(data: RankingDataset) -> int:
    """The number of possible pairs: those of different labels in one query, or the preferences that favour one side."""
    if data.preferences is not None:
        return int((data.preferences.probability != 0.5).sum())
    assert data.labels is not None  # a dataset without preferences has labels
    total = 0
    for docs in data.groups.slices():
        judged = data.labels[docs][~np.isnan(data.labels[docs])]
        counts = np.unique(judged, return_counts=True)[1]
        total += (len(judged) ** 2 - int((counts**2).sum())) // 2
    return total
