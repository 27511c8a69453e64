"""`model/linear` of the plugins of Elasticsearch and OpenSearch: a weight for each feature, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.exchange.feature_sets import plugin_feature_set
from rankwright.exchange.rules import plugin_linear as rule
from rankwright.exchange.subject import NetSubject, NotExportableError, Subject, only_standardises, standardisation
from rankwright.exchange.target import ExportOptions, Limit, Target, TargetRun, Written


def write(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """The weights; standardisation becomes part of them, and constants, which change no order, are left out."""
    if not isinstance(subject, NetSubject) or subject.kind != "linear":
        raise NotExportableError(
            f"model/linear holds a weight for each feature, and this is a {subject.kind}: take plugin-xgboost for "
            f"trees, solr or onnx for nets"
        )
    if not only_standardises(subject.steps):
        raise NotExportableError("model/linear cannot take logarithms of features: train with scaling zscore, or onnx")
    weights, constant = subject.layers[0].weights[0], float(subject.layers[0].bias[0])
    found = standardisation(subject.steps)
    if found is not None:
        mean, factor = found
        weights = weights * factor
        constant -= float(weights @ mean)
    missing = Limit("missing values, which the plugin counts as 0", lambda rows: np.isnan(rows).any(axis=1))
    notes = [] if constant == 0 else [f"scores are {constant:.9g} lower than ours: the format has no constant"]
    text = json.dumps(dict(zip(subject.names, weights.tolist(), strict=True))) + "\n"
    return Written({"": text.encode()}, notes, [missing], -constant)


def run_by_rule(path: Path, features: Float32Array, names: Sequence[str]) -> TargetRun:  # noqa: ARG001
    """Scores by the plugin's rules."""
    return TargetRun(rule.score(path.read_bytes(), features), "by rule, not run")


PLUGIN_LINEAR = Target(
    name="plugin-linear",
    suffix=".json",
    summary="model/linear of the learning-to-rank plugins of Elasticsearch and OpenSearch",
    takes=("linear",),
    write=write,
    runners=(run_by_rule,),
    feature_set=plugin_feature_set,
)
