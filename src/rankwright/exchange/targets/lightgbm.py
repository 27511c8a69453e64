"""LightGBM's model text, and its JSON as Vespa reads it.

In the JSON Vespa sends a value below the threshold left, though LightGBM's own rule is at most. So the threshold
written there is the next float32 above ours, and the file is not for LightGBM.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float64Array
from rankwright.exchange import tree_formats
from rankwright.exchange.engine_rules import vespa_scores
from rankwright.exchange.engine_runs import run_lightgbm, run_treelite
from rankwright.exchange.subject import ForestSubject, NotExportableError, Subject
from rankwright.exchange.target import ExportOptions, Limit, Target, Written, by_rule, in_features
from rankwright.exchange.tree_formats import category_nodes, inner_nodes
from rankwright.imports.lightgbm_formats import CATEGORICAL_BIT, DEFAULT_LEFT_BIT, NAN, TYPE_SHIFT, ZERO
from rankwright.trees.forests.explaining import cover_of
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.readings import LARGEST_ZERO, Reading

VESPA_BOUND = 1e300  # Vespa compares in double precision: beyond every float32


def write(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """The text, which LightGBM's `Booster(model_file=…)` reads."""
    given = tree_formats.forest_for(subject, "LightGBM")
    forest = tree_formats.with_base_tree(given)
    limits = [*_near_zero(given), *tree_formats.whole_categories(given, "LightGBM")]
    if forest.readings is not None:
        features = np.unique(forest.feature[category_nodes(forest)])
        limits += tree_formats.cut_otherwise(features[forest.readings[features] == Reading.POSITIVE_CATEGORY.value])
    sides = {int(node): _category_words(given, forest, int(node)) for node in category_nodes(forest)}
    zeros = _zeros_missing(forest)
    weights = None if forest.curvature is None else cover_of(forest, "curvature")
    trees = [_tree(forest, tree, sides, zeros, weights) for tree in range(forest.n_trees)]
    end = "end of trees\n\nfeature_importances:\n\nparameters:\nend of parameters\n\npandas_categorical:null\n"
    return Written({"": "".join([_header(given, forest), *trees, end]).encode()}, _names_note(given), limits)


def lightgbm_names(names: Iterable[str]) -> list[str]:
    """Names without what LightGBM's formats cannot have in them."""
    return ["".join("_" if letter.isspace() or letter in '"{}[]:,' else letter for letter in name) for name in names]


def _names_note(subject: ForestSubject) -> list[str]:
    clean = lightgbm_names(subject.names)
    if clean == list(subject.names):
        return []
    if len(set(clean)) != len(clean):
        raise NotExportableError("LightGBM takes no blanks in names of features, and without them two are the same")
    return ["blanks and brackets in names of features became _"]


def _header(subject: ForestSubject, forest: Forest) -> str:
    names = lightgbm_names(subject.names)
    infos = " ".join(["[-1e+308:1e+308]"] * forest.n_features)
    return (
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\n"
        f"max_feature_idx={forest.n_features - 1}\nobjective=regression\nfeature_names={' '.join(names)}\n"
        f"feature_infos={infos}\n\n"
    )


def _near_zero(subject: ForestSubject) -> list[Limit]:
    """LightGBM reads values no larger than 1e-35 as 0: thresholds among them tell no such values apart."""
    forest = subject.forest
    inside = inner_nodes(forest) & (forest.threshold >= -LARGEST_ZERO) & (forest.threshold < LARGEST_ZERO)
    if not inside.any():
        return []
    text = "values other than 0 that are no larger than 1e-35, which LightGBM reads as 0"
    rows = in_features(forest.feature[inside], lambda values: (values != 0) & (np.abs(values) <= LARGEST_ZERO))
    return [Limit(text, rows)]


def _zeros_missing(forest: Forest) -> BoolArray:
    """Which nodes count zeros as missing."""
    if forest.readings is None:
        return np.zeros(len(forest.feature), np.bool_)
    zeros: BoolArray = inner_nodes(forest) & (forest.readings[forest.feature] == Reading.ZERO_IS_MISSING.value)
    return zeros


def _category_words(subject: ForestSubject, forest: Forest, node: int) -> tuple[list[int], bool]:
    """The bits of the categories that go left, and whether the sides are swapped: what is not known goes right."""
    left, right, others_left = tree_formats.category_sides(forest, node)
    if others_left != bool(forest.missing_left[node]):
        name = subject.names[forest.feature[node]]
        raise NotExportableError(
            f"LightGBM sends unknown categories and missing ones right, and a split of {name} parts them: take "
            f"xgboost-json, onnx or c"
        )
    chosen = (right if others_left else left).astype(np.int64)
    words = [0] * (int(chosen.max(initial=0)) // 32 + 1)
    for category in chosen.tolist():
        words[category // 32] |= 1 << (category % 32)
    return words, others_left


def _tree(
    forest: Forest, tree: int, sides: dict[int, tuple[list[int], bool]], zeros: BoolArray, weights: Float64Array | None
) -> str:
    own = slice(int(forest.offsets[tree]), int(forest.offsets[tree + 1]))
    inner = forest.feature[own] >= 0
    leaves = np.flatnonzero(~inner)
    lines = {"num_leaves": str(len(leaves)), "num_cat": "0"}
    if inner.any():
        lines |= _split_lines(forest, own, inner, sides, zeros)
    lines["leaf_value"] = _joined(forest.value[own][leaves].astype(np.float64).tolist())
    if weights is not None:
        lines["leaf_weight"] = _joined(weights[own][leaves].tolist())
        lines["internal_weight"] = _joined(weights[own][inner].tolist())
    lines["leaf_count"] = _joined(forest.count[own][leaves].tolist())
    lines |= {"is_linear": "0", "shrinkage": "1"}
    return f"Tree={tree}\n" + "".join(f"{name}={text}\n" for name, text in lines.items()) + "\n\n"


def _split_lines(
    forest: Forest, own: slice, inner: BoolArray, sides: dict[int, tuple[list[int], bool]], zeros: BoolArray
) -> dict[str, str]:
    nodes = np.flatnonzero(inner)
    place = np.where(inner, np.cumsum(inner) - 1, -np.cumsum(~inner, dtype=np.int64))  # a leaf k is -1 - k
    decision = np.where(zeros[own], ZERO, NAN) << TYPE_SHIFT
    decision = decision | np.where(forest.missing_left[own], DEFAULT_LEFT_BIT, 0)
    threshold = forest.threshold[own].astype(np.float64)
    left, right = (place[np.where(side[own] < 0, 0, side[own] - own.start)] for side in (forest.left, forest.right))
    words: list[int] = []
    bounds = [0]
    for node in nodes.tolist():
        if (entry := sides.get(own.start + node)) is None:
            continue
        decision[node], threshold[node] = CATEGORICAL_BIT | NAN << TYPE_SHIFT, len(bounds) - 1
        words += entry[0]
        bounds.append(len(words))
        if entry[1]:
            left[node], right[node] = right[node], left[node]
    lines = {
        "split_feature": _joined(forest.feature[own][nodes].tolist()),
        "split_gain": _joined(forest.gain[own][nodes].tolist()),
        "threshold": _joined(threshold[nodes].tolist()),
        "decision_type": _joined(decision[nodes].tolist()),
        "left_child": _joined(left[nodes].tolist()),
        "right_child": _joined(right[nodes].tolist()),
        "internal_count": _joined(forest.count[own][nodes].tolist()),
    }
    if len(bounds) > 1:
        lines = {"num_cat": str(len(bounds) - 1)} | lines
        lines |= {"cat_boundaries": _joined(bounds), "cat_threshold": _joined(words)}
    return lines


def _joined(values: Iterable[float]) -> str:
    return " ".join(map(repr, values))


def write_vespa(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """The JSON, for Vespa's models folder."""
    given = tree_formats.forest_for(subject, "Vespa's LightGBM", zeros="c", categories="onnx, which Vespa runs")
    forest = tree_formats.strictly_below(tree_formats.with_base_tree(given))
    threshold, limits = tree_formats.finite(forest, VESPA_BOUND)
    trees = (_vespa_tree(forest, threshold, tree) for tree in range(forest.n_trees))
    document = {
        "name": "tree", "version": "v4", "num_class": 1, "num_tree_per_iteration": 1, "label_index": 0,
        "max_feature_idx": forest.n_features - 1, "objective": "regression", "average_output": False,
        "feature_names": lightgbm_names(given.names), "feature_infos": {}, "tree_info": tree_formats.TREES,
        "pandas_categorical": [],
    }  # fmt: skip
    notes = ["thresholds are the next float above ours, as Vespa compares with <: the file is for Vespa alone"]
    return Written({"": tree_formats.json_of(document, trees) + b"\n"}, notes, limits)


def _vespa_tree(forest: Forest, threshold: Float64Array, tree: int) -> dict[str, Any]:
    leaves, splits = count(), count()

    def leaf(node: int) -> dict[str, Any]:
        return {"leaf_index": next(leaves), "leaf_value": float(forest.value[node])}

    def split(node: int, left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
        return {
            "split_index": next(splits), "split_feature": int(forest.feature[node]),
            "split_gain": float(forest.gain[node]), "threshold": float(threshold[node]), "decision_type": "<=",
            "default_left": bool(forest.missing_left[node]), "missing_type": "NaN",
            "left_child": left, "right_child": right,
        }  # fmt: skip

    structure = tree_formats.nested_tree(forest, tree, leaf, split)
    return {"tree_index": tree, "num_leaves": next(leaves), "num_cat": 0, "shrinkage": 1, "tree_structure": structure}


LIGHTGBM = Target(
    name="lightgbm",
    suffix=".txt",
    summary="LightGBM's model text: for LightGBM, and for whatever reads its files (lleaves, treelite, tl2cgen)",
    write=write,
    runners=(run_lightgbm, run_treelite),
    sums="float64",
)
VESPA = Target(
    name="vespa-lightgbm",
    suffix=".json",
    summary="LightGBM's JSON as Vespa reads it",
    write=write_vespa,
    runners=(by_rule(vespa_scores),),
    sums="float64",
)
