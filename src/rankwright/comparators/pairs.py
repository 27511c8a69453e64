"""The pairs a comparator is trained on: a set that grows, and its pairs in the form that kernels take."""

from __future__ import annotations

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.comparators.net import ComparatorNet
from rankwright.container.checks import check_between, read_array
from rankwright.data.dataset import RankingDataset
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
        return TrainingPairs(
            self.data.features[rows],
            offsets[held],
            pair_offsets[held],
            places[: len(better)],
            places[len(better) :],
            self._weights(better, worse),
        )

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
    swapped = pairs.probability < 0.5
    better, worse = np.where(swapped, pairs.worse, pairs.better), np.where(swapped, pairs.better, pairs.worse)
    said = better * data.n_docs + worse
    places = np.searchsorted(keys, said)
    known = (places < len(keys)) & (keys[np.minimum(places, max(len(keys) - 1, 0))] == said) if len(keys) else said < 0
    counted = known & (pairs.probability != 0.5)
    return np.bincount(places[counted], pairs.weight[counted], len(keys)).astype(np.float32)
