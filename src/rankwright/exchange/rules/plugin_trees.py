"""How the plugins of Elasticsearch and OpenSearch score XGBoost's trees.

A value below the threshold, both float32, goes left; a missing one to the `missing` child, or by `default_left`. Values
of trees are added in float32. An unknown key, a missing `depth`, a first child that is not `yes`: all are refused.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float32Array
from rankwright.errors import InputError
from rankwright.exchange.rules.walking import TreeLeaf, TreeSplit, leaf_values

KEYS = {"nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "leaf", "children"}
SPLIT_KEYS = {"nodeid", "depth", "split", "split_condition", "yes", "no", "children"}
NO_TRANSFORM = ("binary:logitraw", "rank:ndcg", "rank:map", "rank:pairwise", "reg:linear")


def _names(features: Float32Array, listed: list[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(listed)} or {
        f"f{number}": number for number in range(features.shape[1])
    }


def score_dump(content: bytes, features: Float32Array, names: list[str] | None = None) -> Float32Array:
    """The scores of `model/xgboost+json`; features are named f0, f1 and so on unless names are given."""
    document = json.loads(content)
    if isinstance(document, dict):
        if not document.keys() <= {"objective", "splits"} or document.get("objective") not in NO_TRANSFORM:
            raise InputError(f"the plugin takes objective and splits, got {', '.join(document)}")
        document = document["splits"]
    known = _names(features, names or [])
    total = np.zeros(len(features), np.float32)
    for tree in document:
        total += leaf_values(_node(tree, known), features)
    return total


def _node(node: dict[str, Any], known: dict[str, int]) -> TreeLeaf | TreeSplit:
    if unknown := node.keys() - KEYS:
        raise InputError(f"the plugin knows no key {sorted(unknown)[0]!r}")
    if "leaf" in node:
        if "nodeid" not in node:
            raise InputError("a leaf needs nodeid")
        return TreeLeaf(np.float32(node["leaf"]))
    if lacking := SPLIT_KEYS - node.keys():
        raise InputError(f"a split needs {sorted(lacking)[0]!r}")
    if [child["nodeid"] for child in node["children"]] != [node["yes"], node["no"]]:
        raise InputError("the first child must be that of yes, the second that of no")
    if node["split"] not in known:
        raise InputError(f"unknown feature {node['split']!r}")
    left = _below(np.float32(node["split_condition"]), node.get("missing", node["yes"]) == node["yes"])
    yes, no = (_node(child, known) for child in node["children"])
    return TreeSplit(known[node["split"]], left, yes, no)


def _below(threshold: np.float32, missing_left: bool) -> Any:
    def goes_left(values: Float32Array) -> BoolArray:
        return np.where(np.isnan(values), missing_left, values < threshold)

    return goes_left


def score_raw(content: bytes, features: Float32Array) -> Float32Array:
    """The scores of `model/xgboost+json+raw`."""
    learner = json.loads(content)["learner"]
    if learner["objective"]["name"] not in NO_TRANSFORM:
        raise InputError(f"objective {learner['objective']['name']} is not one that leaves scores as they are")
    if set(learner["feature_types"]) - {"float"} or len(learner["feature_types"]) != len(learner["feature_names"]):
        raise InputError("all feature types must be float, one for each name")
    total = np.zeros(len(features), np.float32)
    for tree in learner["gradient_booster"]["model"]["trees"]:
        total += leaf_values(_raw_node(tree, 0), features)
    return total


def _raw_node(tree: dict[str, Any], node: int) -> TreeLeaf | TreeSplit:
    left, right = tree["left_children"][node], tree["right_children"][node]
    if left == -1 or right == -1:
        return TreeLeaf(np.float32(tree["base_weights"][node]))
    side = _below(np.float32(tree["split_conditions"][node]), tree["default_left"][node] == 1)
    return TreeSplit(tree["split_indices"][node], side, _raw_node(tree, left), _raw_node(tree, right))
