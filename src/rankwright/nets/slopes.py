"""How a plain net's score changes with its inputs, in double precision."""

from __future__ import annotations

import numpy as np
from scipy.special import erf

from rankwright.arrays import Float64Array
from rankwright.nets.plain_net import PlainNet


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
        below = 0.5 * (1.0 + erf(sums / np.sqrt(2.0)))
        return sums * below, below + sums * np.exp(-0.5 * sums**2) / np.sqrt(2.0 * np.pi)
    output = 0.5 * (1.0 + np.tanh(0.5 * sums))
    return output, output * (1.0 - output)
