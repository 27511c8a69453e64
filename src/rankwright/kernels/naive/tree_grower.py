"""Twins of the kernels that grow a tree: sums in whole numbers, splits leaf by leaf or level by level, and scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import frexp
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import CodeArray, Float32Array, Float64Array, Int32Array, IntArray, Uint32Array
from rankwright.kernels.naive.common import codes_by_row, stream_of
from rankwright.kernels.naive.tree_splits import (
    NO_SPLIT,
    Bounds,
    Split,
    SplitChance,
    SplitRules,
    TreeChance,
    best_split,
    scores_of,
)
from rankwright.kernels.records import Exchange, GrowthScratch, SplitColumns, TreeNodes, TreeSettings


class _LevelLeaf(NamedTuple):
    """A leaf of the level: the sums of its documents by bin, of each feature, and what its value may be."""

    bins: list[IntArray]
    bounds: Bounds


class _LevelSplit(NamedTuple):
    """A split of all leaves, and what they gain by it; `any_missing` tells whether a document lacks the feature."""

    gain: float
    feature: int
    bin: int
    missing_left: bool
    any_missing: bool


def _best_of_level(
    leaves: list[_LevelLeaf], columns: SplitColumns, rules: SplitRules, chance: SplitChance
) -> _LevelSplit:
    """The split that gains most, or with noise the one drawn; what leaves gain is added up in their order.

    Among equals the lowest feature wins, within it the lowest bin, and there missing values on the right.
    """
    best, most = _LevelSplit(0.0, -1, -1, False, False), -np.inf
    for feature in chance.features:
        any_missing = any(leaf.bins[feature][-1, 2] > 0 for leaf in leaves)
        gains = np.zeros((columns.n_bins[feature], 2))  # with missing values on the right, on the left
        for leaf in leaves:
            for side in range(1 + any_missing):
                gains[:, side] += _gains(leaf, int(feature), bool(side), columns, rules)
        bin, side = divmod(int(np.argmax(gains)), 2)
        gain = float(gains.max(initial=0.0))
        worth = chance.worth(gain, feature) if chance.deviation > 0 else gain
        if gain > 0 and (worth, gain) > (most, best.gain):
            best, most = _LevelSplit(gain, int(feature), bin, bool(side), any_missing), worth
    return best


def _split_in_leaf(leaf: _LevelLeaf, level: _LevelSplit, columns: SplitColumns, rules: SplitRules) -> Split:
    """The level's split in one of its leaves; its score is what the leaf gains, 0 where it takes no part."""
    gain = float(_gains(leaf, level.feature, level.missing_left, columns, rules)[level.bin])
    if gain == 0:
        return NO_SPLIT
    goes_left = np.arange(columns.n_bins[level.feature] + 1) <= level.bin
    goes_left[-1] = level.missing_left
    left = leaf.bins[level.feature][goes_left].sum(axis=0)
    return Split(gain, level.feature, level.bin, left, goes_left)


def _gains(
    leaf: _LevelLeaf, feature: int, missing_left: bool, columns: SplitColumns, rules: SplitRules
) -> Float64Array:
    """What the leaf gains by each place; 0 where it takes no part."""
    bins = leaf.bins[feature]
    total: IntArray = bins.sum(axis=0)
    left = np.cumsum(bins[:-1], axis=0) + (bins[-1] if missing_left else 0)
    rule = rules.gain_rule(total, leaf.bounds, 0.0)
    gains = scores_of(left, total - left, int(columns.monotone[feature]), rules, leaf.bounds) - rule.before
    return np.where(gains > rule.least, gains, 0.0)


CURVATURE_BITS = 11
GRADIENT_LIMIT = 2**13 - 1
CURVATURE_LIMIT = 2**CURVATURE_BITS - 1
BITS_OF_LARGEST = 33  # 2²⁸ rows, the most a tree can have, then sum to less than 2⁶²


def quantise_lambdas(
    gradient: Float32Array,
    curvature: Float32Array,
    gradient_scale: float,
    curvature_scale: float,
    seed: int,
    numbers: Uint32Array,
    quantised: Int32Array,
    threads: int,
) -> None:
    """Fill `quantised` with gradient · 2¹¹ + curvature, both scaled and rounded up or down at random.

    What is random follows from the seed and a row's number; where there are no numbers, a row is its own.
    """
    random = stream_of(seed, numbers if len(numbers) else np.arange(len(gradient)))
    high, low = random >> np.uint64(32), random & np.uint64(0xFFFF_FFFF)
    whole_gradient = np.floor(gradient.astype(np.float64) * gradient_scale + high * 2.0**-32)
    whole_curvature = np.floor(curvature.astype(np.float64) * curvature_scale + low * 2.0**-32)
    quantised[:] = np.clip(whole_gradient, -GRADIENT_LIMIT, GRADIENT_LIMIT) * 2**CURVATURE_BITS
    quantised += np.clip(whole_curvature, 0, CURVATURE_LIMIT).astype(np.int32)


@dataclass(eq=False)
class _Leaf:
    node: int
    begin: int
    rows: IntArray
    sums: IntArray  # gradient, curvature, count
    bounds: Bounds
    depth: int
    split: Split = NO_SPLIT
    gain: float = 0.0


def arrange_codes(
    codes: CodeArray,
    features: Int32Array,
    usual: NDArray[np.uint8],
    n_skipping: int,
    rows: NDArray[np.uint8],
    counts: Uint32Array,
    threads: int,
) -> None:
    """Fill `rows` with the codes of features by place, then a word: bit g says that group g has an unusual code.

    `counts` has, for each place, how many rows have each of 256 codes.
    """
    known, n_slots = np.flatnonzero(features >= 0), codes.shape[2]
    rows[:] = 0
    rows[:, known] = codes_by_row(codes)[:, features[known]]
    words = np.zeros(len(rows), np.uint64)
    for place in known[known < n_slots * n_skipping]:
        words |= (rows[:, place] != usual[place]).astype(np.uint64) << np.uint64(place // n_slots)
    rows[:, len(features) : len(features) + 8] = words.view(np.uint8).reshape(-1, 8)
    counts[:] = 0
    for place in known:
        counts[256 * place : 256 * (place + 1)] = np.bincount(rows[:, place], minlength=256)


def grow_tree(
    codes: CodeArray,
    columns: SplitColumns,
    quantised: Int32Array,
    gradient: Float32Array,
    curvature: Float32Array,
    rows: Uint32Array,
    all_rows: bool,
    settings: TreeSettings,
    gradient_scale: float,
    curvature_scale: float,
    seed: int,
    scratch: GrowthScratch,
    nodes: TreeNodes,
    begin: IntArray,
    held: IntArray,
    exchange: Exchange | None,
    threads: int,
) -> int:
    """Fill a tree by node, the root first, and return its number of nodes.

    A node has `count` documents, of which `held` are here, `rows[begin]` to `rows[begin + held]`: `rows` holds the
    tree's rows, or anything if `all_rows`, and comes back in the order of leaves. `exchange` leads to the workers that
    have the tree's other rows; None where this one has them all.
    """
    if all_rows:
        rows[:] = np.arange(len(rows))
    rules = SplitRules(settings, curvature_scale, constrained=bool(np.any(columns.monotone)))
    gain_unit = (curvature_scale if rules.newton else 1.0) / (gradient_scale * gradient_scale)
    documents = np.stack([quantised >> CURVATURE_BITS, quantised & CURVATURE_LIMIT, np.ones_like(quantised)], axis=1)
    growth = _Growth(codes_by_row(codes), documents, columns, rules, gain_unit, nodes, begin, held, exchange)
    deviation = growth.noise_deviation(rows)
    growth.chance = TreeChance(np.flatnonzero(columns.asked), settings.split_feature_fraction, deviation, seed)
    unit = curvature_scale / gradient_scale
    of_nodes = np.zeros(len(nodes.feature))
    grow = growth.grow_levels if settings.growth == "symmetric" else growth.grow_best_first
    for leaf in grow(rows.astype(np.int64)):
        rows[leaf.begin : leaf.begin + len(leaf.rows)] = leaf.rows
        of_nodes[leaf.node] = growth.sum_in_steps(curvature[leaf.rows], CURVATURE_LIMIT / curvature_scale)
        below = of_nodes[leaf.node] + settings.l2
        slope = growth.sum_in_steps(gradient[leaf.rows], GRADIENT_LIMIT / gradient_scale)
        step = -slope / below if below > 0 else 0.0
        nodes.value[leaf.node] = settings.learning_rate * min(max(step, leaf.bounds[0] * unit), leaf.bounds[1] * unit)
    for node in range(growth.n_nodes - 1, -1, -1):
        if nodes.feature[node] >= 0:
            of_nodes[node] = of_nodes[nodes.left[node]] + of_nodes[nodes.right[node]]
    assert nodes.curvature is not None
    nodes.curvature[: growth.n_nodes] = of_nodes[: growth.n_nodes]
    return growth.n_nodes


@dataclass(eq=False)
class _Growth:
    """A tree being grown: its nodes so far, and what their splits are chosen by."""

    codes: CodeArray  # a row per document
    documents: Int32Array  # gradient, curvature and 1 of each
    columns: SplitColumns
    rules: SplitRules
    gain_unit: float
    nodes: TreeNodes
    begin: IntArray
    held: IntArray
    exchange: Exchange | None
    chance: TreeChance = field(init=False)
    n_nodes: int = 0

    def in_all(self, sums: IntArray) -> IntArray:
        """The sums over the documents of all workers."""
        if self.exchange is not None:
            self.exchange.add_up(sums.reshape(-1))
        return sums

    def sum_in_steps(self, values: Float32Array, largest: float) -> float:
        """The sum in whole steps of 2⁻³³ of `largest` or finer, so that the order of the values does not matter."""
        steps = 2.0 ** (BITS_OF_LARGEST - frexp(largest)[1])
        whole = np.rint(values.astype(np.float64) * steps).astype(np.int64)
        return int(self.in_all(np.array([whole.sum()]))[0]) / steps

    def noise_deviation(self, rows: Uint32Array) -> float:
        """The setting times the root of what a split that tells nothing apart gains on average."""
        documents = self.documents[rows].astype(np.int64)
        sums = self.in_all(np.append(documents.sum(axis=0), (documents[:, 0] ** 2).sum()))
        below = float(self.rules.denominator(sums[:3]))
        return self.rules.settings.gain_noise * float(np.sqrt(int(sums[3]) / below)) if below > 0 else 0.0

    def grow_best_first(self, rows: IntArray) -> list[_Leaf]:
        """Grow until no more leaves are allowed or no split gains anything; returns the leaves."""
        leaves = [self._find_split(self._plant(rows, 0, (-np.inf, np.inf), 0))]
        while len(leaves) < self.rules.settings.max_leaves:
            best = max(leaves, key=lambda leaf: leaf.gain)
            if best.gain <= 0:
                break
            leaves[leaves.index(best)], other = (self._find_split(leaf) for leaf in self._divide(best))
            leaves.append(other)
        return leaves

    def grow_levels(self, rows: IntArray) -> list[_Leaf]:
        """Grow level by level until no more leaves are allowed or no split gains anything; returns the leaves."""
        leaves, settings = [self._plant(rows, 0, (-np.inf, np.inf), 0)], self.rules.settings
        deepest = settings.max_leaves if settings.max_depth is None else settings.max_depth
        order = [0]  # in which the gains of leaves are added up
        for level in range(min(settings.max_leaves.bit_length() - 1, deepest)):
            members = [_LevelLeaf(self._bins(leaf.rows), leaf.bounds) for leaf in leaves]
            best = _best_of_level([members[k] for k in order], self.columns, self.rules, self.chance.of(level))
            if best.gain <= settings.min_gain / self.gain_unit:
                break
            chosen = [_split_in_leaf(member, best, self.columns, self.rules) for member in members]
            divided = [number for number, split in enumerate(chosen) if split.score > 0]
            missing_left = best.missing_left
            if not best.any_missing:
                n_left = sum(int(chosen[number].left[2]) for number in divided)
                missing_left = 2 * n_left >= sum(int(leaves[number].sums[2]) for number in divided)
            order = []
            for number in range(len(leaves)):
                order.append(number)
                if number not in divided:
                    continue
                leaves[number].split, leaves[number].gain = chosen[number], chosen[number].score
                chosen[number].goes_left[-1] = missing_left
                leaves[number], other = self._divide(leaves[number])
                order.append(len(leaves))
                leaves.append(other)
        return leaves

    def _bins(self, rows: IntArray) -> list[IntArray]:
        """The sums of a leaf's documents by bin, missing values last, of each feature."""
        found = [np.zeros((n_bins + 1, 3), np.int64) for n_bins in self.columns.n_bins]
        for feature, bins in enumerate(found):
            np.add.at(bins, self.codes[rows, feature], self.documents[rows])
            self.in_all(bins)
        return found

    def _plant(self, rows: IntArray, begin: int, bounds: Bounds, depth: int) -> _Leaf:
        """A new leaf."""
        nodes, node, sums = self.nodes, self.n_nodes, self.in_all(self.documents[rows].sum(axis=0, dtype=np.int64))
        self.n_nodes += 1
        for array in (nodes.feature, nodes.bin, nodes.left, nodes.right):
            array[node] = -1
        nodes.missing_left[node], nodes.gain[node], nodes.value[node], nodes.categories[node] = False, 0.0, 0.0, 0
        self.begin[node], self.held[node], nodes.count[node] = begin, len(rows), sums[2]
        return _Leaf(node, begin, rows, sums, bounds, depth)

    def _find_split(self, leaf: _Leaf) -> _Leaf:
        """The leaf with its best split, where it has one."""
        settings = self.rules.settings
        deepest = settings.max_leaves if settings.max_depth is None else settings.max_depth
        if leaf.depth < deepest and leaf.sums[2] >= 2 * settings.min_docs_in_leaf:
            rule = self.rules.gain_rule(leaf.sums, leaf.bounds, settings.min_gain / self.gain_unit)
            chance = self.chance.of(leaf.node)
            found = best_split(self._bins(leaf.rows), self.columns, self.rules, leaf.bounds, rule, chance)
            if found.feature >= 0 and found.score - rule.before > rule.least:
                leaf.split, leaf.gain = found, found.score - rule.before
        return leaf

    def _divide(self, leaf: _Leaf) -> tuple[_Leaf, _Leaf]:
        """The two leaves that the split of `leaf` makes."""
        nodes, split, node = self.nodes, leaf.split, leaf.node
        goes_left = split.goes_left[self.codes[leaf.rows, split.feature]]
        low, high = _bounds_of_children(leaf, int(self.columns.monotone[split.feature]), self.rules)
        nodes.feature[node], nodes.bin[node], nodes.missing_left[node] = split.feature, split.bin, split.goes_left[-1]
        nodes.left[node], nodes.right[node] = self.n_nodes, self.n_nodes + 1
        nodes.gain[node] = leaf.gain * self.gain_unit
        if self.columns.categorical[split.feature]:
            codes = np.flatnonzero(split.goes_left[:-1])
            np.bitwise_or.at(nodes.categories[node], codes // 32, (1 << codes % 32).astype(np.uint32))
        first = self._plant(leaf.rows[goes_left], leaf.begin, low, leaf.depth + 1)
        second = self._plant(leaf.rows[~goes_left], leaf.begin + len(first.rows), high, leaf.depth + 1)
        return first, second


def _bounds_of_children(leaf: _Leaf, direction: int, rules: SplitRules) -> tuple[Bounds, Bounds]:
    low, high = leaf.bounds
    if direction == 0:
        return leaf.bounds, leaf.bounds
    left = leaf.split.left
    middle = 0.5 * float(rules.value(left, leaf.bounds) + rules.value(leaf.sums - left, leaf.bounds))
    return ((low, middle), (middle, high)) if direction > 0 else ((middle, high), (low, middle))


def add_leaf_values(nodes: TreeNodes, begin: IntArray, rows: Uint32Array, scores: Float64Array, threads: int) -> None:
    """Add each leaf's value to the scores of its rows."""
    for leaf in np.flatnonzero(nodes.feature < 0):
        scores[rows[begin[leaf] : begin[leaf] + nodes.count[leaf]]] += np.float64(nodes.value[leaf])


def score_tree(codes: CodeArray, n_bins: IntArray, nodes: TreeNodes, scores: Float64Array, threads: int) -> None:
    """Add to each document's score the value of the leaf that its codes lead to."""
    for row, own in enumerate(codes_by_row(codes).astype(np.int64)):
        node = 0
        while (feature := nodes.feature[node]) >= 0:
            code = own[feature]
            if code == n_bins[feature]:
                goes_left = nodes.missing_left[node]
            elif nodes.bin[node] < 0:
                goes_left = (nodes.categories[node, code // 32] >> np.uint32(code % 32)) & 1
            else:
                goes_left = code <= nodes.bin[node]
            node = nodes.left[node] if goes_left else nodes.right[node]
        scores[row] += np.float64(nodes.value[node])
