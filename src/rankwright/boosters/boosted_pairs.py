"""The pairs that pairwise boosting learns from: only documents in order of labels are stored, never the pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.kernels.records import LabelPairs

STUMPS_AT_A_TIME = 8  # one for each bit


class BoostedPairs(LabelPairs):
    """The pairs with the weights of boosting: all weights add up to 1."""

    @property
    def n_docs(self) -> int:
        """How many documents there are, with and without pairs."""
        return len(self.labels)

    def potentials(self, scores: Float64Array, *, threads: int = 1) -> tuple[Float64Array, Float64Array]:
        """For each row, the weight of pairs where it is better less where it is worse; and the weight of each query."""
        potentials, totals = np.empty(self.n_docs), np.empty(len(self.query_weights))
        kernels.pair_potentials(scores, self, potentials, totals, threads)
        return potentials, totals

    def fidelity_potentials(self, scores: Float64Array, *, threads: int = 1) -> Float64Array:
        """The same with pair weights that are twice the slope of the fidelity loss."""
        potentials, totals = np.empty(self.n_docs), np.empty(len(self.query_weights))
        kernels.fidelity_potentials(scores, self, potentials, totals, threads)
        return potentials

    def fidelity_agreement(
        self, scores: Float64Array, above: NDArray[np.uint8], *, threads: int = 1
    ) -> tuple[Float64Array, Float64Array]:
        """The same weights summed over pairs that each of eight stumps, a bit of `above`, orders right and wrong."""
        shape = (len(self.query_weights), STUMPS_AT_A_TIME)
        agree, disagree = np.empty(shape), np.empty(shape)
        kernels.fidelity_agreement(scores, self, above, agree, disagree, threads)
        return agree.sum(axis=0), disagree.sum(axis=0)


def boosted_pairs(data: RankingDataset, *, equal_queries: bool, name: str) -> BoostedPairs:
    """The pairs of `data` for the ranker of that name; with `equal_queries` each query's pairs count the same."""
    if data.labels is None or data.preferences is not None:
        raise InputError(f"{name} makes its pairs from labels: give y, and no preferences")
    judged = np.flatnonzero(~np.isnan(data.labels))
    query_of_row = data.groups.query_of_row
    order = judged[np.lexsort((data.labels[judged], query_of_row[judged]))]
    counts = np.bincount(query_of_row[judged], minlength=data.n_queries)
    plain = BoostedPairs(
        labels=data.labels,
        weights=np.ones(data.n_docs) if data.document_weights is None else data.document_weights.astype(np.float64),
        query_weights=np.ones(data.n_queries),
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        order=order,
    )
    _, of_query = plain.potentials(np.zeros(data.n_docs))  # with equal scores: the number of pairs, weighted
    weights = np.ones(data.n_queries) if data.query_weights is None else data.query_weights.astype(np.float64)
    if equal_queries:
        weights = np.divide(weights, of_query, out=np.zeros_like(weights), where=of_query > 0)
    total = float(np.sum(weights * of_query))
    scaled = weights / total if total > 0 else np.zeros_like(weights)
    return BoostedPairs(plain.labels, plain.weights, scaled, plain.offsets, plain.order)
