"""Twins of the kernels of plain nets: scores, gradients, and whole epochs of descent."""

from __future__ import annotations

from itertools import pairwise
from math import erf, prod
from typing import NamedTuple

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.common import stream_of, unit_interval
from rankwright.kernels.naive.features import standardise_rows
from rankwright.kernels.naive.lambdas import label_pair_lambdas
from rankwright.kernels.records import Batch, Forces, LabelledQueries, LayeredNet, QueryWalk, StandardisedRows, StepRule


class _Passed(NamedTuple):
    """A pass through a net: what each layer was given, its weighted inputs, the slopes of the hidden units, the scores.

    Behind the first layer's weighted inputs, everything is [document, member, unit].
    """

    inputs: list[Float64Array]
    weighted: list[Float64Array]
    slopes: list[Float64Array]
    scores: Float64Array  # [document, member]


class _NaiveLayer(NamedTuple):
    """A layer: its weights [unit, input], where the units of the last one are members; [member, unit] or 0 and 1."""

    weights: Float64Array
    scales: Float64Array
    thresholds: Float64Array


@np.errstate(over="ignore", invalid="ignore")  # callers look at what came out
def net_scores(
    net: LayeredNet, inputs: StandardisedRows, rows: IntArray, key: int, scores: Float64Array, threads: int
) -> None:
    """Fill the score of each of `rows`, the mean of its members'; dropout is drawn from `key`, by row and unit."""
    scores[:] = _forward(net, inputs, rows, key).scores.astype(np.float32).astype(np.float64).mean(axis=1)


@np.errstate(over="ignore", invalid="ignore")
def net_member_scores(
    net: LayeredNet, inputs: StandardisedRows, rows: IntArray, key: int, scores: Float64Array, threads: int
) -> None:
    """Fill the score of each of `rows` by every member; those of a row stand together."""
    scores[:] = _forward(net, inputs, rows, key).scores.astype(np.float32).ravel()


def net_inputs(inputs: StandardisedRows, rows: IntArray, out: Float32Array) -> None:
    """Fill a row of `out` with the inputs that the pieces make of each of `rows`."""
    assert inputs.pieces is not None
    standardised = np.empty((len(rows), inputs.features.shape[1]), np.float32)
    standardise_rows(inputs, rows, standardised, 1)
    is_missing = np.isnan(inputs.features[rows])
    columns = list(np.where(inputs.pieces.categorical, np.float32(0), standardised).T / inputs.pieces.height)
    for feature, (start, stop) in enumerate(pairwise(inputs.pieces.starts.tolist())):
        knots, own = inputs.pieces.knots[start:stop], standardised[:, feature]
        counted = ~is_missing[:, feature] if inputs.pieces.missing[feature] else np.ones(len(rows), np.bool_)
        if inputs.pieces.categorical[feature]:
            category = (own[:, None] >= knots).sum(axis=1)
            columns += [(category == one) & counted for one in range(len(knots) + 1)]
        else:
            for low, high in pairwise(knots):
                columns.append(np.clip((own - low) * (np.float32(1) / (high - low)), 0, 1) * counted)
        if inputs.pieces.missing[feature]:
            columns.append(is_missing[:, feature])
    out[:] = inputs.pieces.height * np.array(columns).reshape(out.shape[::-1]).T


def net_gradient(
    net: LayeredNet,
    inputs: StandardisedRows,
    rows: IntArray,
    key: int,
    forces: Float32Array,
    gradient: Float32Array,
    threads: int,
) -> None:
    """Fill the derivatives with respect to the weights of the sum of all members' scores, each times its force."""
    forces_of_members = forces.astype(np.float64).reshape(len(rows), net.n_members)
    gradient[:] = _derivatives(net, _forward(net, inputs, rows, key), forces_of_members)


def _forward(net: LayeredNet, inputs: StandardisedRows, rows: IntArray, key: int) -> _Passed:
    """The rows on their way through the net."""
    layers, first = _layers(net), np.empty((len(rows), int(net.widths[0])), np.float32)
    if inputs.pieces is None:
        standardise_rows(inputs, rows, first, 1)
    else:
        net_inputs(inputs, rows, first)
    given = np.repeat(first.astype(np.float64)[:, None, :], net.n_members, axis=1)
    passed = _Passed([given], [], [], np.empty((len(rows), net.n_members)))
    for number, layer in enumerate(layers[:-1]):
        weighted = passed.inputs[-1] @ layer.weights.T
        output, slope = _response(net.activation, weighted * layer.scales + layer.thresholds)
        kept = _kept(net.dropout, key, number, rows, output.shape)
        passed.inputs.append(output * kept)
        passed.weighted.append(weighted)
        passed.slopes.append(slope * kept)
    scores = (passed.inputs[-1] * layers[-1].weights).sum(axis=2) + layers[-1].thresholds
    return passed._replace(scores=scores)


def _derivatives(net: LayeredNet, passed: _Passed, forces_on_scores: Float64Array) -> Float64Array:
    """The derivatives of the weights, in their order, that forces on the scores of a pass lead to."""
    layers, last = _layers(net), forces_on_scores[:, :, None]
    found = [(last * passed.inputs[-1]).sum(axis=0).ravel()]
    if net.last_threshold:
        found.append(forces_on_scores.sum(axis=0))
    forces = last * layers[-1].weights
    for number in range(len(layers) - 2, -1, -1):
        layer, given = layers[number], passed.inputs[number]
        forces = forces * passed.slopes[number]
        found.insert(0, forces.sum(axis=0).ravel())
        if net.n_members > 1:
            found.insert(0, (forces * passed.weighted[number]).sum(axis=0).ravel())
        forces = forces * layer.scales
        found.insert(0, np.einsum("dmu,dmi->ui", forces, given).ravel())
        forces = forces @ layer.weights
    return np.concatenate(found)


def _layers(net: LayeredNet) -> list[_NaiveLayer]:
    """The weights, scales and thresholds of each layer."""
    layers, at, weights = [], 0, net.weights.astype(np.float64)

    def take(*shape: int) -> Float64Array:
        nonlocal at
        taken = weights[at : at + prod(shape)].reshape(shape)
        at += taken.size
        return taken

    for n_inputs, n_units in pairwise(net.widths.tolist()[:-1]):
        matrix = take(n_units, n_inputs)
        scales = take(net.n_members, n_units) if net.n_members > 1 else np.ones((1, n_units))
        layers.append(_NaiveLayer(matrix, scales, take(net.n_members, n_units)))
    matrix = take(net.n_members, int(net.widths[-2]))
    thresholds = take(net.n_members) if net.last_threshold else np.zeros(net.n_members)
    return [*layers, _NaiveLayer(matrix, np.ones(0), thresholds)]


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


def _kept(dropout: float, key: int, layer: int, rows: IntArray, shape: tuple[int, ...]) -> Float64Array:
    """0 for units left out, and for the others the factor that preserves the mean: [document, member, unit]."""
    if dropout == 0:
        return np.ones(shape)
    _, n_members, n_units = shape
    members = rows[:, None] * n_members + np.arange(n_members)
    numbers = members[:, :, None] * n_units + np.arange(n_units)
    random = unit_interval(stream_of(stream_of(np.uint64(key), layer), numbers.ravel())).reshape(shape)
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
        scores = passed.scores.astype(np.float32).astype(np.float64)
        walk.scores[starts[0] : starts[-1]] = scores.mean(axis=1)
        if not np.isfinite(scores).all():
            return number
        costs, forces = np.empty((net.n_members, len(walk.cost[some]))), np.empty(scores.shape)
        for member in range(net.n_members):
            found = Forces(np.empty(len(rows)), np.empty(len(rows)), costs[member])
            batch = Batch(np.ascontiguousarray(scores[:, member]), queries, starts - starts[0], key)
            label_pair_lambdas(batch, pairs, found, threads)
            forces[:, member] = found.gradient / (len(queries) * net.n_members)
        walk.cost[some] = costs.mean(axis=0)
        slope = _derivatives(net, passed, forces)
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
