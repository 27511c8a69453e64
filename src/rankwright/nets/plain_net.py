"""Plain nets: fully connected layers from a document's features to its score, as a value of arrays.

They are trained and scored by our own kernels. torch plays no part, but a plain net can be made into a module of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
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
    """A layer: its weights [unit, input], and what is added to each unit's weighted inputs; None where nothing is."""

    weights: Float32Array
    thresholds: Float32Array | None


@dataclass(frozen=True, slots=True, eq=False)
class PlainNet:
    """A plain net.

    Attributes
    ----------
    n_inputs : int
        How many numbers the net takes of each document: its features, or Nyström's.
    shape : NetShape
        The widths of the hidden layers, what their units do, and the like.
    weights : array of float32
        All weights, layer after layer: [unit, input], then the thresholds.
    """

    n_inputs: int
    shape: NetShape
    weights: Float32Array

    @property
    def layers(self) -> list[NetLayer]:
        """The weights of each layer, the last of which gives the score; changing them changes the net."""
        layers: list[NetLayer] = []
        at = 0
        for n_units, n_inputs in _sizes(self.n_inputs, self.shape):
            matrix = self.weights[at : at + n_units * n_inputs].reshape(n_units, n_inputs)
            at += matrix.size
            thresholds = None
            if len(layers) < len(self.shape.hidden) or self.shape.output_bias:
                thresholds = self.weights[at : at + n_units]
                at += n_units
            layers.append(NetLayer(matrix, thresholds))
        return layers

    @property
    def n_weights(self) -> int:
        """How many numbers the net consists of."""
        return self.weights.size

    def as_record(self, dropout: float = 0.0) -> LayeredNet:
        """The net as kernels take it; its weights are shared, not copied, unless nobody may write to them."""
        widths = np.array([self.n_inputs, *self.shape.hidden, 1], np.int64)
        weights = self.weights if self.weights.flags.writeable else self.weights.copy()
        return LayeredNet(widths, weights, self.shape.output_bias, self.shape.activation, dropout)

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

        It takes what the net takes: documents after scaling.
        """
        return torch_part("to_torch").sequential(self)


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


def _sizes(n_inputs: int, shape: NetShape) -> list[tuple[int, int]]:
    """The units and inputs of each layer."""
    return [(n_units, below) for below, n_units in pairwise([n_inputs, *shape.hidden, 1])]


def _n_weights(n_inputs: int, shape: NetShape) -> int:
    thresholds = sum(shape.hidden) + shape.output_bias
    return sum(n_units * below for n_units, below in _sizes(n_inputs, shape)) + thresholds


def input_slopes(net: PlainNet, inputs: Float64Array) -> Float64Array:
    """The gradient of the score at each row of inputs.

    Sums are NumPy's own: the same bits however many threads multiply matrices.
    """
    layers, slopes, at = net.layers, [], inputs
    for layer in layers[:-1]:
        sums = np.einsum("ni,ui->nu", at, layer.weights.astype(np.float64))
        if layer.thresholds is not None:
            sums += layer.thresholds
        at, slope = _response(net.shape.activation, sums)
        slopes.append(slope)
    gradient = np.repeat(layers[-1].weights.astype(np.float64), len(inputs), axis=0)
    for layer, slope in zip(reversed(layers[:-1]), reversed(slopes), strict=True):
        gradient = np.einsum("nu,ui->ni", gradient * slope, layer.weights.astype(np.float64))
    return gradient


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
