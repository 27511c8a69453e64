"""Sorting by a comparator: all queries at once, in a kernel.

A comparator need not be transitive. Sorting still ends with a permutation, but this may depend on the order in which
documents come and on the algorithm. Ranking therefore starts from an order of its own, by how the net compares each
document with one whose features are all 0, so that the same documents are always ranked the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rankwright import kernels
from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.comparators.net import ComparatorNet
from rankwright.data.groups import Groups

Algorithm: TypeAlias = Literal["merge", "heap"]


@dataclass(frozen=True, slots=True, eq=False)
class SortedDocuments:
    """The rows of each query, best first."""

    rows: IntArray
    tied: BoolArray  # whether the net finds the document at a place equal to the one above it
    n_comparisons: IntArray  # of each query

    def scores(self, groups: Groups) -> Float64Array:
        """Scores that reproduce the order: 0 for a query's best document, less 1 for each place below it.

        Documents between which the net makes no difference share the score of the first of them.
        """
        place = np.arange(len(self.rows)) - np.repeat(groups.offsets[:-1], groups.sizes)
        first_equal = np.maximum.accumulate(np.where(self.tied, -1, np.arange(len(self.rows))))
        scores = np.empty(len(self.rows))
        scores[self.rows] = 0.0 - place[first_equal]
        return scores


def sort_documents(
    net: ComparatorNet,
    features: Float32Array,
    groups: Groups,
    *,
    start: IntArray | None = None,
    algorithm: Algorithm = "merge",
    threads: int = 1,
) -> SortedDocuments:
    """The documents sorted by the comparator, from the order `start` or else from one of its own.

    Merge sort takes at most n ⌈log2 n⌉ comparisons for n documents, heap sort about twice as many.
    """
    rows = np.arange(groups.n_docs) if start is None else start.copy()
    tied, counts = np.empty(groups.n_docs, np.bool_), np.empty(groups.n_queries, np.int64)
    kernels.sort_rows(
        features,
        groups.offsets,
        net.sizes,
        net.weights,
        algorithm == "heap",
        start is None,
        rows,
        tied,
        counts,
        threads,
    )
    return SortedDocuments(rows, tied, counts)


def most_comparisons(groups: Groups) -> IntArray:
    """n ⌈log2 n⌉ of each query: merge sort never takes more."""
    sizes = groups.sizes
    levels = np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64)
    return np.asarray(sizes * levels)
