"""XGBoost's dump of trees as JSON: `model/xgboost+json` of the plugins of Elasticsearch and OpenSearch, and Vespa.

The plugin knows no keys but those written here, wants `depth`, and takes the first child for `yes`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rankwright.arrays import Float32Array
from rankwright.exchange.feature_sets import plugin_feature_set
from rankwright.exchange.rules import plugin_trees
from rankwright.exchange.splits import (
    finite,
    inner_nodes,
    refuse_categories,
    refuse_readings,
    strictly_below,
    with_base_tree,
)
from rankwright.exchange.subject import Subject
from rankwright.exchange.target import ExportOptions, Limit, Target, TargetRun, Written, as_forest

OBJECTIVE = "reg:linear"  # one that changes no score, and that every version of the plugins knows
NOTES = (
    "the base score is a tree of one leaf",
    "OpenSearch follows `missing` only in versions since July 2026; before, a missing value goes to `no` always",
)


def write(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """A list of trees."""
    trees, limits = _trees(subject)
    return Written({"": f"[{','.join(trees)}]\n".encode()}, NOTES, limits)


def write_with_objective(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """The list in an object that names the objective too."""
    trees, limits = _trees(subject)
    return Written({"": f'{{"objective":"{OBJECTIVE}","splits":[{",".join(trees)}]}}\n'.encode()}, NOTES, limits)


def _trees(subject: Subject) -> tuple[list[str], list[Limit]]:
    given = as_forest(subject, "an XGBoost dump")
    refuse_readings(given, "an XGBoost dump", "lightgbm or c")
    refuse_categories(given, "the plugins' XGBoost", "xgboost-json, onnx or c")
    forest = strictly_below(with_base_tree(given))
    threshold, limits = finite(forest)
    names = [json.dumps(name) for name in given.names]
    inner, feature = inner_nodes(forest).tolist(), forest.feature.tolist()
    left, right = forest.left.tolist(), forest.right.tolist()
    lefts, values = forest.missing_left.tolist(), forest.value.tolist()
    cuts = threshold.tolist()
    trees = []
    for start, stop in zip(forest.offsets[:-1].tolist(), forest.offsets[1:].tolist(), strict=True):
        depth = _depths(start, stop, inner[start:stop], left, right)
        text: dict[int, str] = {}
        for node in range(stop - 1, start - 1, -1):  # children come after their parents
            number = node - start
            if not inner[node]:
                text[node] = f'{{"nodeid":{number},"leaf":{values[node]:.9g}}}'
                continue
            yes, no = left[node] - start, right[node] - start
            missing = yes if lefts[node] else no
            text[node] = (
                f'{{"nodeid":{number},"depth":{depth[number]},"split":{names[feature[node]]},'
                f'"split_condition":{cuts[node]:.9g},"yes":{yes},"no":{no},"missing":{missing},'
                f'"children":[{text.pop(left[node])},{text.pop(right[node])}]}}'
            )
        trees.append(text[start])
    return trees, limits


def _depths(start: int, stop: int, inner: list[bool], left: list[int], right: list[int]) -> list[int]:
    depth = [0] * (stop - start)
    for node in range(start, stop):
        if inner[node - start]:
            depth[left[node] - start] = depth[right[node] - start] = depth[node - start] + 1
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
