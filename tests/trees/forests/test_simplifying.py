"""Simpler forests: fewer nodes, the same scores to the bit; trees of one shape merged, the same but for rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.trees.forests.arrays import forest_from_arrays, forest_to_arrays
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.merging import merge_forests
from rankwright.trees.forests.simplifying import merge_equal_shapes, simplified

CATEGORIES = [1.0, 2.0, 5.0]  # of the last feature
N_FEATURES = 3
THRESHOLDS = [-np.inf, -1.0, -0.0, 0.0, 0.5, 2.0, np.inf]
VALUES = [*THRESHOLDS, 1.0, 5.0, 7.0, 1e-45, np.nan]


@dataclass
class Node:
    """A node to write forests down with: a leaf unless it has a feature."""

    value: float = 0.0
    feature: int = -1
    threshold: float = 0.0
    bits: int = 0
    missing_left: bool = False
    children: Sequence[Node] = field(default_factory=tuple)


def split(feature: int, threshold: float, left: Node, right: Node, *, missing_left: bool = False) -> Node:
    return Node(feature=feature, threshold=threshold, missing_left=missing_left, children=(left, right))


def category_split(bits: int, left: Node, right: Node, *, missing_left: bool = False) -> Node:
    return replace(split(N_FEATURES - 1, np.nan, left, right, missing_left=missing_left), bits=bits)


def forest_with(*trees: Node) -> Forest:
    rows: list[tuple[Any, ...]] = []
    offsets = [0]

    def put(node: Node) -> int:
        place = len(rows)
        rows.append(())
        left, right = (put(child) for child in node.children) if node.children else (-1, -1)
        rows[place] = (node.feature, node.threshold, left, right, node.missing_left, node.value, 1.0, 10, [node.bits])
        return place

    for tree in trees:
        put(tree)
        offsets.append(len(rows))
    names = ("feature", "threshold", "left", "right", "missing_left", "value", "gain", "count", "categories")
    dtypes = (np.int32, np.float32, np.int32, np.int32, np.bool_, np.float32, np.float64, np.int64, np.uint32)
    columns = zip(*rows, strict=True)
    return Forest(
        **{name: np.array(column, dtype) for name, column, dtype in zip(names, columns, dtypes, strict=True)},
        offsets=np.array(offsets, np.int64),
        n_features=N_FEATURES,
        category_values=np.array(CATEGORIES, np.float32),
        category_offsets=np.array([0, 0, 0, len(CATEGORIES)], np.int64),
    )


def every_document() -> np.ndarray:
    grid = np.meshgrid(*[VALUES] * N_FEATURES, indexing="ij")
    return np.stack([column.ravel() for column in grid], axis=1).astype(np.float32)


LEAVES = st.builds(Node, value=st.sampled_from([0.0, -0.0, 0.25, 0.25, -1.5]))


def inner_nodes(children: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    numbers = st.builds(
        split,
        st.integers(0, N_FEATURES - 2),
        st.sampled_from(THRESHOLDS),
        children,
        children,
        missing_left=st.booleans(),
    )
    categories = st.builds(category_split, st.integers(0, 7), children, children, missing_left=st.booleans())
    return st.one_of(numbers, categories)


TREES = st.recursive(LEAVES, inner_nodes, max_leaves=12)
DOCUMENTS = every_document()


@given(st.lists(TREES, min_size=1, max_size=4))
def test_no_bit_of_any_score_changes(trees):
    forest = forest_with(*trees)
    smaller = simplified(forest)
    assert len(smaller.feature) <= len(forest.feature)
    assert smaller.predict(DOCUMENTS).tobytes() == forest.predict(DOCUMENTS).tobytes()
    assert simplified(smaller).equals(smaller)  # nothing is left to do
    assert forest_from_arrays(forest_to_arrays(smaller)).equals(smaller)  # a forest that files can hold


@given(st.lists(TREES, min_size=1, max_size=3))
def test_every_leaf_left_can_be_reached(trees):
    smaller = simplified(forest_with(*trees))
    reached = np.unique(smaller.apply(DOCUMENTS)) if smaller.n_trees else np.empty(0)
    # The documents hold every value between two thresholds and on them, so what none of them reaches, nothing can.
    assert reached.tolist() == np.flatnonzero(smaller.feature < 0).tolist()


@given(st.lists(TREES, min_size=1, max_size=3), st.lists(st.integers(0, 2), min_size=1, max_size=6))
def test_trees_of_one_shape_become_one(trees, places):
    forests = [forest_with(trees[place % len(trees)]).scaled(0.1 + place) for place in places]
    forest = merge_forests(forests, np.ones(len(forests)))
    merged = merge_equal_shapes(forest)
    assert merged.n_trees <= len(set(places))
    assert np.allclose(merged.predict(DOCUMENTS), forest.predict(DOCUMENTS), rtol=0, atol=1e-6)
    assert merge_equal_shapes(merged) is merged


def test_a_contradicting_branch_goes():
    inner = split(0, 0.5, Node(1.0), Node(2.0), missing_left=True)
    forest = forest_with(split(0, 0.0, inner, Node(3.0), missing_left=True))
    smaller = simplified(forest)  # what is at most 0 is at most ½
    assert smaller.feature.tolist() == [0, -1, -1]
    assert smaller.value[1:].tolist() == [1.0, 3.0]


def test_a_branch_that_only_missing_values_reach_stays():
    inner = split(0, 0.5, Node(1.0), Node(2.0), missing_left=False)
    smaller = simplified(forest_with(split(0, 0.0, inner, Node(3.0), missing_left=True)))
    assert smaller.n_leaves_of_trees().tolist() == [3]


def test_a_category_is_decided_on_once():
    inner = category_split(0b011, Node(1.0), Node(2.0))
    smaller = simplified(forest_with(category_split(0b001, inner, Node(3.0))))
    assert smaller.value[smaller.feature < 0].tolist() == [1.0, 3.0]


def test_equal_leaves_merge_all_the_way_up():
    pair = split(0, 0.0, Node(1.0), Node(1.0))
    smaller = simplified(forest_with(split(1, 0.0, pair, pair)))
    assert (smaller.feature.tolist(), smaller.value.tolist(), smaller.count.tolist()) == ([-1], [1.0], [10])


def test_order_of_nodes_is_no_part_of_a_shape():
    tree = split(0, 0.0, split(1, 0.0, Node(1.0), Node(2.0)), Node(3.0))
    forest = forest_with(tree)
    # The same tree, its right leaf written before the left branch.
    order = np.array([0, 4, 1, 2, 3])
    parts = {name: getattr(forest, name)[order] for name in ("feature", "threshold", "value", "missing_left")}
    other = replace(
        forest, **parts, left=np.array([2, -1, 3, -1, -1], np.int32), right=np.array([1, -1, 4, -1, -1], np.int32)
    )
    assert np.array_equal(other.predict(DOCUMENTS), forest.predict(DOCUMENTS))
    assert merge_equal_shapes(merge_forests([forest, other], [1.0, 1.0])).n_trees == 1


@pytest.mark.parametrize("value", [0.0, 0.75])
def test_constant_trees_become_one_leaf_or_none(value):
    forest = forest_with(Node(value), Node(value), split(0, 0.0, Node(value), Node(value)))
    smaller = merge_equal_shapes(simplified(forest))
    assert len(smaller.feature) == (1 if value else 0)
    assert smaller.predict(DOCUMENTS).tolist() == [3 * value] * len(DOCUMENTS)
