"""The pairs a comparator is trained on: those it gets wrong while sorting, in a set that grows (Algorithm 3.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.comparators.net import ComparatorNet
from rankwright.comparators.sorting import most_comparisons
from rankwright.container.checks import check_between, read_array
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError
from rankwright.kernels.records import ComparedPairs


class TrainingPairs(ComparedPairs):
    """The pairs a comparator is trained on."""

    @property
    def n_queries(self) -> int:
        """How many queries have pairs."""
        return len(self.offsets) - 1

    def descend(
        self, net: ComparatorNet, queries: IntArray, cost: str, *, threads: int = 1
    ) -> tuple[float, Float64Array]:
        """The mean cost of the pairs of some queries, and its derivatives by the net's weights."""
        gradient = np.empty(len(net.weights))
        total = self._run(net, queries, cost, gradient, threads)
        weight = self._weight_of(queries)
        return total / weight, gradient / weight

    def cost(self, net: ComparatorNet, cost: str, *, threads: int = 1) -> float:
        """The mean cost of all pairs."""
        queries = np.arange(self.n_queries)
        return self._run(net, queries, cost, np.empty(0), threads) / self._weight_of(queries)

    def _run(self, net: ComparatorNet, queries: IntArray, cost: str, gradient: Float64Array, threads: int) -> float:
        total = np.empty(1)
        kernels.comparator_gradient(net.sizes, net.weights, self, queries, cost == "logistic", total, gradient, threads)
        return float(total[0])

    def _weight_of(self, queries: IntArray) -> float:
        by_pair = np.concatenate([[0.0], np.cumsum(self.weight, dtype=np.float64)])
        by_query = by_pair[self.pair_offsets[1:]] - by_pair[self.pair_offsets[:-1]]
        return float(by_query[queries].sum()) or 1.0


class PairSet:
    """Pairs of rows of a dataset, each at most once."""

    def __init__(self, data: RankingDataset, keys: IntArray | None = None) -> None:
        self.data = data
        if keys is not None:
            _check_keys(data, keys)
        self.keys = np.zeros(0, np.int64) if keys is None else keys  # better · documents + worse, in order

    def __len__(self) -> int:
        return len(self.keys)

    def add(self, better: IntArray, worse: IntArray) -> int:
        """Add pairs, and return how many of them were new."""
        before = len(self.keys)
        self.keys = np.union1d(self.keys, better * self.data.n_docs + worse)
        return len(self.keys) - before

    def training_pairs(self) -> TrainingPairs:
        """The pairs and their documents; pairs have the same weights as in λ-objectives."""
        better, worse = np.divmod(self.keys, max(self.data.n_docs, 1))
        rows, places = np.unique(np.concatenate([better, worse]), return_inverse=True)
        # Rows and pairs are in order, so those of a query are together; queries without any are left out.
        ends = self.data.groups.offsets
        offsets, pair_offsets = np.searchsorted(rows, ends), np.searchsorted(better, ends)
        held = np.concatenate([[True], np.diff(pair_offsets) > 0])
        first, second = np.split(places, 2)
        weights = self._weights(better, worse)
        return TrainingPairs(self.data.features[rows], offsets[held], pair_offsets[held], first, second, weights)

    def _weights(self, better: IntArray, worse: IntArray) -> Float32Array:
        """Query weight × both document weights × the preference's own weight."""
        data = self.data
        weight = np.ones(len(better), np.float32)
        if data.query_weights is not None:
            weight *= data.query_weights[data.groups.query_of_row[better]]
        if data.document_weights is not None:
            weight *= data.document_weights[better] * data.document_weights[worse]
        if data.preferences is not None:
            weight *= _weights_of_preferences(data, self.keys)
        return weight


def _check_keys(data: RankingDataset, keys: IntArray) -> None:
    """Raise unless the keys, which come from a file, are in order and each is of two rows of one query."""
    read_array({"pairs": keys}, "pairs", np.int64, (None,))
    check_between("pairs", keys, 0, data.n_docs**2 - 1)
    query_of_row = data.groups.query_of_row
    better, worse = np.divmod(keys, max(data.n_docs, 1))
    if (keys[1:] <= keys[:-1]).any() or (query_of_row[better] != query_of_row[worse]).any():
        raise InputError("pairs must be in order, each of two documents of one query")


def _weights_of_preferences(data: RankingDataset, keys: IntArray) -> Float32Array:
    """For each pair, the sum of the weights of the preferences for it."""
    pairs = data.preferences
    assert pairs is not None
    better, worse = _better_and_worse(pairs)
    said = better * data.n_docs + worse
    counted = np.isin(said, keys) & (pairs.probability != 0.5)
    return np.bincount(np.searchsorted(keys, said[counted]), pairs.weight[counted], len(keys)).astype(np.float32)


def _better_and_worse(preferences: Preferences) -> tuple[IntArray, IntArray]:
    """The rows of each preference, the one that is more likely to be better first."""
    better, worse, swapped = preferences.better, preferences.worse, preferences.probability < 0.5
    return np.where(swapped, worse, better), np.where(swapped, better, worse)


COMPARISONS_AT_A_TIME = 1 << 22  # each needs room for a pair, 16 bytes


def mistakes_of(net: ComparatorNet, data: RankingDataset, *, threads: int = 1) -> tuple[IntArray, IntArray]:
    """The better and the worse rows of the pairs that the net gets wrong when it sorts each query from its row order.

    A pair is wrong where its labels differ and the net does not prefer the document with the larger one. Preferences,
    where the data has them, are used instead of labels, and all of them are compared.
    """
    if data.preferences is not None:
        better, worse = _better_and_worse(data.preferences)
        margins = net.margins(data.features, better, worse, threads=threads)
        wrong = (data.preferences.probability != 0.5) & ~(margins[:, 0] > margins[:, 1])
        return better[wrong], worse[wrong]
    assert data.labels is not None  # a dataset without preferences has labels
    parts = _parts(data.groups)
    found = (_of_queries(net, data.features, data.labels, part, data.groups, threads) for part in parts)
    pairs = np.concatenate([np.zeros((0, 2), np.int64), *found])
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
    # Query q has the first counts[q] pairs from room[q] on.
    before = np.cumsum(counts) - counts
    return np.asarray(mistakes[np.repeat(room[:-1] - before, counts) + np.arange(counts.sum())]) + int(start)


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
