"""Twin of the kernel that trains a narrow net, step after step, on the forces of label pairs."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.common.counter_random import stream_of, unit_interval
from rankwright.kernels.naive.nets.first_layer import standardised
from rankwright.kernels.naive.objectives.lambdas import label_pair_lambdas
from rankwright.kernels.records import (
    Batch,
    Forces,
    LabelledQueries,
    NarrowNet,
    QueryWalk,
    StandardisedRows,
    StepRule,
)

_Layers = list[tuple[Float64Array, Float64Array]]


@np.errstate(over="ignore", invalid="ignore")  # the result says whether the walk diverged
def descend_narrow_net(
    net: NarrowNet, inputs: StandardisedRows, pairs: LabelledQueries, rule: StepRule, walk: QueryWalk, threads: int
) -> int:
    """Change the net's weights step after step, and return how many steps were taken.

    A step goes along the mean derivative of its queries; `walk.scores` and `walk.cost` are filled with the values
    before the step. A step whose scores are not finite ends the walk.
    """
    for number, key in enumerate(walk.keys.tolist()):
        some = slice(number * walk.batch_queries, (number + 1) * walk.batch_queries)
        queries = walk.queries[some]
        starts = walk.starts[some.start :][: len(queries) + 1]
        rows = np.concatenate([np.arange(*pairs.groups.offsets[query : query + 2]) for query in queries])
        layers = _layers(net)
        passed = _forward(layers, standardised(inputs, rows), net, key, rows)
        scores = walk.scores[starts[0] : starts[-1]]
        scores[:] = passed.scores.astype(np.float32)
        if not np.isfinite(scores).all():
            return number
        forces = Forces(np.empty(len(rows)), np.empty(len(rows)), walk.cost[some])
        label_pair_lambdas(Batch(scores, queries, starts - starts[0], key), pairs, forces, threads)
        _follow(rule, net.weights, _derivatives(layers, passed, forces.gradient[:, None] / len(queries), net), number)
    return len(walk.keys)


def _follow(rule: StepRule, weights: Float32Array, slope: Float64Array, steps_before: int) -> None:
    """Change the weights by one step along the derivatives of the cost."""
    gradient = slope + rule.pull * weights
    if rule.optimizer == "sgd":
        weights -= (rule.learning_rate * (gradient + rule.weight_decay * weights)).astype(np.float32)
        return
    step = rule.n_steps + steps_before + 1
    rule.mean[:] = 0.9 * rule.mean + 0.1 * gradient
    rule.square[:] = 0.999 * rule.square + 0.001 * gradient**2
    unbiased_mean, unbiased_square = rule.mean / (1.0 - 0.9**step), rule.square / (1.0 - 0.999**step)
    change = unbiased_mean / (np.sqrt(unbiased_square) + 1e-8) + rule.weight_decay * weights
    weights -= (rule.learning_rate * change).astype(np.float32)


class _Passed(NamedTuple):
    """A pass through a net: what each layer was given, the slopes of the hidden units, the scores."""

    inputs: list[Float64Array]
    slopes: list[Float64Array]
    scores: Float64Array


def _forward(layers: _Layers, inputs: Float64Array, net: NarrowNet, key: int, rows: IntArray) -> _Passed:
    passed = _Passed([inputs], [], np.empty(len(rows)))
    for number, (matrix, thresholds) in enumerate(layers):
        sums = passed.inputs[-1] @ matrix.T + thresholds
        if number + 1 == len(layers):
            return passed._replace(scores=sums[:, 0])
        output, slope = _response(net.activation, sums)
        kept = _kept(net.dropout, key, number, rows, sums.shape[1])
        passed.inputs.append(output * kept)
        passed.slopes.append(slope * kept)
    return passed


def _layers(net: NarrowNet) -> _Layers:
    layers, at, weights = [], 0, net.weights.astype(np.float64)
    for number, (n_inputs, n_units) in enumerate(pairwise(net.widths)):
        matrix = weights[at : at + n_inputs * n_units].reshape(n_units, n_inputs)
        at += n_inputs * n_units
        thresholds = np.zeros(n_units)
        if net.last_threshold or number + 2 < len(net.widths):
            thresholds = weights[at : at + n_units]
            at += n_units
        layers.append((matrix, thresholds))
    return layers


def _response(activation: str, z: Float64Array) -> tuple[Float64Array, Float64Array]:
    """The outputs of units for their inputs, and their derivatives."""
    if activation == "relu":
        return np.maximum(z, 0.0), (z > 0).astype(np.float64)
    if activation == "tanh":
        return np.tanh(z), 1.0 - np.tanh(z) ** 2
    output = 0.5 * (1.0 + np.tanh(0.5 * z))
    return output, output * (1.0 - output)


def _kept(dropout: float, key: int, layer: int, rows: IntArray, n_units: int) -> Float64Array:
    """0 for units left out, and for the others the factor that preserves the mean."""
    if dropout == 0:
        return np.ones((len(rows), n_units))
    numbers = rows[:, None] * n_units + np.arange(n_units)
    random = unit_interval(stream_of(stream_of(np.uint64(key), layer), numbers.ravel())).reshape(numbers.shape)
    return (random >= dropout) / (1.0 - dropout)


def _derivatives(layers: _Layers, passed: _Passed, forces: Float64Array, net: NarrowNet) -> Float64Array:
    found: list[Float64Array] = []
    for number in range(len(layers) - 1, -1, -1):
        matrix, _ = layers[number]
        if number < len(passed.slopes):
            forces = forces * passed.slopes[number]
        if net.last_threshold or number + 1 < len(layers):
            found.insert(0, forces.sum(axis=0))
        found.insert(0, (forces.T @ passed.inputs[number]).ravel())
        forces = forces @ matrix
    return np.concatenate(found)
