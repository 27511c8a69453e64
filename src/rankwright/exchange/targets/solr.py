"""Solr's models: MultipleAdditiveTreesModel for trees, LinearModel and NeuralNetworkModel for the rest.

Solr adds 0.000001 to a threshold before it compares, in float32; the number written is the one that becomes ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array, Float64Array
from rankwright.exchange.engine_rules import solr_scores
from rankwright.exchange.subject import ForestSubject, NetSubject, NotExportableError, Subject, standardisation
from rankwright.exchange.target import ExportOptions, Limit, Target, Written, any_missing, by_rule
from rankwright.exchange.targets.search_plugins import QUERY_TO_FILL_IN
from rankwright.exchange.tree_formats import TREES, forest_for, java_number, json_of, nested_tree, with_base_tree
from rankwright.trees.forests.forest import Forest

SLACK = np.float32(1e-6)
LARGEST_GAP = 1e-12
STEPS = 4  # floats to either side among which the number to write is looked for
ACTIVATIONS = ("relu", "tanh", "sigmoid", "identity")


def write(subject: Subject, options: ExportOptions) -> Written:
    """The model as Solr's model store takes it."""
    if isinstance(subject, NetSubject):
        return _layers(subject, options)
    assert isinstance(subject, ForestSubject)  # blends are refused before
    return _trees(subject, options)


def _document(kind: str, subject: Subject, options: ExportOptions, params: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "class": f"org.apache.solr.ltr.model.{kind}",
        "name": options.name,
        "store": f"{options.name}_features",
        "features": [{"name": name} for name in subject.names],
        "params": params,
    }


def _trees(subject: ForestSubject, options: ExportOptions) -> Written:
    forest = with_base_tree(forest_for(subject, "Solr", zeros="lightgbm or c", categories="lightgbm, onnx or c"))
    thresholds, limits = _before_slack(subject, forest)
    kept = options.missing == "kept"
    trees = ({"weight": "1", "root": _tree(subject, forest, thresholds, tree, kept)} for tree in range(forest.n_trees))
    params = ({"isNullSameAsZero": "false"} if kept else {}) | {"trees": TREES}
    notes = [
        "missing values keep their side: Solr 9.2 or later, and defaultValue NaN in the features; --missing never "
        "writes a model for earlier ones"
    ]
    content = json_of(_document("MultipleAdditiveTreesModel", subject, options, params), trees) + b"\n"
    return Written({"": content}, notes if kept else [], limits)


def _before_slack(subject: ForestSubject, forest: Forest) -> tuple[Float32Array, list[Limit]]:
    """Numbers that are our thresholds once Solr has added its slack, and which documents that leaves out.

    Not every float32 number is a sum of another and the slack: then the next one is taken, or near 0 the nearest, and
    values in between, which alone can tell, are named as a limit.
    """
    inner = forest.feature >= 0
    wanted = np.where(inner, forest.threshold, np.float32(0))
    best, gap = np.zeros(len(wanted), np.float32), np.full(len(wanted), np.inf)
    guess = (wanted - SLACK).astype(np.float32)
    for step in range(-STEPS, STEPS + 1):
        with np.errstate(over="ignore", invalid="ignore"):
            tried = guess
            for _ in range(abs(step)):
                tried = np.nextafter(tried, np.float32(np.inf if step > 0 else -np.inf))
            away = np.abs((tried + SLACK).astype(np.float64) - wanted)
            away[tried + SLACK == wanted] = 0.0
        best, gap = np.where(away < gap, tried, best), np.minimum(np.where(np.isnan(away), np.inf, away), gap)
    with np.errstate(over="ignore", invalid="ignore"):
        step_sizes = np.nan_to_num(np.spacing(np.abs(wanted)), posinf=0.0)
    lost = np.flatnonzero(inner & (gap > np.maximum(LARGEST_GAP, 1.01 * step_sizes)))
    if len(lost):
        raise NotExportableError(
            f"Solr adds 0.000001 to thresholds, and no number becomes {float(forest.threshold[lost[0]]):.9g}, a "
            f"threshold of {subject.names[forest.feature[lost[0]]]}: scale such features up, or take onnx or c"
        )
    near = np.flatnonzero(inner & (gap > 0))
    if len(near) == 0:
        return best, []
    low, high = np.sort(np.stack([wanted[near], best[near] + SLACK]), axis=0)
    features = forest.feature[near]

    def between(rows: Float32Array) -> Any:
        values = rows[:, features]
        return ((values > low) & (values <= high)).any(axis=1)

    text = (
        f"values between a threshold and the nearest that Solr can have, a float32 step away at most, of "
        f"{', '.join(sorted({subject.names[feature] for feature in features.tolist()})[:5])}"
    )
    return best, [Limit(text, between)]


def _tree(subject: ForestSubject, forest: Forest, thresholds: Float32Array, tree: int, kept: bool) -> dict[str, Any]:
    def leaf(node: int) -> dict[str, Any]:
        return {"value": java_number(forest.value[node])}

    def split(node: int, left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
        compared = {"feature": subject.names[forest.feature[node]], "threshold": java_number(thresholds[node])}
        missing = {"missing": "left" if forest.missing_left[node] else "right"} if kept else {}
        return compared | missing | {"left": left, "right": right}

    return nested_tree(forest, tree, leaf, split)


def _layers(subject: NetSubject, options: ExportOptions) -> Written:
    if subject.pieces is not None:
        raise NotExportableError(
            "Solr has no features in pieces (encoding='piecewise'): take onnx or c, or train with encoding='none'"
        )
    scaling = standardisation(
        subject.steps,
        f"Solr's normalizers scale by mean and deviation, and this ranker also takes logarithms "
        f"({'+'.join(step.scaling.name for step in subject.steps)}): take onnx or c, or train with scaling zscore",
    )
    unknown = [layer.activation for layer in subject.layers if layer.activation not in ACTIVATIONS]
    if unknown:
        raise NotExportableError(f"Solr has no activation {unknown[0]}: take onnx or c")
    layers = [
        {"matrix": layer.weights.tolist(), "bias": layer.bias.tolist(), "activation": layer.activation}
        for layer in subject.layers
    ]
    params: dict[str, Any] = {"layers": layers}
    kind, notes = "NeuralNetworkModel", []
    first = subject.layers[0]
    if subject.kind == "linear" and first.bias.any():
        notes = ["a weighted sum with a constant is written as a NeuralNetworkModel of one layer"]
    elif subject.kind == "linear":
        kind, params = "LinearModel", {"weights": dict(zip(subject.names, first.weights[0].tolist(), strict=True))}
    missing = any_missing("Solr's sums and nets cannot have")
    document = _document(kind, subject, options, params)
    for feature, norm in zip(document["features"], () if scaling is None else _norms(*scaling), strict=False):
        feature["norm"] = norm
    return Written({"": json.dumps(document).encode() + b"\n"}, notes, [missing])


def _norms(mean: Float64Array, factor: Float64Array) -> list[dict[str, Any]]:
    """Solr's normalizers; a feature that never varied gives 0, as with an endless deviation."""
    deviation = np.divide(1.0, factor, out=np.full_like(factor, 3e38), where=factor > 0)
    return [
        {"class": "org.apache.solr.ltr.norm.StandardNormalizer", "params": {"avg": repr(avg), "std": repr(std)}}
        for avg, std in zip(mean.tolist(), deviation.tolist(), strict=True)
    ]


def solr_features(subject: Subject, options: ExportOptions) -> bytes:
    """The features of Solr's store; a feature that may lack its value has NaN as its default."""
    params = {"q": QUERY_TO_FILL_IN} | ({"defaultValue": "NaN"} if options.missing == "kept" else {})
    features = [
        {"store": f"{options.name}_features", "name": name, "class": "org.apache.solr.ltr.feature.SolrFeature",
         "params": params}
        for name in subject.names
    ]  # fmt: skip
    return (json.dumps(features, indent=2) + "\n").encode()


SOLR = Target(
    name="solr",
    suffix=".json",
    summary="Solr's MultipleAdditiveTreesModel, LinearModel or NeuralNetworkModel",
    write=write,
    runners=(by_rule(solr_scores),),
    takes=("forest", "linear", "net"),
    feature_set=solr_features,
    feature_set_ending=".features.json",
)
