"""XGBoost's dump of trees as JSON: `model/xgboost+json` of the plugins of Elasticsearch and OpenSearch, and Vespa.

The plugin knows no keys but those written here, wants `depth`, and takes the first child for `yes`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rankwright.arrays import Float32Array, Float64Array
from rankwright.exchange.feature_sets import plugin_feature_set
from rankwright.exchange.rules import plugin_trees
from rankwright.exchange.splits import (
    finite,
    refuse_categories,
    refuse_readings,
    strictly_below,
    with_base_tree,
)
from rankwright.exchange.subject import Subject
from rankwright.exchange.target import ExportOptions, Limit, Target, TargetRun, Written, as_forest
from rankwright.trees.forests.forest import Forest

OBJECTIVE = "reg:linear"  # one that changes no score, and that every version of the plugins knows
NOTES = (
    "the base score is a tree of one leaf",
    "OpenSearch follows `missing` only in versions since July 2026; before, a missing value goes to `no` always",
)


def write(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """A list of trees."""
    trees, limits = _trees(subject)
    return Written({"": b"".join([b"[", b",".join(trees), b"]\n"])}, NOTES, limits)


def write_with_objective(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """The list in an object that names the objective too."""
    trees, limits = _trees(subject)
    before = f'{{"objective":"{OBJECTIVE}","splits":['.encode()
    return Written({"": b"".join([before, b",".join(trees), b"]}\n"])}, NOTES, limits)


def _trees(subject: Subject) -> tuple[list[bytes], list[Limit]]:
    given = as_forest(subject, "an XGBoost dump")
    refuse_readings(given, "an XGBoost dump", "lightgbm or c")
    refuse_categories(given, "the plugins' XGBoost", "xgboost-json, onnx or c")
    forest = strictly_below(with_base_tree(given))
    threshold, limits = finite(forest)
    names = [json.dumps(name) for name in given.names]
    trees = [_tree(forest, threshold, names, tree).encode() for tree in range(forest.n_trees)]
    return trees, limits


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


def run_by_rule(path: Path, features: Float32Array, names: Sequence[str]) -> TargetRun:
    """Scores by the plugin's rules."""
    return TargetRun(plugin_trees.score_dump(path.read_bytes(), features, list(names)), "by rule, not run")


PLUGIN_DUMP = Target(
    name="plugin-xgboost",
    suffix=".json",
    summary="model/xgboost+json of the learning-to-rank plugins of Elasticsearch and OpenSearch; Vespa reads it too",
    takes=("forest",),
    write=write,
    runners=(run_by_rule,),
    feature_set=plugin_feature_set,
)
PLUGIN_DUMP_OBJECTIVE = Target(
    name="plugin-xgboost-objective",
    suffix=".json",
    summary="the same as {objective, splits}, which the plugins also take",
    takes=("forest",),
    write=write_with_objective,
    runners=(run_by_rule,),
    feature_set=plugin_feature_set,
)
