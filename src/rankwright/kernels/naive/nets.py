"""Twins of the kernels of plain nets: scores, gradients, and whole epochs of descent."""

from __future__ import annotations

from itertools import pairwise
from math import erf
from typing import NamedTuple

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.common import stream_of, unit_interval
from rankwright.kernels.naive.features import standardise_rows
from rankwright.kernels.naive.lambdas import label_pair_lambdas
from rankwright.kernels.records import Batch, Forces, LabelledQueries, LayeredNet, QueryWalk, StandardisedRows, StepRule


class _Passed(NamedTuple):
    """A pass through a net: what each layer was given, the slopes of the hidden units, the scores."""

    inputs: list[Float64Array]
    slopes: list[Float64Array]
    scores: Float64Array


@np.errstate(over="ignore", invalid="ignore")  # callers look at what came out
def net_scores(
    net: LayeredNet, inputs: StandardisedRows, rows: IntArray, key: int, scores: Float64Array, threads: int
) -> None:
    """Fill the score of each of `rows`; `key` is what dropout is drawn from, by row and unit."""
    scores[:] = _forward(net, inputs, rows, key).scores.astype(np.float32)


def net_gradient(
    net: LayeredNet,
    inputs: StandardisedRows,
    rows: IntArray,
    key: int,
    forces: Float32Array,
    gradient: Float32Array,
    threads: int,
) -> None:
    """Fill the derivatives with respect to the weights of the sum of all scores, each times its force."""
    gradient[:] = _derivatives(net, _forward(net, inputs, rows, key), forces.astype(np.float64))


def _forward(net: LayeredNet, inputs: StandardisedRows, rows: IntArray, key: int) -> _Passed:
    """The rows on their way through the net."""
    standardised = np.empty((len(rows), inputs.features.shape[1]), np.float32)
    standardise_rows(inputs, rows, standardised, 1)
    layers, passed = _layers(net), _Passed([standardised.astype(np.float64)], [], np.empty(len(rows)))
    for number, (matrix, thresholds) in enumerate(layers):
        sums = passed.inputs[-1] @ matrix.T + thresholds
        if number + 1 == len(layers):
            return passed._replace(scores=sums[:, 0])
        output, slope = _response(net.activation, sums)
        kept = _kept(net.dropout, key, number, rows, sums.shape[1])
        passed.inputs.append(output * kept)
        passed.slopes.append(slope * kept)
    return passed


def _derivatives(net: LayeredNet, passed: _Passed, forces_on_scores: Float64Array) -> Float64Array:
    """The derivatives of the weights, in their order, that forces on the scores of a pass lead to."""
    layers, forces, found = _layers(net), forces_on_scores[:, None], list[Float64Array]()
    for number in range(len(layers) - 1, -1, -1):
        matrix, _ = layers[number]
        if number < len(passed.slopes):
            forces = forces * passed.slopes[number]
        if net.last_threshold or number + 1 < len(layers):
            found.insert(0, forces.sum(axis=0))
        found.insert(0, (forces.T @ passed.inputs[number]).ravel())
        forces = forces @ matrix
    return np.concatenate(found)


def _layers(net: LayeredNet) -> list[tuple[Float64Array, Float64Array]]:
    """The weights and the thresholds of each layer."""
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
    if activation == "gelu":
        below = np.array([0.5 * (1.0 + erf(value / 2**0.5)) for value in z.ravel()]).reshape(z.shape)
        return z * below, below + z * np.exp(-0.5 * z * z) / (2.0 * np.pi) ** 0.5
    output = 0.5 * (1.0 + np.tanh(0.5 * z))
    return output, output * (1.0 - output)


def _kept(dropout: float, key: int, layer: int, rows: IntArray, n_units: int) -> Float64Array:
    """0 for units left out, and for the others the factor that preserves the mean."""
    if dropout == 0:
        return np.ones((len(rows), n_units))
    numbers = rows[:, None] * n_units + np.arange(n_units)
    random = unit_interval(stream_of(stream_of(np.uint64(key), layer), numbers.ravel())).reshape(numbers.shape)
    return (random >= dropout) / (1.0 - dropout)


@np.errstate(over="ignore", invalid="ignore")  # the result says whether the walk diverged
def descend_net(
    net: LayeredNet, inputs: StandardisedRows, pairs: LabelledQueries, rule: StepRule, walk: QueryWalk, threads: int
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
        passed = _forward(net, inputs, rows, key)
        scores = walk.scores[starts[0] : starts[-1]]
        scores[:] = passed.scores.astype(np.float32)
        if not np.isfinite(scores).all():
            return number
        forces = Forces(np.empty(len(rows)), np.empty(len(rows)), walk.cost[some])
        label_pair_lambdas(Batch(scores, queries, starts - starts[0], key), pairs, forces, threads)
        slope = _derivatives(net, passed, forces.gradient / len(queries))
        follow_gradient(rule._replace(n_steps=rule.n_steps + number), slope.astype(np.float32), net.weights)
    return len(walk.keys)


def follow_gradient(rule: StepRule, gradient: Float32Array, weights: Float32Array) -> None:
    """Change the weights by one step along the derivatives of the cost."""
    slope, step = gradient + rule.pull * weights.astype(np.float64), rule.n_steps + 1
    if rule.optimizer == "adam":
        rule.mean[:] = 0.9 * rule.mean + 0.1 * slope
        rule.square[:] = 0.999 * rule.square + 0.001 * slope**2
        unbiased_mean, unbiased_square = rule.mean / (1.0 - 0.9**step), rule.square / (1.0 - 0.999**step)
        slope = unbiased_mean / (np.sqrt(unbiased_square) + 1e-8)
    weights -= (rule.learning_rate * (slope + rule.weight_decay * weights)).astype(np.float32)
