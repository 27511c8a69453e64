"""A kernel that is handed arrays of the wrong length says so, in every build, and reads nothing out of bounds."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from rankwright import kernels
from rankwright.kernels.records import (
    Batch,
    FeatureColumns,
    Forces,
    ForestTrees,
    LayeredNet,
    LevelledRows,
    MatchedTerms,
    Pieces,
    QueryPairs,
    SplitShares,
    StandardisedRows,
    StepRule,
    StreamViews,
    TextColumns,
    TokenStream,
)
from rankwright.kernels.records import WeighedGroups as Groups

FEATURES = np.ones((4, 3), np.float32)
OFFSETS = np.array([0, 4], np.int64)
ROWS = np.arange(4)


def floats(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def trees(**changes: object) -> ForestTrees:
    right: dict[str, object] = {
        "nodes": np.zeros((1, 5), np.uint32),
        "node_offsets": np.array([0, 1]),
        "leaf_values": floats(66),
        "leaf_offsets": np.array([0, 2]),
        "lane_bytes": 1,
    }
    return ForestTrees(**(right | changes))  # type: ignore[arg-type]


def columns(feature: int = 0, **changes: object) -> FeatureColumns:
    right: dict[str, object] = {
        "features": np.array([feature], np.int32),
        "edges": floats(1),
        "offsets": np.array([0, 1]),
        "category_words": np.array([-1]),
        "categories": np.zeros(0, np.uint32),
    }
    return FeatureColumns(**(right | changes))  # type: ignore[arg-type]


def score(one: ForestTrees, of: FeatureColumns, tables: int = 1, n_scores: int = 4) -> None:
    kernels.score_forest(FEATURES, of, floats(tables, 272), one, np.zeros(n_scores), 1)


def match(document: int = 0, view: int = 0, measure: str = "bm25", places: int = 1) -> None:
    one, two = np.array([0, 1]), np.array([[1.0]])
    views = StreamViews(one, np.zeros(1, np.int64), np.ones(1), np.ones(1), np.ones(1), 1.0)
    terms = MatchedTerms(one, np.zeros(1, np.uint32), two, two, one, np.zeros(1, np.int64))
    wanted = TextColumns([measure], np.array([view]), np.ones((1, 2)), np.zeros(1, np.bool_))
    stream, pairs = TokenStream(one, np.zeros(1, np.uint32)), QueryPairs(one, np.array([document]))
    kernels.text_features([stream], views, terms, pairs, wanted, np.zeros(places, np.int64), floats(1, 1), 1)


def share(n_out: int = 4, children: int = -1, feature: int = 0, n_nodes: int = 1, compared: int = 0) -> None:
    shares = SplitShares(
        np.full(n_nodes, feature, np.int32),
        np.full(n_nodes, 0.5),
        np.full(n_nodes, children, np.int32),
        np.full(n_nodes, children, np.int32),
    )
    one = trees(nodes=np.full((1, 5), compared, np.uint32))
    kernels.tree_contributions(FEATURES, columns(), floats(1, 272), one, shares, np.zeros((n_out, 3)), 1)


def net_rows(n_shifts: int = 3) -> StandardisedRows:
    return StandardisedRows(FEATURES, floats(n_shifts), floats(3))


def cut_rows(starts: Sequence[int] = (0, 2, 2, 3), n_flags: int = 3) -> StandardisedRows:
    flags = np.array([False, False, True])[:n_flags]
    return StandardisedRows(FEATURES, floats(3), floats(3), Pieces(np.array(starts), floats(3), flags, ~flags, 0.5))


def layers(n_weights: int = 2 * (3 + 1) + 2, widths: Sequence[int] = (3, 2, 1)) -> LayeredNet:
    return LayeredNet(np.array(widths), floats(n_weights), False, "relu", 0.0)


def step_rule(**changes: np.ndarray) -> StepRule:
    memory = {"mean": floats(3), "square": floats(3)} | changes
    return StepRule("adam", 0.1, 0.0, 0.0, **memory, n_steps=0)


SIZES, WEIGHTS = np.array([3, 2]), floats(2 * 3 * 2 + 2 + 5)
HASHES, TEXT = np.zeros(4, np.uint64), np.frombuffer(b"1 qid:1 1:2\n", np.uint8)
WRONG: dict[str, Callable[[], object]] = {
    "hash_rows": lambda: kernels.hash_rows(FEATURES, np.zeros(3, np.uint64), 1),
    "hash_queries, offsets": lambda: kernels.hash_queries(HASHES.reshape(2, 2, 1), OFFSETS, HASHES[:1], 1),
    "hash_queries, out": lambda: kernels.hash_queries(HASHES.reshape(1, 4, 1), OFFSETS, HASHES, 1),
    "order_by_key, ties": lambda: kernels.order_by_key(HASHES, HASHES[:2], OFFSETS, np.zeros(1, np.int64), ROWS, 1),
    "order_by_key, rows": lambda: kernels.order_by_key(HASHES, HASHES, OFFSETS, np.zeros(1, np.int64), ROWS[:2], 1),
    "order_by_key, twice": lambda: kernels.order_by_key(HASHES, HASHES, np.array([0, 1, 4]), np.ones(2, int), ROWS, 1),
    "quantise_lambdas": lambda: kernels.quantise_lambdas(
        floats(4), floats(3), 1.0, 1.0, 0, np.zeros(0, np.uint32), np.zeros(4, np.int32), 1
    ),
    "split_lines": lambda: kernels.split_lines(TEXT, np.zeros(2, np.int64), np.zeros(2, np.int64)),
    "parse_cells": lambda: kernels.parse_cells(
        TEXT, ROWS[:1], ROWS[3:], ord(","), np.array([5]), floats(1), ROWS[:0], ROWS[:3], 1
    ),
    "linear_scores, weights": lambda: kernels.linear_scores(FEATURES, np.zeros(1), np.zeros(4), 1),
    "linear_scores, out": lambda: kernels.linear_scores(FEATURES, np.zeros(3), np.zeros(3), 1),
    "sum_rows": lambda: kernels.sum_rows(FEATURES, np.zeros(2), np.zeros(3), 1),
    "gram_matrix": lambda: kernels.gram_matrix(FEATURES, np.zeros(4), np.zeros((3, 2)), 1),
    "quadratic_scores": lambda: kernels.quadratic_scores(
        FEATURES, 1.0, 0.0, np.zeros(3), np.zeros((3, 1)), np.zeros(4), 1
    ),
    "kernel_scores, coefficients": lambda: kernels.kernel_scores(
        FEATURES, FEATURES, np.zeros(1), "rbf", 1.0, np.zeros(4), 1
    ),
    "kernel_scores, support": lambda: kernels.kernel_scores(
        FEATURES, floats(4, 2), np.zeros(4), "rbf", 1.0, np.zeros(4), 1
    ),
    "prank_pass": lambda: kernels.prank_pass(
        LevelledRows(FEATURES, np.zeros(4, np.int32), np.zeros(0)), ROWS, 1.0, 0, np.zeros((1, 2)), np.zeros((1, 1)), 1
    ),
    "kernel_prank_pass": lambda: kernels.kernel_prank_pass(
        LevelledRows(FEATURES, np.zeros(4, np.int32), np.zeros(0)),
        ROWS, "rbf", 1.0, np.array([9]), np.zeros(1), np.array([1]), np.zeros(1), 1,
    ),
    "score_forest, nodes": lambda: score(trees(node_offsets=np.array([0, 7])), columns()),
    "score_forest, leaves": lambda: score(trees(leaf_values=floats(2)), columns()),
    "score_forest, feature": lambda: score(trees(), columns(3)),
    "score_forest, tables": lambda: score(trees(), columns(), tables=0),
    "score_forest, scores": lambda: score(trees(), columns(), n_scores=3),
    "score_forest, categories": lambda: score(trees(), columns(category_words=np.array([0]))),
    "tree_contributions, out": lambda: share(n_out=3),
    "tree_contributions, children": lambda: share(children=0),
    "tree_contributions, leaves": lambda: share(children=-3),
    "tree_contributions, feature": lambda: share(feature=3),
    "tree_contributions, nodes": lambda: share(n_nodes=2),
    "tree_contributions, columns": lambda: share(compared=7),
    "net_scores, weights": lambda: kernels.net_scores(layers(12), net_rows(), ROWS, 0, np.zeros(4), 1),
    "net_scores, shift": lambda: kernels.net_scores(layers(), net_rows(1), ROWS, 0, np.zeros(4), 1),
    "net_scores, rows": lambda: kernels.net_scores(layers(), net_rows(), ROWS + 1, 0, np.zeros(4), 1),
    "net_scores, widths": lambda: kernels.net_scores(layers(8, [3, 2]), net_rows(), ROWS, 0, np.zeros(4), 1),
    "net_scores, scores": lambda: kernels.net_scores(layers(), net_rows(), ROWS, 0, np.zeros(3), 1),
    "net_member_scores": lambda: kernels.net_member_scores(layers(), net_rows(), ROWS, 0, np.zeros(3), 1),
    "net_inputs, out": lambda: kernels.net_inputs(cut_rows(), ROWS, floats(4, 7)),
    "net_inputs, knots": lambda: kernels.net_inputs(cut_rows([0, 2, 2, 4]), ROWS, floats(4, 8)),
    "net_inputs, order": lambda: kernels.net_inputs(cut_rows([0, 4, 2, 3]), ROWS, floats(4, 8)),
    "net_inputs, features": lambda: kernels.net_inputs(cut_rows([0, 3]), ROWS, floats(4, 8)),
    "net_inputs, flags": lambda: kernels.net_inputs(cut_rows(n_flags=2), ROWS, floats(4, 8)),
    "net_inputs of no pieces": lambda: kernels.net_inputs(net_rows(), ROWS, floats(4, 3)),
    "net_scores, pieces": lambda: kernels.net_scores(layers(), cut_rows(), ROWS, 0, np.zeros(4), 1),
    "net_scores, members": lambda: kernels.net_scores(
        layers(3, [3, 1])._replace(n_members=2), net_rows(), ROWS, 0, np.zeros(4), 1
    ),
    "net_gradient, forces": lambda: kernels.net_gradient(layers(), net_rows(), ROWS, 0, floats(3), floats(11), 1),
    "net_gradient, gradient": lambda: kernels.net_gradient(layers(), net_rows(), ROWS, 0, floats(4), floats(9), 1),
    "follow_gradient, mean": lambda: kernels.follow_gradient(step_rule(mean=floats(2)), floats(3), floats(3)),
    "follow_gradient, gradient": lambda: kernels.follow_gradient(step_rule(), floats(4), floats(3)),
    "standardise_rows": lambda: kernels.standardise_rows(net_rows(), ROWS, floats(3, 3), 1),
    "compare_pairs": lambda: kernels.compare_pairs(FEATURES, SIZES, WEIGHTS[1:], ROWS, ROWS, floats(4, 2), 1),
    "sort_rows": lambda: kernels.sort_rows(
        FEATURES, OFFSETS, SIZES + 1, WEIGHTS, False, True, ROWS.copy(), np.zeros(4, np.bool_), np.zeros(1, np.int64), 1
    ),
    "pair_unit_sums": lambda: kernels.pair_unit_sums(np.zeros((4, 2)), OFFSETS + 1, np.zeros((4, 2)), 1),
    "scale_by_mean": lambda: kernels.scale_by_mean(FEATURES, OFFSETS * 2, floats(4, 3), 1),
    "rank_rows": lambda: kernels.rank_rows(np.zeros(4), np.array([0, 1_000_000]), ROWS.copy(), 1),
    "page_rank_step": lambda: kernels.page_rank_step(
        OFFSETS, np.zeros(4, np.int32), SIZES.astype(np.int32), 0.5, np.zeros(4), np.zeros(4), np.zeros(4), 1
    ),
    "logs_of_counts": lambda: kernels.logs_of_counts(np.zeros(4), np.zeros(3), 1),
    "text_features of another document": lambda: match(document=9),
    "text_features of another view": lambda: match(view=1),
    "text_features of few settings": lambda: match(measure="bm25f"),
    "text_features of few places": lambda: match(places=0),
    "point_lambdas": lambda: kernels.point_lambdas(
        Batch(np.zeros(4), np.array([1]), OFFSETS), Groups(OFFSETS, floats(0), floats(0)),
        floats(4), "squared", Forces(floats(4), floats(4), np.zeros(0)), 1,
    ),
}  # fmt: skip


@pytest.mark.skipif(os.environ.get("RANKWRIGHT_KERNELS") == "reference", reason="NumPy checks what twins read")
@pytest.mark.parametrize("case", WRONG)
def test_arrays_of_the_wrong_length_are_refused(case):
    with pytest.raises(ValueError, match=r"must|more|needs"):
        WRONG[case]()


def test_the_right_lengths_are_taken():
    match()
    score(trees(), columns())
    kernels.net_scores(layers(), net_rows(), ROWS, 0, np.zeros(4), 1)
    kernels.net_member_scores(layers(), net_rows(), ROWS, 0, np.zeros(4), 1)
    kernels.net_inputs(cut_rows(), ROWS, floats(4, 8))
    kernels.net_gradient(layers(), net_rows(), ROWS, 0, floats(4), floats(10), 1)
    kernels.follow_gradient(step_rule(), floats(3), floats(3))
    kernels.compare_pairs(FEATURES, SIZES, WEIGHTS, ROWS, ROWS, floats(4, 2), 1)
