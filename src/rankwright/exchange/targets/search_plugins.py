"""What the learning-to-rank plugins of Elasticsearch and OpenSearch read: XGBoost's trees, RankLib's, linear models.

`model/xgboost+json` is a dump of trees as JSON, which Vespa reads too. The plugin knows no keys but those written here,
wants `depth`, and takes the first child for `yes`. `model/xgboost+json+raw` is XGBoost's model file. `model/ranklib` is
RankLib's model text, also for RankLib itself. `model/linear` is a weight for each feature, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.exchange import engine_rules, tree_formats
from rankwright.exchange.subject import KIND_WORDS, NetSubject, NotExportableError, Subject, standardisation
from rankwright.exchange.target import ExportOptions, Target, Written, any_missing, by_rule
from rankwright.exchange.targets.xgboost import write_json
from rankwright.exchange.tree_formats import forest_for, java_number, nested_tree, with_base_tree
from rankwright.trees.forests.compiled import number_leaves
from rankwright.trees.forests.forest import Forest

OBJECTIVE = "reg:linear"  # one that changes no score, and that every version of the plugins knows
NOTES = (
    "the base score is a tree of one leaf",
    "OpenSearch follows `missing` only in versions since July 2026; before, a missing value goes to `no` always",
)
QUERY_TO_FILL_IN = "fill in: a query whose score is this feature"


def feature_set(subject: Subject, options: ExportOptions) -> bytes:
    """The feature set that the plugins must be told, with the queries left to fill in."""
    features = [
        {"name": name, "params": ["keywords"], "template_language": "mustache",
         "template": {"match": {QUERY_TO_FILL_IN: "{{keywords}}"}}}
        for name in subject.names
    ]  # fmt: skip
    document = {"featureset": {"name": f"{options.name}_features", "features": features}}
    return (json.dumps(document, indent=2) + "\n").encode()


def dump_writer(before: bytes, after: bytes) -> Callable[[Subject, ExportOptions], Written]:
    """What writes a list of trees, between these texts."""

    def write(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
        others = {"zeros": "lightgbm or c", "categories": "xgboost-json, onnx or c"}
        given = forest_for(subject, "the plugins' XGBoost", **others)
        forest = tree_formats.strictly_below(with_base_tree(given))
        threshold, limits = tree_formats.finite(forest)
        names, depth = [json.dumps(name) for name in given.names], number_leaves(forest)[1]
        trees = (_dumped(forest, threshold, depth, names, tree).encode() for tree in range(forest.n_trees))
        return Written({"": b"".join([before, b",".join(trees), after])}, NOTES, limits)

    return write


def _dumped(forest: Forest, threshold: Float64Array, depth: IntArray, names: Sequence[str], tree: int) -> str:
    start = int(forest.offsets[tree])

    def leaf(node: int) -> str:
        return f'{{"nodeid":{node - start},"leaf":{forest.value[node]:.9g}}}'

    def split(node: int, left: str, right: str) -> str:
        yes, no = int(forest.left[node]) - start, int(forest.right[node]) - start
        return (
            f'{{"nodeid":{node - start},"depth":{depth[node]},"split":{names[forest.feature[node]]},'
            f'"split_condition":{threshold[node]:.9g},"yes":{yes},"no":{no},'
            f'"missing":{yes if forest.missing_left[node] else no},"children":[{left},{right}]}}'
        )

    return nested_tree(forest, tree, leaf, split)


def write_raw(subject: Subject, options: ExportOptions) -> Written:
    """XGBoost's model file as the plugins take it: numbers only, and names, by which they find features."""
    return write_json(replace(forest_for(subject, "xgboost+json+raw", categories="onnx or c"), named=True), options)


def write_ranklib(subject: Subject, options: ExportOptions) -> Written:
    """The ensemble; features count from 1, and a missing value goes right always."""
    given = forest_for(subject, "RankLib", zeros="lightgbm or c", categories="lightgbm, onnx or c")
    lefts = np.flatnonzero(tree_formats.inner_nodes(given.forest) & given.forest.missing_left)
    if options.missing == "kept" and len(lefts):
        feature = given.names[given.forest.feature[lefts[0]]]
        raise NotExportableError(
            f"RankLib sends missing values right, and splits of feature {feature} send them left: take plugin-xgboost, "
            f"onnx or c, or say --missing never where documents never lack a value"
        )
    forest = with_base_tree(given)
    leaves, depth = int(forest.n_leaves_of_trees().max(initial=1)), number_leaves(forest)[1]
    parts = [f"## LambdaMART\n## No. of trees = {forest.n_trees}\n## No. of leaves = {leaves}\n\n<ensemble>\n".encode()]
    for tree in range(forest.n_trees):
        inside = _inside_split(forest, depth, tree)
        parts.append(f'\t<tree id="{tree + 1}" weight="1.0">\n\t\t<split>\n{inside}\t</tree>\n'.encode())
    return Written({"": b"".join([*parts, b"</ensemble>\n"])}, ["features count from 1: feature 1 is the first"])


def _inside_split(forest: Forest, depth: IntArray, tree: int) -> str:
    """What follows the tag that opens a tree's root, up to the one that closes it."""

    def leaf(node: int) -> str:
        tabs = "\t" * (depth[node] + 2)
        return f"{tabs}\t<output> {java_number(forest.value[node])} </output>\n{tabs}</split>\n"

    def split(node: int, left: str, right: str) -> str:
        tabs = "\t" * (depth[node] + 2)
        return (
            f"{tabs}\t<feature> {forest.feature[node] + 1} </feature>\n"
            f"{tabs}\t<threshold> {java_number(forest.threshold[node])} </threshold>\n"
            f'{tabs}\t<split pos="left">\n{left}{tabs}\t<split pos="right">\n{right}{tabs}</split>\n'
        )

    return nested_tree(forest, tree, leaf, split)


def write_linear(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """The weights; standardisation becomes part of them, and constants, which change no order, are left out."""
    if not isinstance(subject, NetSubject) or subject.kind != "linear":
        raise NotExportableError(
            f"model/linear holds a weight for each feature, and this is {KIND_WORDS[subject.kind]}: take "
            f"plugin-xgboost for trees, solr or onnx for nets"
        )
    scaling = standardisation(
        subject.steps, "model/linear cannot take logarithms of features: train with scaling zscore, or take onnx"
    )
    weights, constant = subject.layers[0].weights[0], float(subject.layers[0].bias[0])
    if scaling is not None:
        mean, factor = scaling
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
    write=dump_writer(b"[", b"]\n"),
    runners=(by_rule(engine_rules.plugin_dump_scores, takes_names=True),),
    feature_set=feature_set,
)
PLUGIN_DUMP_OBJECTIVE = replace(
    PLUGIN_DUMP,
    name="plugin-xgboost-objective",
    summary="the same as {objective, splits}, which the plugins also take",
    write=dump_writer(f'{{"objective":"{OBJECTIVE}","splits":['.encode(), b"]}\n"),
)
PLUGIN_RAW = replace(
    PLUGIN_DUMP,
    name="plugin-xgboost-raw",
    summary="model/xgboost+json+raw of the learning-to-rank plugins of Elasticsearch and OpenSearch",
    write=write_raw,
    runners=(by_rule(engine_rules.plugin_raw_scores),),
)
PLUGIN_LINEAR = replace(
    PLUGIN_DUMP,
    name="plugin-linear",
    summary="model/linear of the learning-to-rank plugins of Elasticsearch and OpenSearch",
    takes=("linear",),
    write=write_linear,
    runners=(by_rule(engine_rules.plugin_linear_scores),),
)
RANKLIB = Target(
    name="ranklib",
    suffix=".xml",
    summary="RankLib's model text: for RankLib, and model/ranklib of the plugins of Elasticsearch and OpenSearch",
    write=write_ranklib,
    runners=(by_rule(engine_rules.ranklib_scores),),
    feature_set=feature_set,
)
PLUGINS = (PLUGIN_DUMP, PLUGIN_DUMP_OBJECTIVE, PLUGIN_RAW, PLUGIN_LINEAR, RANKLIB)
