"""How far a target's scores may lie from ours: what rounding in float32 allows, and no more.

A sum of n numbers taken one after another in float32 is off by at most (n - 1) roundings of a partial sum, and no
partial sum is larger than the sizes of all numbers together.
"""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array, Float64Array
from rankwright.exchange.subject import ForestSubject, NetSubject, Subject

UNIT = 2.0**-24  # half a step of float32 at 1
STEEPEST = 1.2  # slope of any activation


def bound_of(subject: Subject, features: Float32Array, sums: str) -> Float64Array:
    """The most that scores of these documents may differ by."""
    if isinstance(subject, ForestSubject):
        return forest_bound(subject, features, sums)
    return net_bound(subject, features)


def forest_bound(subject: ForestSubject, features: Float32Array, sums: str) -> Float64Array:
    """The bound for trees: leaves are float32 already, only sums and the base score are rounded."""
    forest = subject.forest
    sizes = np.full(len(features), abs(subject.base_score))
    for start in range(0, len(features), 4096):
        rows = slice(start, start + 4096)
        sizes[rows] += np.abs(forest.value[forest.apply(features[rows], threads=1)].astype(np.float64)).sum(axis=1)
    n_sums = forest.n_trees + 2
    if sums == "float64":
        return 2 * n_sums * 2.0**-53 * sizes + UNIT * abs(subject.base_score)
    return n_sums * UNIT * sizes * (1 + n_sums * UNIT) + UNIT * abs(subject.base_score)


def net_bound(subject: NetSubject, features: Float32Array) -> Float64Array:
    """The bound for sums of products, carried from layer to layer; ours and theirs may both be in float32."""
    values = features.astype(np.float64)
    with np.errstate(invalid="ignore"):
        for step in subject.steps:
            values = step.transform(np.nan_to_num(values, nan=0.0, posinf=0, neginf=0).astype(np.float32)).astype(
                np.float64
            )
    values = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    errors = 4 * UNIT * _size_before(subject, features, values)
    for layer in subject.layers:
        weights = np.abs(layer.weights)
        roundings = (layer.weights.shape[1] + 4) * UNIT
        errors = errors @ weights.T + 2 * roundings * ((np.abs(values) + errors) @ weights.T + np.abs(layer.bias))
        values = values @ layer.weights.T + layer.bias
        if layer.activation != "identity":
            values = _activated(layer.activation, values)
            errors = STEEPEST * errors + 4 * UNIT * (1 + np.abs(values))
    found: Float64Array = errors[:, 0]
    return found


def _size_before(subject: NetSubject, features: Float32Array, values: Float64Array) -> Float64Array:
    """How large numbers were while features were scaled: x and its mean, times the factor."""
    size = np.abs(values) + 1e-30
    if subject.steps and subject.steps[-1].scaling.name == "zscore":
        mean, deviation = (np.abs(subject.steps[-1].learned[name]) for name in ("mean", "deviation"))
        factor = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
        size = size + 2 * (np.abs(values) + 2 * mean * factor)
        if len(subject.steps) == 1:
            size = size + np.abs(np.nan_to_num(features, nan=0, posinf=0, neginf=0)) * factor
    return size


def _activated(activation: str, values: Float64Array) -> Float64Array:
    if activation == "relu":
        return np.maximum(values, 0)
    if activation == "tanh":
        return np.tanh(values)
    if activation == "sigmoid":
        return 1 / (1 + np.exp(-values))
    return np.maximum(values, 0)  # gelu is close enough for a bound
