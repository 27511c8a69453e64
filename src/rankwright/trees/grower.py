"""Growing one tree on histograms of bin codes: the best split first, leaf by leaf, or one split for a whole level.

The same data, parameters and seed give the same tree, bit for bit, for any number of threads: gradients and curvatures
are rounded at random to whole numbers once per tree (right on average, and known from seed and row alone), so that
their sums do not depend on the order in which threads add them. Leaf values come from sums in much finer steps, which
do not depend on the order either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import frexp, isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright import kernels
from rankwright.arrays import BoolArray, Float32Array, Float64Array, Int32Array, IntArray, as_vector, thread_count
from rankwright.errors import InputError, SettingError
from rankwright.kernels.records import GrowthScratch, SparseCodes, SplitColumns, TreeNodes
from rankwright.memory import require_memory
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.bins.binning import GROUP_BYTES, slots_of
from rankwright.trees.forests.forest import DTYPE_OF, Tree
from rankwright.trees.params import MAX_LEAVES, TreeParams
from rankwright.trees.share import RowShare

# Whole numbers that stand for the largest gradient and curvature: as many as sums of 8,191 rows in one word allow.
GRADIENT_LEVELS = 2**13 - 1
CURVATURE_LEVELS = 2**11 - 1
MAX_CURVATURE_SUM = 2.0**36 - 2.0**29  # in levels, with room for rounding up
MAX_ROWS = 2**28 - 1
BITS_OF_LARGEST = 33  # a float64 then holds every sum of `ROWS_AT_A_TIME` values
ROWS_AT_A_TIME = 2**20
HISTOGRAM_MEMORY = 256 * 2**20  # bytes; if that is too little for all leaves, some are built twice
_NO_NUMBERS = np.empty(0, np.uint32)
BYTE_STRIDES = np.array([40, 72, 136, 264])  # bins between two features of one-byte codes, as the kernel lays them out


@dataclass(frozen=True, slots=True, eq=False)
class GrownTree:
    """A tree, and the rows it was grown on: those of node n are `rows[begin[n]:begin[n] + held[n]]`.

    `held` is the tree's count, unless other workers have some of the rows.
    """

    tree: Tree
    rows: NDArray[np.uint32]
    begin: IntArray
    held: IntArray

    def add_to(self, scores: Float64Array, *, threads: int | None = None) -> None:
        """Add the tree's values to the scores of the rows it was grown on, without looking at the documents again."""
        own = replace(self.tree, count=self.held)
        kernels.add_leaf_values(own, self.begin, self.rows, scores, thread_count(threads))

    def add_to_all(self, data: BinnedDataset, scores: Float64Array, *, threads: int | None = None) -> None:
        """Add the tree's value for every document of `data`, which has the same bins, to its score."""
        tree = self.tree
        if tree.n_leaves > MAX_LEAVES:
            raise InputError(f"a tree may have at most {MAX_LEAVES} leaves to be scored, got {tree.n_leaves}")
        add_tree(data, tree, scores, threads=threads)


def add_tree(data: BinnedDataset, nodes: TreeNodes, scores: Float64Array, *, threads: int | None = None) -> None:
    """Add the value of a tree, grown on the same bins, to the score of every document."""
    score = kernels.score_sparse_tree if isinstance(data.codes, SparseCodes) else kernels.score_tree
    score(data.codes, data.mapper.n_bins, nodes, scores, thread_count(threads))


class GrowerMemory:
    """Memory that growing needs, kept from tree to tree. One call at a time may use it."""

    def __init__(
        self,
        data: BinnedDataset,
        max_leaves: int,
        histogram_memory: int = HISTOGRAM_MEMORY,
        threads: int | None = None,
    ) -> None:
        arranged = data.arranged.rows_of(data.codes, data.n_features, thread_count(threads))
        words = histogram_words(data, arranged.features)
        n_histograms = max(2, min(max_leaves, histogram_memory // (8 * max(words, 1))))
        require_memory(8 * n_histograms * words, f"growing trees on {data.n_features:,} features")
        self.max_leaves = max_leaves
        self.quantised = np.empty(data.n_docs, np.int32)
        self.scratch = GrowthScratch(
            rows=np.empty(data.n_docs, np.uint32),
            sides=np.empty(data.n_docs, np.uint8),
            histograms=np.empty(n_histograms * words, np.uint64),
            arranged=arranged,
        )


def histogram_words(data: BinnedDataset, features: Int32Array) -> int:
    """The most words a histogram takes: two per bin, features of a group as far apart as its widest one needs.

    `features` are those of arranged places, where there are any. Of sparse codes it takes one for each place, and two
    more for places that may have too many rows for one.
    """
    if isinstance(data.codes, SparseCodes):
        return data.codes.n_total_places + 2 * int(np.diff(data.codes.crowded.reshape(-1, 2).astype(np.int64)).sum())
    mapper = data.mapper
    slots = slots_of(mapper.code_dtype)
    n_codes = np.zeros(mapper.n_groups * slots, np.int64)
    order = features[: mapper.n_features] if len(features) else slice(None)
    n_codes[: mapper.n_features] = mapper.n_bins[order] + 1  # with that of missing values
    most = n_codes.reshape(-1, slots).max(axis=1, initial=0)
    strides = BYTE_STRIDES[np.searchsorted(BYTE_STRIDES, most + 8)] if slots == GROUP_BYTES else (most + 15) // 8 * 8
    return 2 * slots * int(strides.sum())


def grow_tree(
    data: BinnedDataset,
    gradient: ArrayLike,
    curvature: ArrayLike,
    params: TreeParams,
    *,
    rows: ArrayLike | None = None,
    features: ArrayLike | None = None,
    monotone: Mapping[int, int] | None = None,
    seed: int = 0,
    memory: GrowerMemory | None = None,
    share: RowShare | None = None,
    threads: int | None = None,
) -> GrownTree:
    """A tree whose leaf values lower the cost that has these gradients.

    It is grown on the given `rows` (default: all) and splits on the given `features` (default: all). `monotone` maps a
    column, counted from 0, to +1 where scores must not fall as it rises, -1 where they must not rise. With a `share`,
    `data` is that of one worker of several, which all call this together and get the same tree.
    """
    if params.growth == "symmetric" and data.mapper.categorical.any():
        raise SettingError("symmetric trees do not split on categories: leave out categorical, or grow best-first")
    sparse = isinstance(data.codes, SparseCodes)
    if sparse and share is not None:
        raise InputError("workers do not grow trees on sparse features: train in one process, with on(None)")
    gradients = as_vector(gradient, name="gradient", dtype=np.float32, length=data.n_docs)
    curvatures = as_vector(curvature, name="curvature", dtype=np.float32, length=data.n_docs)
    memory = memory or GrowerMemory(data, params.max_leaves, threads=threads)
    own_rows = _rows_of_tree(rows, data.n_docs)
    scales = _scales(gradients, curvatures, own_rows, share)
    n_threads = thread_count(threads)
    numbers = _NO_NUMBERS if share is None else share.numbers
    kernels.quantise_lambdas(gradients, curvatures, *scales, seed & (2**64 - 1), numbers, memory.quantised, n_threads)
    nodes = _empty_nodes(params.max_leaves, data, share)
    tree_rows = np.empty(data.n_docs, np.uint32) if own_rows is None else own_rows
    begin, held = np.empty(len(nodes.feature), np.int64), np.empty(len(nodes.feature), np.int64)
    grow = kernels.grow_sparse_tree if sparse else kernels.grow_tree
    n_nodes = grow(
        codes=data.codes,
        columns=SplitColumns(
            n_bins=data.mapper.n_bins,
            categorical=data.mapper.categorical,
            monotone=_directions(monotone or {}, data),
            asked=_asked(features, data.n_features),
        ),
        quantised=memory.quantised,
        gradient=gradients,
        curvature=curvatures,
        rows=tree_rows,
        all_rows=own_rows is None,
        settings=params,
        gradient_scale=scales[0],
        curvature_scale=scales[1],
        seed=seed & (2**64 - 1),
        scratch=memory.scratch,
        nodes=nodes,
        begin=begin,
        held=held,
        exchange=None if share is None else share.exchange,
        threads=n_threads,
    )
    return GrownTree(_cut(nodes, n_nodes, data), tree_rows, begin[:n_nodes], held[:n_nodes])


def _rows_of_tree(rows: ArrayLike | None, n_docs: int) -> NDArray[np.uint32] | None:
    if n_docs > MAX_ROWS:
        raise InputError(f"a tree can be grown on at most {MAX_ROWS} rows, got {n_docs}")
    if rows is None:
        return None
    chosen = as_vector(rows, name="rows", dtype=np.int64)
    if len(chosen) > n_docs or (len(chosen) and (chosen.min() < 0 or chosen.max() >= n_docs)):
        raise InputError(f"rows must be different ones from 0 to {n_docs - 1}")
    return chosen.astype(np.uint32)


def _scales(
    gradient: Float32Array, curvature: Float32Array, rows: NDArray[np.uint32] | None, share: RowShare | None
) -> tuple[float, float]:
    """Levels per unit of gradient and of curvature."""
    own_gradient = gradient if rows is None else gradient[rows]
    own_curvature = curvature if rows is None else curvature[rows]
    largest = max(float(own_gradient.max(initial=0.0)), -float(own_gradient.min(initial=0.0)))
    largest_curvature, n_rows = float(own_curvature.max(initial=0.0)), len(own_curvature)
    is_good = isfinite(largest) and isfinite(largest_curvature) and own_curvature.min(initial=0.0) >= 0
    if share is not None:
        facts = np.array([largest, largest_curvature, n_rows, is_good], np.float64)
        of_all = np.empty((share.exchange.size, len(facts)))
        share.exchange.gather(facts.view(np.int64), of_all.reshape(-1).view(np.int64))
        largest, largest_curvature, n_rows = of_all[:, 0].max(), of_all[:, 1].max(), int(of_all[:, 2].sum())
        if is_good and not of_all[:, 3].all():
            raise InputError("gradients must be finite, and curvatures finite and 0 or more: those elsewhere are not")
    if not is_good:
        bad = np.flatnonzero(~(np.isfinite(own_gradient) & np.isfinite(own_curvature) & (own_curvature >= 0)))[0]
        raise InputError(
            f"gradients must be finite, and curvatures finite and 0 or more, but document {bad} of the tree has "
            f"{own_gradient[bad]} and {own_curvature[bad]}"
        )
    curvature_scale = CURVATURE_LEVELS / largest_curvature if largest_curvature > 0 else 1.0
    if n_rows * CURVATURE_LEVELS > MAX_CURVATURE_SUM:
        total = _sum_in_any_order(own_curvature, largest_curvature, share)
        curvature_scale = min(curvature_scale, MAX_CURVATURE_SUM / total) if total > 0 else 1.0
    return GRADIENT_LEVELS / largest if largest > 0 else 1.0, curvature_scale


def _sum_in_any_order(values: Float32Array, largest: float, share: RowShare | None) -> float:
    """The sum in whole steps of 2⁻³³ of `largest` or finer, so that the order of the values does not matter."""
    steps = 2.0 ** (BITS_OF_LARGEST - frexp(largest)[1])
    parts = (values[first : first + ROWS_AT_A_TIME] for first in range(0, len(values), ROWS_AT_A_TIME))
    whole = np.array([sum(int(np.rint(part.astype(np.float64) * steps).sum()) for part in parts)], np.int64)
    if share is not None:
        share.exchange.add_up(whole)
    return int(whole[0]) / steps


def _directions(monotone: Mapping[int, int], data: BinnedDataset) -> NDArray[np.int8]:
    directions = np.zeros(data.n_features, np.int8)
    for feature, direction in monotone.items():
        if not 0 <= feature < data.n_features:
            raise SettingError(f"columns of monotone must be from 0 to {data.n_features - 1}, got {feature}")
        name = data.names[feature]
        if direction not in (-1, 0, 1):
            raise SettingError(f"monotone must be +1, -1 or 0 for a feature, got {direction} for {name}")
        if direction != 0 and data.mapper.categorical[feature]:
            raise SettingError(f"feature {name} is categorical and cannot be monotone")
        directions[feature] = direction
    return directions


def _asked(features: ArrayLike | None, n_features: int) -> BoolArray:
    if features is None:
        return np.ones(n_features, bool)
    chosen = as_vector(features, name="features", dtype=np.int64)
    if len(chosen) and (chosen.min() < 0 or chosen.max() >= n_features):
        raise InputError(f"features must be from 0 to {n_features - 1}")
    return np.isin(np.arange(n_features), chosen)


def _empty_nodes(max_leaves: int, data: BinnedDataset, share: RowShare | None) -> TreeNodes:
    n = 2 * max_leaves - 1 if share is not None else min(2 * max_leaves - 1, max(2 * data.n_docs - 1, 1))
    most_categories = int(data.mapper.n_bins[data.mapper.categorical].max(initial=0))
    shape_of = {"categories": (n, -(-most_categories // 32))}
    names = [field.name for field in fields(TreeNodes)]
    return TreeNodes(**{name: np.empty(shape_of.get(name, n), DTYPE_OF[name]) for name in names})


def _cut(nodes: TreeNodes, n: int, data: BinnedDataset) -> Tree:
    """The first `n` nodes, with raw thresholds for bins."""
    kept = {field.name: getattr(nodes, field.name)[:n] for field in fields(nodes)}
    by_number = kept["bin"] >= 0
    threshold = np.full(n, np.nan, np.float32)
    threshold[by_number] = data.mapper.thresholds(
        kept["feature"][by_number].astype(np.int64), kept["bin"][by_number].astype(np.int64)
    )
    return Tree(**kept, threshold=threshold)
