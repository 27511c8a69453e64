"""How Vespa scores LightGBM's JSON: below the threshold goes left, in double precision; NaN by `default_left`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array
from rankwright.errors import InputError
from rankwright.exchange.rules.walking import TreeLeaf, TreeSplit, leaf_values


def score(content: bytes, features: Float32Array) -> Float64Array:
    """The scores of the model."""
    model = json.loads(content)
    if model["objective"] != "regression" or model["pandas_categorical"] != []:
        raise InputError("only a regression without categories leaves scores as they are")
    total = np.zeros(len(features))
    for tree in model["tree_info"]:
        total += leaf_values(_node(tree["tree_structure"], len(model["feature_names"])), features, np.float64)
    return total


def _node(node: dict[str, Any], n_features: int) -> TreeLeaf | TreeSplit:
    if "leaf_value" in node:
        return TreeLeaf(float(node["leaf_value"]))
    threshold, default_left = float(node["threshold"]), bool(node["default_left"])
    if node["split_feature"] >= n_features:
        raise InputError("a split names a feature that has no name")

    def goes_left(values: Float32Array) -> BoolArray:
        wide = values.astype(np.float64)
        return ~(wide >= threshold) if default_left else wide < threshold

    left, right = (_node(node[side], n_features) for side in ("left_child", "right_child"))
    return TreeSplit(int(node["split_feature"]), goes_left, left, right)
