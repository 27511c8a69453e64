"""LightGBM's JSON as Vespa reads it: a value below the threshold goes left, though LightGBM's own rule is at most.

So the threshold written is the next float32 above ours, and the file is not for LightGBM.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from rankwright.arrays import Float64Array
from rankwright.exchange.engine_rules import vespa_scores
from rankwright.exchange.subject import Subject
from rankwright.exchange.target import ExportOptions, Target, Written, by_rule
from rankwright.exchange.targets.lightgbm import lightgbm_names
from rankwright.exchange.tree_formats import (
    TREES,
    finite,
    json_of,
    nested_tree,
    plain_forest,
    strictly_below,
    with_base_tree,
)
from rankwright.trees.forests.forest import Forest

BOUND = 1e300  # Vespa compares in double precision: beyond every float32


def write(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """The JSON, for Vespa's models folder."""
    given = plain_forest(subject, "Vespa's LightGBM", zeros="c", categories="onnx, which Vespa runs")
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

    structure = nested_tree(forest, tree, leaf, split)
    return {"tree_index": tree, "num_leaves": next(leaves), "num_cat": 0, "shrinkage": 1, "tree_structure": structure}


VESPA = Target(
    name="vespa-lightgbm",
    suffix=".json",
    summary="LightGBM's JSON as Vespa reads it",
    takes=("forest",),
    write=write,
    runners=(by_rule(vespa_scores),),
    sums="float64",
    nearest="onnx, which Vespa runs",
)
