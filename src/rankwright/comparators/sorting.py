"""Sorting by a comparator: all queries at once, in a kernel; and how far the order depends on more than the comparator.

A comparator need not be transitive. Sorting still ends with a permutation, but this may depend on the order in which
documents come and on the algorithm (section 3's remark). Ranking therefore starts from an order of its own, by how the
net compares each document with one whose features are all 0, so that the same documents are always ranked the same.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from rankwright import kernels
from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.comparators.net import ComparatorNet
from rankwright.data.groups import Groups
from rankwright.errors import require

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
    by_heap, own_start = algorithm == "heap", start is None
    kernels.sort_rows(features, groups.offsets, net.sizes, net.weights, by_heap, own_start, rows, tied, counts, threads)
    return SortedDocuments(rows, tied, counts)


def most_comparisons(groups: Groups) -> IntArray:
    """n ⌈log2 n⌉ of each query: merge sort never takes more."""
    sizes = groups.sizes
    levels = np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64)
    return np.asarray(sizes * levels)


DOCS_FOR_TRIPLES = 1000  # the most of a query, because all pairs of them are compared


@dataclass(frozen=True, slots=True)
class Stability:
    """Several orders of the same documents compared with the order that ranking gives.

    The positions that hold another document are counted for each query and order: `mean_moved` is the mean of these
    counts, `most_moved` the largest. Orders come from merge sort and heap sort, each from `n_shuffles` shuffles. A
    triple is intransitive where the net prefers a to b, b to c, and c to a.
    """

    n_queries: int
    n_docs: int
    n_shuffles: int
    share_of_same_orders: float  # of queries and orders
    share_of_moved_positions: float
    mean_moved: float
    most_moved: int
    n_triples: int
    n_intransitive: int
    share_intransitive: float

    def to_dict(self) -> dict[str, Any]:
        """The report in types JSON can hold."""
        return asdict(self)


def measure_stability(
    net: ComparatorNet,
    features: Float32Array,
    groups: Groups,
    *,
    n_shuffles: int = 5,
    rng: np.random.Generator,
    threads: int = 1,
) -> Stability:
    """How much the order of the documents of each query varies over shuffles and two sorting algorithms.

    All triples of a query count, or those of DOCS_FOR_TRIPLES of its documents drawn at random.
    """
    require(n_shuffles >= 1, f"n_shuffles must be 1 or more, got {n_shuffles}")
    usual = sort_documents(net, features, groups, threads=threads).rows
    algorithms: tuple[Algorithm, ...] = ("merge", "heap")
    moved = []
    for _ in range(n_shuffles):
        start = _shuffled(groups, rng)
        for algorithm in algorithms:
            rows = sort_documents(net, features, groups, start=start, algorithm=algorithm, threads=threads).rows
            moved.append(np.add.reduceat(np.append(rows != usual, False), groups.offsets[:-1]) * (groups.sizes > 0))
    counts = np.array(moved, np.int64)
    n_triples, n_intransitive = count_triples(net, features, groups, rng=rng, threads=threads)
    return Stability(
        n_queries=groups.n_queries,
        n_docs=groups.n_docs,
        n_shuffles=n_shuffles,
        share_of_same_orders=float((counts == 0).mean()) if counts.size else 1.0,
        share_of_moved_positions=float(counts.sum() / max(len(counts) * groups.n_docs, 1)),
        mean_moved=float(counts.mean()) if counts.size else 0.0,
        most_moved=int(counts.max(initial=0)),
        n_triples=n_triples,
        n_intransitive=n_intransitive,
        share_intransitive=n_intransitive / max(n_triples, 1),
    )


def count_triples(
    net: ComparatorNet, features: Float32Array, groups: Groups, *, rng: np.random.Generator, threads: int = 1
) -> tuple[int, int]:
    """How many triples of documents of one query there are, and how many of them the net is intransitive on.

    In a transitive triple exactly one document is preferred to both others: it wins the triple. So the intransitive
    triples are those that no document wins, and a document that is preferred to w others wins w (w - 1) / 2.
    """
    rows, sampled = _sample(groups, rng)
    wins = np.empty(sampled.n_docs, np.int64)
    kernels.count_wins(features[rows], sampled.offsets, net.sizes, net.weights, wins, threads)
    n = sampled.sizes
    n_triples = int((n * (n - 1) * (n - 2) // 6).sum())
    return n_triples, n_triples - int((wins * (wins - 1) // 2).sum())


def _shuffled(groups: Groups, rng: np.random.Generator) -> IntArray:
    """The rows of each query in random order."""
    return np.lexsort((rng.random(groups.n_docs), groups.query_of_row))


def _sample(groups: Groups, rng: np.random.Generator) -> tuple[IntArray, Groups]:
    """Rows of each query, in order, at most DOCS_FOR_TRIPLES of each."""
    place = np.arange(groups.n_docs) - np.repeat(groups.offsets[:-1], groups.sizes)
    taken = np.sort(_shuffled(groups, rng)[place < DOCS_FOR_TRIPLES])
    return taken, Groups.of_sizes(np.minimum(groups.sizes, DOCS_FOR_TRIPLES))
