"""Strict evaluators of the rules by which engines score, for those that cannot be run here.

Each reads the file as the engine does, refuses what the engine refuses, and gives the engine's scores. They share
nothing with the code that writes the files, so that a mistake there is found here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array
from rankwright.errors import InputError, require_input

Scores = NDArray[np.floating]  # in the type that the engine adds up in

# --- trees, walked document by document as an engine does: slow, and plain to read ---


@dataclass(frozen=True, slots=True)
class TreeLeaf:
    """The end of a walk."""

    value: float | np.float32


@dataclass(frozen=True, slots=True)
class TreeSplit:
    """A parting of ways: `goes_left` tells, for a column of values, which of them go left."""

    feature: int
    goes_left: Callable[[Float32Array], BoolArray]
    left: TreeNode
    right: TreeNode


TreeNode = TreeLeaf | TreeSplit


def leaf_values(root: TreeNode, features: Float32Array, dtype: Any = np.float32) -> Scores:
    """The value of the leaf that each document reaches."""
    values = np.empty(len(features), dtype)
    todo: list[tuple[TreeNode, Any]] = [(root, np.arange(len(features)))]
    while todo:
        node, rows = todo.pop()
        if len(rows) == 0:
            continue
        if isinstance(node, TreeLeaf):
            values[rows] = node.value
            continue
        left = node.goes_left(features[rows, node.feature])
        todo += [(node.left, rows[left]), (node.right, rows[~left])]
    return values


def _added_up(parts: Iterable[Any], n_docs: int, dtype: Any = np.float32) -> Scores:
    """The parts added up one after another, in the type that the engine adds in."""
    total: Scores = np.zeros(n_docs, dtype)
    for part in parts:
        total += part
    return total


def _below(threshold: np.float32 | np.float64, missing_left: bool) -> Callable[[Float32Array], BoolArray]:
    return lambda values: np.where(np.isnan(values), missing_left, values < threshold)


def _at_most(threshold: np.float32, missing_left: bool) -> Callable[[Float32Array], BoolArray]:
    return lambda values: np.where(np.isnan(values), missing_left, values <= threshold)


# --- the plugins of Elasticsearch and OpenSearch ---
# Of XGBoost's trees, a value below the threshold, both float32, goes left; a missing one goes to the `missing` child,
# or by `default_left`. Values of trees are added in float32. An unknown key, a missing `depth`, a first child that is
# not `yes`: all are refused.

KEYS = {"nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "leaf", "children"}
SPLIT_KEYS = {"nodeid", "depth", "split", "split_condition", "yes", "no", "children"}
NO_TRANSFORM = ("binary:logitraw", "rank:ndcg", "rank:map", "rank:pairwise", "reg:linear")


def plugin_dump_scores(content: bytes, features: Float32Array, names: Sequence[str] = ()) -> Scores:
    """The scores of `model/xgboost+json`; features are named f0, f1 and so on unless names are given."""
    document = json.loads(content)
    if isinstance(document, dict):
        if not document.keys() <= {"objective", "splits"} or document.get("objective") not in NO_TRANSFORM:
            raise InputError(f"the plugin takes objective and splits, got {', '.join(document)}")
        document = document["splits"]
    listed = names or [f"f{number}" for number in range(features.shape[1])]
    place = {name: number for number, name in enumerate(listed)}
    return _added_up((leaf_values(_dump_node(tree, place), features) for tree in document), len(features))


def _dump_node(node: Mapping[str, Any], place: Mapping[str, int]) -> TreeNode:
    if unknown := node.keys() - KEYS:
        raise InputError(f"the plugin knows no key {sorted(unknown)[0]!r}")
    if "leaf" in node:
        require_input("nodeid" in node, "a leaf needs nodeid")
        return TreeLeaf(np.float32(node["leaf"]))
    if lacking := SPLIT_KEYS - node.keys():
        raise InputError(f"a split needs {sorted(lacking)[0]!r}")
    if [child["nodeid"] for child in node["children"]] != [node["yes"], node["no"]]:
        raise InputError("the first child must be that of yes, the second that of no")
    if node["split"] not in place:
        raise InputError(f"unknown feature {node['split']!r}")
    left = _below(np.float32(node["split_condition"]), node.get("missing", node["yes"]) == node["yes"])
    yes, no = (_dump_node(child, place) for child in node["children"])
    return TreeSplit(place[node["split"]], left, yes, no)


def plugin_raw_scores(content: bytes, features: Float32Array) -> Scores:
    """The scores of `model/xgboost+json+raw`."""
    learner = json.loads(content)["learner"]
    if learner["objective"]["name"] not in NO_TRANSFORM:
        raise InputError(f"objective {learner['objective']['name']} is not one that leaves scores as they are")
    if set(learner["feature_types"]) - {"float"} or len(learner["feature_types"]) != len(learner["feature_names"]):
        raise InputError("all feature types must be float, one for each name")
    trees = learner["gradient_booster"]["model"]["trees"]
    return _added_up((leaf_values(_raw_node(tree, 0), features) for tree in trees), len(features))


def _raw_node(tree: Mapping[str, Any], node: int) -> TreeNode:
    left, right = tree["left_children"][node], tree["right_children"][node]
    if left == -1 or right == -1:
        return TreeLeaf(np.float32(tree["base_weights"][node]))
    side = _below(np.float32(tree["split_conditions"][node]), tree["default_left"][node] == 1)
    return TreeSplit(tree["split_indices"][node], side, _raw_node(tree, left), _raw_node(tree, right))


def plugin_linear_scores(content: bytes, features: Float32Array) -> Scores:
    """The scores of `model/linear`: weights, in the order of the features, times values; a missing value is 0."""
    weights = json.loads(content)
    if len(weights) != features.shape[1]:
        raise InputError(f"{len(weights)} weights do not fit {features.shape[1]} features")
    return _weighted_sum(np.nan_to_num(features, nan=0.0), weights.values())


def _weighted_sum(features: Float32Array, weights: Iterable[float]) -> Scores:
    parts = (features[:, column] * np.float32(weight) for column, weight in enumerate(weights))
    return _added_up(parts, len(features))


# --- RankLib ---
# A value that is at most the threshold, both float32, goes left; NaN goes right. A tree's value times its weight is
# added in float32. Features count from 1.


def ranklib_scores(content: bytes, features: Float32Array) -> Scores:
    """The scores of RankLib's text."""
    text = content.decode("utf-8")
    require_input(text.startswith("## LambdaMART"), "the first line must name the ranker")
    body = "\n".join(line for line in text.splitlines() if not line.startswith("##"))
    parts = (
        leaf_values(_ranklib_node(tree[0]), features) * np.float32(tree.attrib["weight"])
        for tree in ElementTree.fromstring(body.strip())
    )
    return _added_up(parts, len(features))


def _ranklib_node(split: ElementTree.Element) -> TreeNode:
    output = split.find("output")
    if output is not None:
        return TreeLeaf(np.float32(output.text or ""))
    number, threshold = split.find("feature"), split.find("threshold")
    if number is None or threshold is None:
        raise InputError("a split needs feature and threshold")
    feature = int(number.text or "0") - 1
    if feature < 0:
        raise InputError("features count from 1")
    sides = {child.attrib["pos"]: child for child in split.findall("split")}
    goes_left = _at_most(np.float32((threshold.text or "").strip()), missing_left=False)
    return TreeSplit(feature, goes_left, _ranklib_node(sides["left"]), _ranklib_node(sides["right"]))


# --- Vespa, of LightGBM's JSON: below the threshold goes left, in double precision; NaN goes by `default_left` ---


def vespa_scores(content: bytes, features: Float32Array) -> Scores:
    """The scores of the model."""
    model = json.loads(content)
    if model["objective"] != "regression" or model["pandas_categorical"] != []:
        raise InputError("only a regression without categories leaves scores as they are")
    roots = (_vespa_node(tree["tree_structure"], len(model["feature_names"])) for tree in model["tree_info"])
    parts = (leaf_values(root, features, np.float64) for root in roots)
    return _added_up(parts, len(features), np.float64)


def _vespa_node(node: Mapping[str, Any], n_features: int) -> TreeNode:
    if "leaf_value" in node:
        return TreeLeaf(float(node["leaf_value"]))
    require_input(node["split_feature"] < n_features, "a split names a feature that has no name")
    goes_left = _below(np.float64(node["threshold"]), bool(node["default_left"]))
    left, right = (_vespa_node(node[side], n_features) for side in ("left_child", "right_child"))
    return TreeSplit(int(node["split_feature"]), goes_left, left, right)


# --- Solr ---
# Everything is float32; 0.000001 is added to each threshold; an unknown feature makes the tree 0. With
# `isNullSameAsZero` false a missing value goes to the side that `missing` names; otherwise it is 0.

SLACK = np.float32(1e-6)
ACTIVATIONS: Mapping[str, Callable[[Any], Any]] = {
    "identity": lambda values: values,
    "relu": lambda values: np.where(values < 0, np.float32(0), values),
    "tanh": lambda values: np.tanh(values.astype(np.float64)).astype(np.float32),
    "sigmoid": lambda values: (1 / (1 + np.exp(-values.astype(np.float64)))).astype(np.float32),
}


def solr_scores(content: bytes, features: Float32Array) -> Scores:
    """The scores of a model of one of three classes."""
    model = json.loads(content)
    kind = model["class"].rpartition(".")[2]
    if kind not in SOLR_KINDS:
        raise InputError(f"Solr's model class {kind!r} is not one of {', '.join(SOLR_KINDS)}")
    names = [feature["name"] for feature in model["features"]]
    return SOLR_KINDS[kind](model["params"], names, _solr_normalised(model["features"], features))


def _solr_normalised(described: Sequence[Mapping[str, Any]], features: Float32Array) -> Float32Array:
    out = features.astype(np.float32, copy=True)
    for column, feature in enumerate(described):
        if "norm" in feature:
            params = feature["norm"]["params"]
            out[:, column] = (out[:, column] - np.float32(params["avg"])) / np.float32(params["std"])
    return out


def _solr_trees(params: Mapping[str, Any], names: Sequence[str], features: Float32Array) -> Scores:
    place = {name: number for number, name in enumerate(names)}
    null_is_zero = str(params.get("isNullSameAsZero", "true")) != "false"
    values = np.where(np.isnan(features), np.float32(0), features) if null_is_zero else features
    parts = (np.float32(tree["weight"]) * leaf_values(_solr_node(tree["root"], place), values)
             for tree in params["trees"])  # fmt: skip
    return _added_up(parts, len(features))


def _solr_node(node: Mapping[str, Any], place: Mapping[str, int]) -> TreeNode:
    if "feature" not in node:
        return TreeLeaf(np.float32(node["value"]))
    if node["feature"] not in place:
        return TreeLeaf(np.float32(0))  # such a tree is worth nothing
    goes_left = _at_most(np.float32(node["threshold"]) + SLACK, node.get("missing") == "left")
    left, right = (_solr_node(node[side], place) for side in ("left", "right"))
    return TreeSplit(place[node["feature"]], goes_left, left, right)


def _solr_linear(params: Mapping[str, Any], names: Sequence[str], features: Float32Array) -> Scores:
    return _weighted_sum(features, (params["weights"][name] for name in names))


def _solr_net(params: Mapping[str, Any], names: Sequence[str], features: Float32Array) -> Scores:
    values = features
    for layer in params["layers"]:
        weights = np.array(layer["matrix"], np.float64).astype(np.float32)
        if weights.shape[1] != values.shape[1] or len(layer["bias"]) != len(weights):
            told = f"a layer of {weights.shape} does not fit {values.shape[1]} inputs of {len(names)} features"
            raise InputError(told)
        sums = np.tile(np.array(layer["bias"], np.float64).astype(np.float32), (len(values), 1))
        for column in range(values.shape[1]):
            sums += values[:, column : column + 1] * weights[:, column]
        values = ACTIVATIONS[layer["activation"]](sums)
    return values[:, 0]


SOLR_KINDS: Mapping[str, Callable[[Mapping[str, Any], Sequence[str], Float32Array], Scores]] = {
    "MultipleAdditiveTreesModel": _solr_trees,
    "LinearModel": _solr_linear,
    "NeuralNetworkModel": _solr_net,
}
