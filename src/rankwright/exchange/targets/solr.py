"""Solr's models: MultipleAdditiveTreesModel for trees, LinearModel and NeuralNetworkModel for the rest.

Solr adds 0.000001 to a threshold before it compares, in float32; the number written is the one that becomes ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.exchange.engine_rules import solr_scores
from rankwright.exchange.subject import (
    ForestSubject,
    NetSubject,
    NotExportableError,
    Subject,
    only_standardises,
    standardisation,
)
from rankwright.exchange.target import ExportOptions, Limit, Target, Written, any_missing, by_rule
from rankwright.exchange.targets.search_plugins import QUERY_TO_FILL_IN
from rankwright.exchange.tree_formats import TREES, inner_nodes, json_of, plain_forest, with_base_tree
from rankwright.trees.forests.forest import Forest

SLACK = np.float32(1e-6)
LARGEST_GAP = 1e-12
STEPS = 4  # floats to either side among which the number to write is looked for
ACTIVATIONS = ("relu", "tanh", "sigmoid", "identity")


def write(subject: Subject, options: ExportOptions) -> Written:
    """The model as Solr's model store takes it."""
    if isinstance(subject, ForestSubject):
        return _trees(subject, options)
    return _layers(subject, options)


def _model(
    kind: str,
    subject: Subject,
    options: ExportOptions,
    params: dict[str, Any],
    norms: Any = None,
    trees: Iterable[Any] | None = None,
) -> bytes:
    features = [{"name": name} for name in subject.names]
    for feature, norm in zip(features, norms or (), strict=False):
        feature["norm"] = norm
    document = {
        "class": f"org.apache.solr.ltr.model.{kind}",
        "name": options.name,
        "store": f"{options.name}_features",
        "features": features,
        "params": params,
    }
    return (json.dumps(document).encode() if trees is None else json_of(document, trees)) + b"\n"


def _trees(subject: ForestSubject, options: ExportOptions) -> Written:
    forest = with_base_tree(plain_forest(subject, "Solr", zeros="lightgbm or c", categories="lightgbm, onnx or c"))
    thresholds, limits = _before_slack(subject, forest)
    kept = options.missing == "kept"
    trees = ({"weight": "1", "root": _tree(subject, forest, thresholds, tree, kept)} for tree in range(forest.n_trees))
    params: dict[str, Any] = {"isNullSameAsZero": "false"} if kept else {}
    notes = [
        "missing values keep their side: Solr 9.2 or later, and defaultValue NaN in the features; --missing never "
        "writes a model for earlier ones"
    ]
    content = _model("MultipleAdditiveTreesModel", subject, options, params | {"trees": TREES}, trees=trees)
    return Written({"": content}, notes if kept else [], limits)


def _before_slack(subject: ForestSubject, forest: Forest) -> tuple[Float32Array, list[Limit]]:
    """Numbers that are our thresholds once Solr has added its slack, and which documents that leaves out.

    Not every float32 number is a sum of another and the slack: then the next one is taken, or near 0 the nearest, and
    values in between, which alone can tell, are named as a limit.
    """
    inner = inner_nodes(forest)
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
    low, high = (np.sort(np.stack([wanted[near], best[near] + SLACK]), axis=0)[place] for place in (0, 1))
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
    start, stop = int(forest.offsets[tree]), int(forest.offsets[tree + 1])
    made: dict[int, dict[str, Any]] = {}
    for node in range(stop - 1, start - 1, -1):  # children come after their parents
        if forest.feature[node] < 0:
            made[node] = {"value": _number(forest.value[node])}
            continue
        made[node] = {"feature": subject.names[forest.feature[node]], "threshold": _number(thresholds[node])}
        if kept:
            made[node]["missing"] = "left" if forest.missing_left[node] else "right"
        made[node]["left"], made[node]["right"] = made.pop(int(forest.left[node])), made.pop(int(forest.right[node]))
    return made[start]


def _number(value: float) -> str:
    text = f"{float(value):.9g}"
    return {"inf": "Infinity", "-inf": "-Infinity"}.get(text, text)


def _layers(subject: NetSubject, options: ExportOptions) -> Written:
    if not only_standardises(subject.steps):
        raise NotExportableError(
            f"Solr's normalizers scale by mean and deviation, and this ranker also takes logarithms "
            f"({'+'.join(step.scaling.name for step in subject.steps)}): take onnx or c, or train with scaling zscore"
        )
    unknown = [layer.activation for layer in subject.layers if layer.activation not in ACTIVATIONS]
    if unknown:
        raise NotExportableError(f"Solr has no activation {unknown[0]}: take onnx or c")
    norms = _norms(subject)
    missing = [any_missing("Solr's sums and nets cannot have")]
    first = subject.layers[0]
    if subject.kind == "linear" and not first.bias.any():
        weights = dict(zip(subject.names, first.weights[0].tolist(), strict=True))
        return Written({"": _model("LinearModel", subject, options, {"weights": weights}, norms)}, (), missing)
    layers = [
        {"matrix": layer.weights.tolist(), "bias": layer.bias.tolist(), "activation": layer.activation}
        for layer in subject.layers
    ]
    notes = ["a weighted sum with a constant is written as a NeuralNetworkModel of one layer"]
    return Written(
        {"": _model("NeuralNetworkModel", subject, options, {"layers": layers}, norms)},
        notes if subject.kind == "linear" else (),
        missing,
    )


def _norms(subject: NetSubject) -> list[dict[str, Any]] | None:
    """Solr's normalizers; a feature that never varied gives 0, as with an endless deviation."""
    found = standardisation(subject.steps)
    if found is None:
        return None
    mean, factor = found
    deviation = np.divide(1.0, factor, out=np.full_like(factor, 3e38), where=factor > 0)
    return [
        {"class": "org.apache.solr.ltr.norm.StandardNormalizer", "params": {"avg": repr(avg), "std": repr(std)}}
        for avg, std in zip(mean.tolist(), deviation.tolist(), strict=True)
    ]


def solr_features(subject: Subject, options: ExportOptions) -> dict[str, bytes]:
    """The features of Solr's store; a feature that may lack its value has NaN as its default."""
    params = {"q": QUERY_TO_FILL_IN} | ({"defaultValue": "NaN"} if options.missing == "kept" else {})
    features = [
        {"store": f"{options.name}_features", "name": name, "class": "org.apache.solr.ltr.feature.SolrFeature",
         "params": params}
        for name in subject.names
    ]  # fmt: skip
    return {".features.json": (json.dumps(features, indent=2) + "\n").encode()}


SOLR = Target(
    name="solr",
    suffix=".json",
    summary="Solr's MultipleAdditiveTreesModel, LinearModel or NeuralNetworkModel",
    takes=("forest", "linear", "net"),
    write=write,
    runners=(by_rule(solr_scores),),
    feature_set=solr_features,
)
