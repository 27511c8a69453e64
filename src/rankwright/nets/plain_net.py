"""Plain nets: fully connected layers from a document's features to its score, as a value of arrays.

They are trained and scored by our own kernels. torch plays no part, but a plain net can be made into a module of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Arrays, Float32Array, Float64Array
from rankwright.errors import InputError, MissingExtraError
from rankwright.kernels.records import LayeredNet
from rankwright.memory import require_weights
from rankwright.nets.descent import check_same_form
from rankwright.nets.inputs import FeatureRows
from rankwright.nets.params import NetShape

LARGEST_FIRST_WEIGHT = 0.1  # of RankNet's layers after the first, section 5.1
FIRST_WEIGHTS_STREAM = 0x6E65  # added to the seed, so that draws here do not depend on those of training


class NetLayer(NamedTuple):
    """A layer: its weights [unit, input], and what is added to each unit's weighted inputs; None where nothing is.

    Of several members, hidden layers have a scale, by which weighted inputs are multiplied, and a threshold for each
    [member, unit]; the last layer has weights [member, input] and a threshold for each member.
    """

    weights: Float32Array
    thresholds: Float32Array | None
    scales: Float32Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PlainNet:
    """A plain net.

    Attributes
    ----------
    n_inputs : int
        How many numbers the net takes of each document: its features, pieces of them, or Nyström's.
    shape : NetShape
        The widths of the hidden layers, what their units do, and the like.
    weights : array of float32
        All weights, layer after layer: [unit, input], then the scales of members, then the thresholds.
    """

    n_inputs: int
    shape: NetShape
    weights: Float32Array

    @property
    def layers(self) -> list[NetLayer]:
        """The weights of each layer, the last of which gives the score; changing them changes the net."""
        layers: list[NetLayer] = []
        at = 0
        for matrix, scales, thresholds in _forms(self.n_inputs, self.shape):
            parts: list[Float32Array | None] = []
            for form in (matrix, scales, thresholds):
                size = 0 if form is None else prod(form)
                parts.append(None if form is None else self.weights[at : at + size].reshape(form))
                at += size
            assert parts[0] is not None
            layers.append(NetLayer(parts[0], parts[2], parts[1]))
        return layers

    @property
    def n_weights(self) -> int:
        """How many numbers the net consists of."""
        return self.weights.size

    def as_record(self, dropout: float = 0.0) -> LayeredNet:
        """The net as kernels take it; its weights are shared, not copied, unless nobody may write to them."""
        widths = np.array([self.n_inputs, *self.shape.hidden, 1], np.int64)
        weights = self.weights if self.weights.flags.writeable else self.weights.copy()
        return LayeredNet(widths, weights, self.shape.output_bias, self.shape.activation, dropout, self.shape.members)

    def scores(self, rows: FeatureRows) -> Float64Array:
        """A score for every row."""
        scores = np.empty(rows.n_rows)
        kernels.net_scores(self.as_record(), rows, np.arange(rows.n_rows), 0, scores, rows.threads)
        return scores

    def arrays(self) -> Arrays:
        """Copies of the weights, by the names that files have for them: those of torch's `state_dict`."""
        modules_a_layer = 3 if self.shape.dropout > 0 else 2  # with the activation
        arrays: Arrays = {}
        for number, layer in enumerate(self.layers):
            arrays[f"{number * modules_a_layer}.weight"] = layer.weights.copy()
            if layer.scales is not None:
                arrays[f"{number * modules_a_layer}.scale"] = layer.scales.copy()
            if layer.thresholds is not None:
                arrays[f"{number * modules_a_layer}.bias"] = layer.thresholds.copy()
        return arrays

    def put(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take the weights that `arrays` gave of a net of the same shape."""
        own = self.arrays()
        check_same_form(arrays, own)
        np.concatenate([arrays[name].ravel() for name in own], out=self.weights)

    def to_torch(self) -> Any:
        """Return a `torch.nn.Sequential` with copies of the weights; it needs torch, the extra `nets`.

        It takes what the net takes: documents after scaling, or the pieces of their features. Members are written out
        side by side, in layers with so many times the units.
        """
        return torch_part("to_torch").sequential(self.unfolded())

    def unfolded(self) -> PlainNet:
        """The same net without members: each has units of its own."""
        if self.shape.members == 1:
            return self
        k, layers = self.shape.members, self.layers
        parts: list[NDArray[Any]] = []
        for number, layer in enumerate(layers[:-1]):
            assert layer.scales is not None
            assert layer.thresholds is not None
            own = layer.scales[:, :, None] * layer.weights
            parts += [own if number == 0 else block_diagonal(own), layer.thresholds]
        parts += [layers[-1].weights / np.float32(k)]
        if layers[-1].thresholds is not None:
            parts.append(np.array([layers[-1].thresholds.mean()]))
        shape = replace(self.shape, members=1, hidden=tuple(k * width for width in self.shape.hidden))
        return PlainNet(self.n_inputs, shape, np.concatenate([part.ravel() for part in parts]).astype(np.float32))


def new_net(n_inputs: int, shape: NetShape, seed: int) -> PlainNet:
    """A net whose weights are drawn from `seed`, evenly between ±1 / √inputs of a layer, or as the paper says."""
    n_weights = _n_weights(n_inputs, shape)
    require_weights(n_weights, n_inputs)
    net = PlainNet(n_inputs, shape, np.zeros(n_weights, np.float32))
    rng = np.random.default_rng([seed, FIRST_WEIGHTS_STREAM])
    for number, layer in enumerate(net.layers):
        if shape.initialisation == "paper":
            if number > 0:
                layer.weights[:] = rng.uniform(-LARGEST_FIRST_WEIGHT, LARGEST_FIRST_WEIGHT, layer.weights.shape)
            continue
        if layer.scales is not None:
            layer.scales[:] = rng.choice((-1.0, 1.0), layer.scales.shape)
        largest = 1.0 / max(1, layer.weights.shape[1]) ** 0.5
        layer.weights[:] = rng.uniform(-largest, largest, layer.weights.shape)
        if layer.thresholds is not None:
            layer.thresholds[:] = rng.uniform(-largest, largest, layer.thresholds.shape)
    return net


def net_of(n_inputs: int, shape: NetShape, arrays: Mapping[str, NDArray[Any]]) -> PlainNet:
    """The net of this shape with these weights, which come from a file; none is made unless they fit."""
    held = sum(values.size for values in arrays.values())
    if len(arrays) <= len(shape.hidden) or held != _n_weights(n_inputs, shape):
        raise InputError(
            f"a net of {n_inputs} inputs and hidden layers {list(shape.hidden)} has {_n_weights(n_inputs, shape)} "
            f"weights, and there are {held}"
        )
    net = PlainNet(n_inputs, shape, np.zeros(held, np.float32))
    net.put(arrays)
    return net


class _Forms(NamedTuple):
    """The shapes of a layer's weights, scales and thresholds; None for what it does not have."""

    weights: tuple[int, int]
    scales: tuple[int, ...] | None
    thresholds: tuple[int, ...] | None


def _forms(n_inputs: int, shape: NetShape) -> list[_Forms]:
    """The form of each layer."""
    forms, k = list[_Forms](), shape.members
    for below, n_units in pairwise([n_inputs, *shape.hidden]):
        alone = (n_units,) if k == 1 else (k, n_units)
        forms.append(_Forms((n_units, below), None if k == 1 else alone, alone))
    last = [n_inputs, *shape.hidden][-1]
    return [*forms, _Forms((k, last), None, (k,) if shape.output_bias else None)]


def _n_weights(n_inputs: int, shape: NetShape) -> int:
    return sum(prod(form) for forms in _forms(n_inputs, shape) for form in forms if form is not None)


def block_diagonal(blocks: NDArray[Any]) -> NDArray[Any]:
    """A matrix with these [block, row, column] along its diagonal."""
    n, n_rows, n_columns = blocks.shape
    whole = np.zeros((n, n_rows, n, n_columns), blocks.dtype)
    whole[np.arange(n), :, np.arange(n), :] = blocks
    return whole.reshape(n * n_rows, n * n_columns)


def input_slopes(net: PlainNet, inputs: Float64Array) -> Float64Array:
    """The gradient of the score at each row of inputs.

    Sums are NumPy's own: the same bits however many threads multiply matrices.
    """
    layers, slopes, at = net.layers, [], inputs[:, None, :]  # [document, member, input]
    for layer in layers[:-1]:
        sums = np.einsum("nmi,ui->nmu", at, layer.weights.astype(np.float64))
        if layer.scales is not None:
            sums = sums * layer.scales
        at, slope = _response(net.shape.activation, sums + layer.thresholds)
        slopes.append(slope if layer.scales is None else slope * layer.scales)
    last = layers[-1].weights.astype(np.float64) / net.shape.members
    gradient: Float64Array = np.repeat(last[None], len(inputs), axis=0)
    for layer, slope in zip(reversed(layers[:-1]), reversed(slopes), strict=True):
        gradient = gradient * slope
        if layer is layers[0]:
            gradient = gradient.sum(axis=1, keepdims=True)
        gradient = np.einsum("nmu,ui->nmi", gradient, layer.weights.astype(np.float64))
    return gradient[:, 0]


def _response(activation: str, sums: Float64Array) -> tuple[Float64Array, Float64Array]:
    """The outputs of units, and their derivatives."""
    if activation == "relu":
        return np.maximum(sums, 0.0), (sums > 0).astype(np.float64)
    if activation == "tanh":
        output = np.tanh(sums)
        return output, 1.0 - output**2
    if activation == "gelu":
        from scipy.special import erf  # which takes a while to load, and is used here alone

        below = 0.5 * (1.0 + erf(sums / np.sqrt(2.0)))
        return sums * below, below + sums * np.exp(-0.5 * sums**2) / np.sqrt(2.0 * np.pi)
    output = 0.5 * (1.0 + np.tanh(0.5 * sums))
    return output, output * (1.0 - output)


def torch_part(purpose: str) -> Any:
    """The module `torch_net`; one line says how to get torch if `purpose` needs it and it is not installed."""
    if find_spec("torch") is None:
        raise MissingExtraError(purpose, "torch", "nets")
    from rankwright.nets import torch_net

    return torch_net
