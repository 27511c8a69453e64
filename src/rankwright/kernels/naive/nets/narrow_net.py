"""Twin of the kernel that takes a narrow net one step along the forces of label pairs."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.common.counter_random import stream_of, unit_interval
from rankwright.kernels.naive.features.standardise import standardise_rows
from rankwright.kernels.naive.objectives.lambdas import label_pair_lambdas
from rankwright.kernels.pair_settings import PairSettings

_Layers = list[tuple[Float64Array, Float64Array]]


@np.errstate(over="ignore", invalid="ignore")  # a walk that diverges is told by its result
def descend_narrow_net(
    widths: IntArray,
    weights: Float32Array,
    last_threshold: bool,
    activation: str,
    dropout: float,
    features: Float32Array,
    shift: Float32Array,
    factor: Float32Array,
    offsets: IntArray,
    labels: Float32Array,
    by_label: IntArray,
    worth: Float64Array,
    discount: Float64Array,
    document_weights: Float32Array,
    query_weights: Float32Array,
    settings: PairSettings,
    optimizer: str,
    learning_rate: float,
    weight_decay: float,
    pull: float,
    mean: Float32Array,
    square: Float32Array,
    n_steps: int,
    queries: IntArray,
    starts: IntArray,
    keys: IntArray,
    batch_queries: int,
    scores: Float64Array,
    cost: Float64Array,
    threads: int,
) -> int:
    """Change `weights` step after step, `batch_queries` queries and a key each; returns how many steps were taken.

    `widths` has the number of features, then the units of each layer, the last 1; `weights` has each layer's as
    [unit, input], then its thresholds, which the last layer has only with `last_threshold`. Rows are standardised as
    by `standardise_rows`; `dropout` is the share of hidden units left out. `pull` times the weights is added to the
    mean derivative of a step's queries; `mean` and `square` are Adam's memory after `n_steps` steps. `scores` and
    `cost` are filled with those before a query's step. A step whose scores are not finite ends the walk.
    """
    for number, key in enumerate(keys):
        some = slice(number * batch_queries, (number + 1) * batch_queries)
        chosen, own_starts = queries[some], starts[number * batch_queries :][: len(queries[some]) + 1]
        rows = np.concatenate([np.arange(offsets[query], offsets[query + 1]) for query in chosen])
        inputs = np.empty((len(rows), features.shape[1]), np.float32)
        standardise_rows(features, rows, shift, factor, inputs, threads)
        layers = _layers(widths, weights.astype(np.float64), last_threshold)
        own_scores = scores[own_starts[0] : own_starts[-1]]
        passed = _forward(layers, inputs.astype(np.float64), activation, dropout, int(key), rows)
        own_scores[:] = passed.scores.astype(np.float32)
        if not np.isfinite(own_scores).all():
            return number
        forces, curvature = np.empty(len(rows)), np.empty(len(rows))
        label_pair_lambdas(
            scores=own_scores,
            queries=chosen,
            starts=own_starts - own_starts[0],
            offsets=offsets,
            labels=labels,
            by_label=by_label,
            worth=worth,
            discount=discount,
            document_weights=document_weights,
            query_weights=query_weights,
            settings=settings,
            key=int(key),
            gradient=forces,
            curvature=curvature,
            cost=cost[some],
            threads=threads,
        )
        gradient = _derivatives(layers, passed, forces[:, None] / len(chosen), last_threshold) + pull * weights
        if optimizer == "sgd":
            weights -= (learning_rate * (gradient + weight_decay * weights)).astype(np.float32)
        else:
            _adam(weights, gradient, learning_rate, weight_decay, mean, square, n_steps + number + 1)
    return len(keys)


def _adam(
    weights: Float32Array,
    gradient: Float64Array,
    learning_rate: float,
    weight_decay: float,
    mean: Float32Array,
    square: Float32Array,
    step: int,
) -> None:
    mean[:] = 0.9 * mean + 0.1 * gradient
    square[:] = 0.999 * square + 0.001 * gradient**2
    unbiased_mean, unbiased_square = mean / (1.0 - 0.9**step), square / (1.0 - 0.999**step)
    change = unbiased_mean / (np.sqrt(unbiased_square) + 1e-8) + weight_decay * weights
    weights -= (learning_rate * change).astype(np.float32)


class _Passed(NamedTuple):
    """A pass through a net: what each layer was given, the slopes of the hidden units, the scores."""

    inputs: list[Float64Array]
    slopes: list[Float64Array]
    scores: Float64Array


def _forward(
    layers: _Layers, inputs: Float64Array, activation: str, dropout: float, key: int, rows: IntArray
) -> _Passed:
    passed = _Passed([inputs], [], np.empty(len(rows)))
    for number, (matrix, thresholds) in enumerate(layers):
        sums = passed.inputs[-1] @ matrix.T + thresholds
        if number + 1 == len(layers):
            return passed._replace(scores=sums[:, 0])
        output, slope = _response(activation, sums)
        kept = _kept(dropout, key, number, rows, sums.shape[1])
        passed.inputs.append(output * kept)
        passed.slopes.append(slope * kept)
    return passed


def _layers(widths: IntArray, weights: Float64Array, last_threshold: bool) -> _Layers:
    layers, at = [], 0
    for number, (n_inputs, n_units) in enumerate(pairwise(widths)):
        matrix = weights[at : at + n_inputs * n_units].reshape(n_units, n_inputs)
        at += n_inputs * n_units
        thresholds = np.zeros(n_units)
        if last_threshold or number + 2 < len(widths):
            thresholds = weights[at : at + n_units]
            at += n_units
        layers.append((matrix, thresholds))
    return layers


def _response(activation: str, z: Float64Array) -> tuple[Float64Array, Float64Array]:
    """What units give for their inputs, and how fast that changes."""
    if activation == "relu":
        return np.maximum(z, 0.0), (z > 0).astype(np.float64)
    if activation == "tanh":
        return np.tanh(z), 1.0 - np.tanh(z) ** 2
    output = 0.5 * (1.0 + np.tanh(0.5 * z))
    return output, output * (1.0 - output)


def _kept(dropout: float, key: int, layer: int, rows: IntArray, n_units: int) -> Float64Array:
    """0 for units left out, and for the others what keeps the mean as it was."""
    if dropout == 0:
        return np.ones((len(rows), n_units))
    numbers = rows[:, None] * n_units + np.arange(n_units)
    random = unit_interval(stream_of(stream_of(np.uint64(key), layer), numbers.ravel())).reshape(numbers.shape)
    return (random >= dropout) / (1.0 - dropout)


def _derivatives(layers: _Layers, passed: _Passed, forces: Float64Array, last_threshold: bool) -> Float64Array:
    found: list[Float64Array] = []
    for number in range(len(layers) - 1, -1, -1):
        matrix, _ = layers[number]
        if number < len(passed.slopes):
            forces = forces * passed.slopes[number]
        if last_threshold or number + 1 < len(layers):
            found.insert(0, forces.sum(axis=0))
        found.insert(0, (forces.T @ passed.inputs[number]).ravel())
        forces = forces @ matrix
    return np.concatenate(found)
