"""Plain nets, and the arrays that any module's weights are kept as."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rankwright.errors import InputError
from rankwright.nets.params import NetShape
from rankwright.nets.runtime import torch_seed

ACTIVATIONS: Mapping[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
    "gelu": nn.GELU,
}
LARGEST_FIRST_WEIGHT = 0.1  # of RankNet's layers after the first, section 5.1
WIDEST_NARROW = 64  # units per layer: beyond it a general matrix product is faster than our kernel


class PlainNet(nn.Sequential):
    """Fully connected layers with one output."""

    @property
    def is_narrow(self) -> bool:
        """Whether nearly all the work is to bring the features into the first layer."""
        return all(layer.out_features <= WIDEST_NARROW for layer in self if isinstance(layer, nn.Linear))


def plain_net(n_features: int, shape: NetShape, seed: int) -> PlainNet:
    """A net of fully connected layers with one output, its weights drawn from `seed`."""
    layers: list[nn.Module] = []
    width = n_features
    with torch_seed(seed):
        for next_width in shape.hidden:
            layers += [nn.Linear(width, next_width), ACTIVATIONS[shape.activation]()]
            if shape.dropout > 0:
                layers.append(nn.Dropout(shape.dropout))
            width = next_width
        layers.append(nn.Linear(width, 1, bias=shape.output_bias))
        if shape.initialisation == "paper":
            _start_as_the_paper(layers)
    return PlainNet(*layers)


def plain_net_of(n_features: int, shape: NetShape, weights: Mapping[str, NDArray[Any]]) -> PlainNet:
    """The net of this shape with these weights, which come from a file: it is made once they are known to fit it."""
    if len(weights) <= len(shape.hidden):
        raise InputError(f"a net of {len(shape.hidden)} hidden layers has more than {len(weights)} arrays of weights")
    _check_shapes(weights, _plain_shapes(n_features, shape))
    module = plain_net(n_features, shape, seed=0)
    put_weights(module, weights)
    return module


def _plain_shapes(n_features: int, shape: NetShape) -> dict[str, tuple[int, ...]]:
    """The shapes of a plain net's weights, by the names that torch gives them."""
    modules_a_layer = 3 if shape.dropout > 0 else 2  # with the activation
    shapes: dict[str, tuple[int, ...]] = {}
    for number, (below, width) in enumerate(pairwise([n_features, *shape.hidden, 1])):
        shapes[f"{number * modules_a_layer}.weight"] = (width, below)
        if number < len(shape.hidden) or shape.output_bias:
            shapes[f"{number * modules_a_layer}.bias"] = (width,)
    return shapes


def _start_as_the_paper(layers: list[nn.Module]) -> None:
    linear = [layer for layer in layers if isinstance(layer, nn.Linear)]
    for number, layer in enumerate(linear):
        if number == 0:
            nn.init.zeros_(layer.weight)
        else:
            nn.init.uniform_(layer.weight, -LARGEST_FIRST_WEIGHT, LARGEST_FIRST_WEIGHT)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)


def weights_of(module: nn.Module) -> dict[str, NDArray[Any]]:
    """Copies of everything the module has learned, by name."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()}


def put_weights(module: nn.Module, weights: Mapping[str, NDArray[Any]]) -> None:
    """Give the module the weights that `weights_of` took from one of the same kind."""
    own = module.state_dict()
    _check_shapes(weights, {name: tuple(tensor.shape) for name, tensor in own.items()})
    tensors = {name: torch.from_numpy(np.array(values)) for name, values in weights.items()}
    converted = [name for name, tensor in tensors.items() if tensor.dtype != own[name].dtype]
    if converted:
        raise InputError(f"the module is not the one that was saved: {', '.join(converted)} are of other types")
    module.load_state_dict(tensors)


def _check_shapes(weights: Mapping[str, NDArray[Any]], shapes: Mapping[str, tuple[int, ...]]) -> None:
    differing = sorted(shapes.keys() ^ weights.keys()) or [
        name for name in shapes if shapes[name] != weights[name].shape
    ]
    if differing:
        raise InputError(f"the module is not the one that was saved: {', '.join(differing)} differ")
