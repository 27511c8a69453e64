"""LightGBM's JSON as Vespa reads it: a value below the threshold goes left, though LightGBM's own rule is at most.

So the threshold written is the next float32 above ours, and the file is not for LightGBM.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankwright.arrays import Float32Array, Float64Array
from rankwright.exchange.json_trees import TREES, json_of
from rankwright.exchange.rules import vespa_trees
from rankwright.exchange.splits import (
    finite,
    refuse_categories,
    refuse_readings,
    strictly_below,
    with_base_tree,
)
from rankwright.exchange.subject import Subject
from rankwright.exchange.target import ExportOptions, Target, TargetRun, Written, as_forest
from rankwright.exchange.targets.lightgbm_text import lightgbm_names
from rankwright.trees.forests.forest import Forest

BOUND = 1e300  # Vespa compares in double precision: beyond every float32


def write(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """The JSON, for Vespa's models folder."""
    given = as_forest(subject, "Vespa's LightGBM")
    refuse_readings(given, "Vespa's LightGBM", "c")
    refuse_categories(given, "Vespa's LightGBM", "onnx, which Vespa runs")
    forest = strictly_below(with_base_tree(given))
    threshold, limits = finite(forest, BOUND)
    trees = (_tree(forest, threshold, tree) for tree in range(forest.n_trees))
    document = {
        "name": "tree", "version": "v4", "num_class": 1, "num_tree_per_iteration": 1, "label_index": 0,
        "max_feature_idx": forest.n_features - 1, "objective": "regression", "average_output": False,
        "feature_names": lightgbm_names(given.names), "feature_infos": {}, "tree_info": TREES,
        "pandas_categorical": [],
    }  # fmt: skip
    notes = ["thresholds are the next float above ours, as Vespa compares with <: the file is for Vespa alone"]
    return Written({"": json_of(document, trees) + b"\n"}, notes, limits)


def _tree(forest: Forest, threshold: Float64Array, tree: int) -> dict[str, Any]:
    start, stop = int(forest.offsets[tree]), int(forest.offsets[tree + 1])
    made: dict[int, dict[str, Any]] = {}
    n_leaves = n_splits = 0
    for node in range(stop - 1, start - 1, -1):  # children come after their parents
        if forest.feature[node] < 0:
            made[node] = {"leaf_index": n_leaves, "leaf_value": float(forest.value[node])}
            n_leaves += 1
            continue
        made[node] = {
            "split_index": n_splits, "split_feature": int(forest.feature[node]),
            "split_gain": float(forest.gain[node]), "threshold": float(threshold[node]), "decision_type": "<=",
            "default_left": bool(forest.missing_left[node]), "missing_type": "NaN",
            "left_child": made.pop(int(forest.left[node])), "right_child": made.pop(int(forest.right[node])),
        }  # fmt: skip
        n_splits += 1
    return {"tree_index": tree, "num_leaves": n_leaves, "num_cat": 0, "shrinkage": 1, "tree_structure": made[start]}


def run_by_rule(path: Path, features: Float32Array, names: Sequence[str]) -> TargetRun:  # noqa: ARG001
    """Scores by Vespa's rules."""
    return TargetRun(vespa_trees.score(path.read_bytes(), features), "by rule, not run")


VESPA = Target(
    name="vespa-lightgbm",
    suffix=".json",
    summary="LightGBM's JSON as Vespa reads it",
    takes=("forest",),
    write=write,
    runners=(run_by_rule,),
    sums="float64",
    nearest="onnx, which Vespa runs",
)
