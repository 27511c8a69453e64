"""What the learning-to-rank plugins of Elasticsearch and OpenSearch read: XGBoost's dump of trees, and linear models.

`model/xgboost+json` is a dump of trees as JSON, which Vespa reads too. The plugin knows no keys but those written here,
wants `depth`, and takes the first child for `yes`. `model/linear` is a weight for each feature, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from rankwright.arrays import Float64Array
from rankwright.exchange.engine_rules import plugin_dump_scores, plugin_linear_scores
from rankwright.exchange.subject import (
    KIND_WORDS,
    NetSubject,
    NotExportableError,
    Subject,
    only_standardises,
    standardisation,
)
from rankwright.exchange.target import ExportOptions, Target, Written, any_missing, by_rule
from rankwright.exchange.tree_formats import finite, plain_forest, strictly_below, with_base_tree
from rankwright.trees.forests.forest import Forest

OBJECTIVE = "reg:linear"  # one that changes no score, and that every version of the plugins knows
NOTES = (
    "the base score is a tree of one leaf",
    "OpenSearch follows `missing` only in versions since July 2026; before, a missing value goes to `no` always",
)
QUERY_TO_FILL_IN = "fill in: a query whose score is this feature"


def feature_set(subject: Subject, options: ExportOptions) -> dict[str, bytes]:
    """The feature set that the plugins must be told, with the queries left to fill in."""
    features = [
        {"name": name, "params": ["keywords"], "template_language": "mustache",
         "template": {"match": {QUERY_TO_FILL_IN: "{{keywords}}"}}}
        for name in subject.names
    ]  # fmt: skip
    document = {"featureset": {"name": f"{options.name}_features", "features": features}}
    return {".featureset.json": (json.dumps(document, indent=2) + "\n").encode()}


def write_dump(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """A list of trees."""
    return _dump(subject, "[", "]\n")


def write_dump_with_objective(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """The list in an object that names the objective too."""
    return _dump(subject, f'{{"objective":"{OBJECTIVE}","splits":[', "]}\n")


def _dump(subject: Subject, before: str, after: str) -> Written:
    given = plain_forest(subject, "the plugins' XGBoost", zeros="lightgbm or c", categories="xgboost-json, onnx or c")
    forest = strictly_below(with_base_tree(given))
    threshold, limits = finite(forest)
    names = [json.dumps(name) for name in given.names]
    trees = (_tree(forest, threshold, names, tree).encode() for tree in range(forest.n_trees))
    return Written({"": b"".join([before.encode(), b",".join(trees), after.encode()])}, NOTES, limits)


def _tree(forest: Forest, threshold: Float64Array, names: Sequence[str], tree: int) -> str:
    own = slice(int(forest.offsets[tree]), int(forest.offsets[tree + 1]))
    feature, cuts, values = (part[own].tolist() for part in (forest.feature, threshold, forest.value))
    left, right = ((part[own] - own.start).tolist() for part in (forest.left, forest.right))
    lefts = forest.missing_left[own].tolist()
    depth = _depths(feature, left, right)
    text: dict[int, str] = {}
    for node in range(len(feature) - 1, -1, -1):  # children come after their parents
        if feature[node] < 0:
            text[node] = f'{{"nodeid":{node},"leaf":{values[node]:.9g}}}'
            continue
        yes, no = left[node], right[node]
        text[node] = (
            f'{{"nodeid":{node},"depth":{depth[node]},"split":{names[feature[node]]},'
            f'"split_condition":{cuts[node]:.9g},"yes":{yes},"no":{no},"missing":{yes if lefts[node] else no},'
            f'"children":[{text.pop(yes)},{text.pop(no)}]}}'
        )
    return text[0]


def _depths(feature: list[int], left: list[int], right: list[int]) -> list[int]:
    depth = [0] * len(feature)
    for node, own in enumerate(feature):
        if own >= 0:
            depth[left[node]] = depth[right[node]] = depth[node] + 1
    return depth


def write_linear(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """The weights; standardisation becomes part of them, and constants, which change no order, are left out."""
    if not isinstance(subject, NetSubject) or subject.kind != "linear":
        raise NotExportableError(
            f"model/linear holds a weight for each feature, and this is {KIND_WORDS[subject.kind]}: take "
            f"plugin-xgboost for trees, solr or onnx for nets"
        )
    if not only_standardises(subject.steps):
        raise NotExportableError(
            "model/linear cannot take logarithms of features: train with scaling zscore, or take onnx"
        )
    weights, constant = subject.layers[0].weights[0], float(subject.layers[0].bias[0])
    found = standardisation(subject.steps)
    if found is not None:
        mean, factor = found
        weights = weights * factor
        constant -= float(weights @ mean)
    notes = []
    if constant != 0:
        way = "lower" if constant > 0 else "higher"
        notes = [f"scores are {abs(constant):.9g} {way} than ours: the format has no constant"]
    text = json.dumps(dict(zip(subject.names, weights.tolist(), strict=True))) + "\n"
    return Written({"": text.encode()}, notes, [any_missing("the plugin counts as 0")], -constant)


PLUGIN_DUMP = Target(
    name="plugin-xgboost",
    suffix=".json",
    summary="model/xgboost+json of the learning-to-rank plugins of Elasticsearch and OpenSearch; Vespa reads it too",
    takes=("forest",),
    write=write_dump,
    runners=(by_rule(plugin_dump_scores, takes_names=True),),
    feature_set=feature_set,
)
PLUGIN_DUMP_OBJECTIVE = replace(
    PLUGIN_DUMP,
    name="plugin-xgboost-objective",
    summary="the same as {objective, splits}, which the plugins also take",
    write=write_dump_with_objective,
)
PLUGIN_LINEAR = Target(
    name="plugin-linear",
    suffix=".json",
    summary="model/linear of the learning-to-rank plugins of Elasticsearch and OpenSearch",
    takes=("linear",),
    write=write_linear,
    runners=(by_rule(plugin_linear_scores),),
    feature_set=feature_set,
)
