"""Documents to scores: for any module, with a faster way through our own kernel for narrow plain nets.

A narrow net spends its time fetching features, not computing with them. The kernel reads each row once, straight from
the matrix, and gives the same bits for any number of threads; the few numbers behind it are left to torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import torch
from torch import nn

from rankwright import kernels
from rankwright.arrays import Float64Array, IntArray
from rankwright.errors import InputError
from rankwright.nets.inputs import FeatureRows
from rankwright.nets.modules import PlainNet
from rankwright.nets.runtime import torch_settings

ROWS_AT_A_TIME = 2048  # when all rows are wanted: few enough to stay in the processor's cache


def takes_short_way(module: nn.Module, device: str) -> bool:
    """Whether our kernel computes the module's first layer."""
    return device == "cpu" and isinstance(module, PlainNet) and module.is_narrow


def settings_for(module: nn.Module, inputs: FeatureRows) -> AbstractContextManager[None]:
    """torch's switches while it computes the module's scores; behind our kernel there is little left to share."""
    return torch_settings(1 if takes_short_way(module, inputs.device) else inputs.threads, inputs.device)


def document_scores(module: nn.Module, inputs: FeatureRows, rows: IntArray) -> torch.Tensor:
    """The module's scores of the given rows, ready to be differentiated."""
    if takes_short_way(module, inputs.device):
        first, *others = module.children()
        scores: Any = FirstLayer.apply(first.weight, first.bias, inputs, rows)  # type: ignore[no-untyped-call]
        for layer in others:
            scores = layer(scores)
    else:
        scores = module(inputs.fetch(rows))
    n_rows = len(rows)
    if not isinstance(scores, torch.Tensor) or scores.shape not in ((n_rows,), (n_rows, 1)):
        found = tuple(scores.shape) if isinstance(scores, torch.Tensor) else type(scores).__name__
        raise InputError(f"the module gave {found} for {n_rows} documents; wanted ({n_rows},) or ({n_rows}, 1)")
    return scores.reshape(n_rows)


def all_scores(module: nn.Module, inputs: FeatureRows) -> Float64Array:
    """A score for every document, with dropout and the like switched off."""
    scores = np.empty(inputs.n_rows)
    was_training = module.training
    module.eval()
    with torch.no_grad(), settings_for(module, inputs):
        for place in _pieces(inputs.n_rows):
            rows = np.arange(place.start, place.stop)
            scores[place] = document_scores(module, inputs, rows).cpu().numpy()
    module.train(was_training)
    return scores


def _pieces(n_rows: int) -> Iterator[slice]:
    for start in range(0, n_rows, ROWS_AT_A_TIME):
        yield slice(start, min(n_rows, start + ROWS_AT_A_TIME))


class FirstLayer(torch.autograd.Function):
    """A fully connected layer on rows of the feature matrix."""

    @staticmethod
    def forward(
        context: Any, weight: torch.Tensor, bias: torch.Tensor | None, inputs: FeatureRows, rows: IntArray
    ) -> torch.Tensor:
        """The weighted sums of each row's features."""
        out = np.empty((len(rows), len(weight)), np.float32)
        kernels.first_layer(inputs, rows, weight.detach().numpy(), out, inputs.threads)
        context.inputs, context.rows, context.weight_shape = inputs, rows, tuple(weight.shape)
        sums = torch.from_numpy(out)
        return sums if bias is None else sums.add_(bias.detach())

    @staticmethod
    def backward(context: Any, forces: torch.Tensor) -> tuple[Any, ...]:
        """The derivatives with respect to the weights and the thresholds."""
        gradient = np.empty(context.weight_shape, np.float32)
        inputs = context.inputs
        kernels.first_layer_gradient(inputs, context.rows, forces.contiguous().numpy(), gradient, inputs.threads)
        of_bias = forces.sum(dim=0) if context.needs_input_grad[1] else None
        return torch.from_numpy(gradient), of_bias, None, None
