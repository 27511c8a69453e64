"""XGBoost's model file, as JSON and as UBJSON. The JSON is also what search plugins call `xgboost+json+raw`.

Those plugins do not read the base score, so it is a tree of one leaf, and read the values of leaves in `base_weights`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float64Array, IntArray
from rankwright.exchange import tree_formats
from rankwright.exchange.engine_runs import run_treelite, run_xgboost
from rankwright.exchange.subject import Subject
from rankwright.exchange.target import ExportOptions, Limit, Target, Written, any_infinite, in_features
from rankwright.exchange.tree_formats import TREES, category_nodes
from rankwright.imports.wire import ubjson
from rankwright.trees.forests.explaining import cover_of, known_covers
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.readings import Reading

VERSION = [2, 1, 0]  # of the format: what every XGBoost since reads
NOTES = ("the base score is a tree of one leaf, for readers that do not look at base_score",)
NO_NAMES = "features have no names, so that XGBoost takes data without any; it calls the first f0, and we call it 1"
NO_PARENT = 2**31 - 1
RANKING_PARAMETERS = {
    "lambdarank_bias_norm": "1", "lambdarank_normalization": "1", "lambdarank_num_pair_per_sample": "1",
    "lambdarank_pair_method": "mean", "lambdarank_score_normalization": "1", "lambdarank_unbiased": "0",
    "ndcg_exp_gain": "1",
}  # fmt: skip


def write_json(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """The model as JSON."""
    document, trees, limits = _document(subject)
    return Written({"": tree_formats.json_of(document, map(_plain, trees), compact=True)}, _notes(subject), limits)


def write_ubjson(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """The model as UBJSON."""
    document, trees, limits = _document(subject)
    written = [ubjson.written(tree) for tree in trees]
    before, after = ubjson.written(document).split(ubjson.written(TREES))
    return Written({"": b"".join([before, ubjson.list_of(len(written)), *written, after])}, _notes(subject), limits)


def _notes(subject: Subject) -> tuple[str, ...]:
    return NOTES if subject.named else (*NOTES, NO_NAMES)


def _plain(value: Any) -> Any:
    """A tree with lists for arrays; float32 numbers are written with the digits that give them back."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        return [float(f"{item:.9g}") for item in value.tolist()] if value.dtype.kind == "f" else value.tolist()
    return value


def _document(subject: Subject) -> tuple[dict[str, Any], Iterator[dict[str, Any]], list[Limit]]:
    """The model with `TREES` in the place of its trees, the trees, and the limits."""
    given = tree_formats.forest_for(subject, "XGBoost", zeros="lightgbm or c")
    limits = tree_formats.whole_categories(given, "XGBoost")
    if given.forest.readings is not None:
        limits += tree_formats.cut_otherwise(np.flatnonzero(given.forest.readings == Reading.CATEGORY.value))
    forest = tree_formats.strictly_below(tree_formats.with_base_tree(given))
    threshold, infinite = tree_formats.finite(forest)
    limits += [*infinite, any_infinite("XGBoost")]
    split_by_category = np.unique(forest.feature[category_nodes(forest)])
    if len(split_by_category):
        odd = in_features(split_by_category, lambda values: (values < 0) | (values >= 2**24))
        limits.append(Limit("categories below 0 or of 2^24 and above, which XGBoost refuses", odd))
    # What nodes weigh, for XGBoost's explanations: curvature if it is told, else documents.
    known = known_covers(forest)
    weights = cover_of(forest, known[-1]) if known else np.zeros(len(forest.feature))
    trees = (_tree(forest, tree, threshold, weights) for tree in range(forest.n_trees))
    model = {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(forest.n_trees)},
        "iteration_indptr": list(range(forest.n_trees + 1)),
        "tree_info": [0] * forest.n_trees,
        "trees": TREES,
    }
    types = np.where(np.isin(np.arange(given.n_features), split_by_category), "c", "float").tolist()
    learner = {
        "attributes": {},
        "feature_names": list(given.names) if given.named else [],  # a DMatrix must have the names that a model has
        "feature_types": types if given.named or len(split_by_category) else [],
        "gradient_booster": {"model": model, "name": "gbtree"},
        "learner_model_param": {
            "base_score": "0E0", "boost_from_average": "0", "num_class": "0",
            "num_feature": str(given.n_features), "num_target": "1",
        },
        "objective": {"lambdarank_param": RANKING_PARAMETERS, "name": "rank:pairwise"},
    }  # fmt: skip
    return {"learner": learner, "version": VERSION}, trees, limits


def _tree(forest: Forest, tree: int, threshold: Float64Array, weights: Float64Array) -> dict[str, Any]:
    own = slice(int(forest.offsets[tree]), int(forest.offsets[tree + 1]))
    inner = forest.feature[own] >= 0
    n_nodes = len(inner)
    left = np.where(inner, forest.left[own] - own.start, -1).astype(np.int32)
    right = np.where(inner, forest.right[own] - own.start, -1).astype(np.int32)
    default_left = forest.missing_left[own].astype(np.uint8)
    split_type = np.zeros(n_nodes, np.uint8)
    categories: list[list[int]] = []
    nodes: list[int] = []
    for node in (np.flatnonzero(inner & np.isnan(forest.threshold[own]))).tolist():
        goes_left, goes_right, others_left = tree_formats.category_sides(forest, own.start + node)
        split_type[node] = 1
        nodes.append(node)
        listed = goes_right if others_left else goes_left  # what is listed goes right, others left
        categories.append(sorted(listed.astype(np.int64).tolist()))
        if not others_left:
            left[node], right[node] = right[node], left[node]
            default_left[node] ^= 1
    value = forest.value[own]
    conditions = np.where(inner, threshold[own], value).astype(np.float32)
    conditions[split_type > 0] = np.float32(0)
    order, number = _siblings_together(inner, left, right)
    left, right = (np.where(inner, number[side], -1)[order].astype(np.int32) for side in (left, right))
    parents = np.full(n_nodes, NO_PARENT, np.int32)
    for side in (left, right):
        parents[side[side >= 0]] = np.flatnonzero(side >= 0)
    by_node = sorted(zip(number[np.array(nodes, np.int64)].tolist(), categories, strict=True))
    categories = [listed for _, listed in by_node]
    sizes = np.array([len(listed) for listed in categories], np.int64)
    return {
        "base_weights": np.where(inner, np.float32(0), value).astype(np.float32)[order],
        "categories": np.array([category for listed in categories for category in listed], np.int32),
        "categories_nodes": np.array([node for node, _ in by_node], np.int32),
        "categories_segments": np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)[: len(sizes)],
        "categories_sizes": sizes,
        "default_left": default_left[order],
        "id": tree,
        "left_children": left,
        "loss_changes": forest.gain[own][order].astype(np.float32),
        "parents": parents,
        "right_children": right,
        "split_conditions": conditions[order],
        "split_indices": np.where(inner, forest.feature[own], 0)[order].astype(np.int32),
        "split_type": split_type[order],
        "sum_hessian": weights[own][order].astype(np.float32),
        "tree_param": {
            "num_deleted": "0", "num_feature": str(forest.n_features), "num_nodes": str(n_nodes),
            "size_leaf_vector": "1",
        },
    }  # fmt: skip


def _siblings_together(
    inner: BoolArray, left: NDArray[np.int32], right: NDArray[np.int32]
) -> tuple[IntArray, IntArray]:
    """An order of the nodes in which a right child follows its left one, and each node's number in it.

    XGBoost walks so: the right child is the left one plus 1, whatever the file says.
    """
    order, splits, lefts, rights = [0], inner.tolist(), left.tolist(), right.tolist()
    for node in order:
        if splits[node]:
            order += [lefts[node], rights[node]]
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return np.array(order, np.int64), number


RUNNERS = (run_xgboost, run_treelite)
XGBOOST_JSON = Target(
    name="xgboost-json", suffix=".json", summary="XGBoost's model file, as JSON", write=write_json, runners=RUNNERS
)
XGBOOST_UBJ = Target(
    name="xgboost-ubj",
    suffix=".ubj",
    summary="XGBoost's model file, as UBJSON: for XGBoost, and for Vespa, which keeps what JSON dumps lose",
    write=write_ubjson,
    runners=RUNNERS,
)
