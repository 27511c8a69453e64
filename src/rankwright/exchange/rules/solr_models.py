"""How Solr scores: float32 throughout, 0.000001 added to each threshold, an unknown feature makes the tree 0.

With `isNullSameAsZero` false a missing value goes to the side that `missing` names; otherwise it is 0.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float32Array
from rankwright.errors import InputError
from rankwright.exchange.rules.walking import TreeLeaf, TreeSplit, leaf_values

SLACK = np.float32(1e-6)


def score(content: bytes, features: Float32Array) -> Float32Array:
    """The scores of a model of one of three classes."""
    model = json.loads(content)
    kind = model["class"].rpartition(".")[2]
    if kind not in KINDS:
        raise InputError(f"Solr's model class {kind!r} is not one of {', '.join(KINDS)}")
    names = [feature["name"] for feature in model["features"]]
    return KINDS[kind](model["params"], names, _normalised(model["features"], features))


def _normalised(described: list[dict[str, Any]], features: Float32Array) -> Float32Array:
    out = features.astype(np.float32, copy=True)
    for column, feature in enumerate(described):
        if "norm" in feature:
            params = feature["norm"]["params"]
            out[:, column] = (out[:, column] - np.float32(params["avg"])) / np.float32(params["std"])
    return out


def _trees(params: dict[str, Any], names: list[str], features: Float32Array) -> Float32Array:
    place = {name: number for number, name in enumerate(names)}
    null_is_zero = str(params.get("isNullSameAsZero", "true")) != "false"
    values = np.where(np.isnan(features), np.float32(0), features) if null_is_zero else features
    total = np.zeros(len(features), np.float32)
    for tree in params["trees"]:
        total += np.float32(tree["weight"]) * leaf_values(_node(tree["root"], place), values)
    return total


def _node(node: dict[str, Any], place: dict[str, int]) -> TreeLeaf | TreeSplit:
    if "feature" not in node:
        return TreeLeaf(np.float32(node["value"]))
    if node["feature"] not in place:
        return TreeLeaf(np.float32(0))  # such a tree is worth nothing
    threshold = np.float32(node["threshold"]) + SLACK
    missing_left = node.get("missing") == "left"

    def goes_left(values: Float32Array) -> BoolArray:
        return np.where(np.isnan(values), missing_left, values <= threshold)

    return TreeSplit(place[node["feature"]], goes_left, _node(node["left"], place), _node(node["right"], place))


def _linear(params: dict[str, Any], names: list[str], features: Float32Array) -> Float32Array:
    total = np.zeros(len(features), np.float32)
    for column, name in enumerate(names):
        total += features[:, column] * np.float32(params["weights"][name])
    return total


ACTIVATIONS: Mapping[str, Callable[[Any], Any]] = {
    "identity": lambda values: values,
    "relu": lambda values: np.where(values < 0, np.float32(0), values),
    "tanh": lambda values: np.tanh(values.astype(np.float64)).astype(np.float32),
    "sigmoid": lambda values: (1 / (1 + np.exp(-values.astype(np.float64)))).astype(np.float32),
}


def _net(params: dict[str, Any], names: list[str], features: Float32Array) -> Float32Array:
    found = features
    for layer in params["layers"]:
        weights = np.array(layer["matrix"], np.float64).astype(np.float32)
        if weights.shape[1] != found.shape[1] or len(layer["bias"]) != len(weights):
            raise InputError(
                f"a layer of {weights.shape} does not fit {found.shape[1]} inputs of {len(names)} features"
            )
        sums = np.tile(np.array(layer["bias"], np.float64).astype(np.float32), (len(found), 1))
        for column in range(found.shape[1]):
            sums += found[:, column : column + 1] * weights[:, column]
        found = ACTIVATIONS[layer["activation"]](sums)
    return found[:, 0]


KINDS = {"MultipleAdditiveTreesModel": _trees, "LinearModel": _linear, "NeuralNetworkModel": _net}
