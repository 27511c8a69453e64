"""How a net's weights follow an objective's forces, some queries per step.

Any module and any objective go through torch. A narrow plain net on pairs of labels goes through one kernel, which
computes scores, forces and derivatives query by query, and so reads each row of features from memory once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol, TypeGuard

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rankwright import kernels
from rankwright.arrays import Arrays, Float64Array, IntArray, named
from rankwright.container.checks import MOST, array, check_alike, check_between, check_names
from rankwright.data.groups import Groups
from rankwright.kernels.records import NarrowNet, QueryWalk, StepRule
from rankwright.nets.inputs import FeatureRows
from rankwright.nets.modules import PlainNet
from rankwright.nets.params import DescentParams
from rankwright.nets.runtime import torch_seed
from rankwright.nets.scoring import document_scores, settings_for, takes_short_way
from rankwright.objectives.objective import BoundKernel, LambdaFn, batch_of

KERNEL_ACTIVATIONS: Mapping[type[nn.Module], str] = {nn.ReLU: "relu", nn.Tanh: "tanh", nn.Sigmoid: "sigmoid"}
ADAM_REMEMBERS = ("exp_avg", "exp_avg_sq", "step")  # of each parameter, as torch calls it
DOCUMENTS_A_CALL = 100_000  # of the kernel: Ctrl-C takes effect between calls


class Walked(NamedTuple):
    """What a walk saw: the scores of all rows, each before its query's step, and the costs in the order of the walk."""

    scores: Float64Array
    costs: Float64Array
    is_finite: bool  # else the walk ended at scores that were not


class Descent(Protocol):
    """A module in training, with the memory of its optimizer."""

    learning_rate: float

    def walk(self, order: IntArray, keys: IntArray, seed: int) -> Walked:
        """Go through the queries in this order, with one step for each key, which its random numbers are drawn from.

        What a module draws by means of torch comes from `seed`.
        """

    def memory(self) -> Arrays:
        """What `take_up` needs, besides the module's weights, to continue from here."""

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue with the memory of another descent."""


def descent_of(
    module: nn.Module, rows: FeatureRows, groups: Groups, lambda_fn: LambdaFn, params: DescentParams
) -> Descent:
    """The fastest descent for this module and this λ-function."""
    if isinstance(module, PlainNet) and takes_short_way(module, rows.device) and _is_of_label_pairs(lambda_fn):
        narrow = _as_narrow(module)
        if narrow is not None:
            return _NarrowDescent(narrow, rows, groups, lambda_fn, params)
    return _TorchDescent(module, rows, groups, lambda_fn, params)


def _is_of_label_pairs(lambda_fn: LambdaFn) -> TypeGuard[BoundKernel]:
    return (
        isinstance(lambda_fn, BoundKernel)
        and lambda_fn.kernel is kernels.label_pair_lambdas
        and lambda_fn.dtype is np.float32
    )


class _TorchDescent:
    def __init__(
        self, module: nn.Module, rows: FeatureRows, groups: Groups, lambda_fn: LambdaFn, params: DescentParams
    ) -> None:
        self.module, self.rows, self.groups, self.lambda_fn, self.params = module, rows, groups, lambda_fn, params
        self.optimizer = _torch_optimizer(module, params)

    @property
    def learning_rate(self) -> float:
        return float(self.optimizer.param_groups[0]["lr"])

    @learning_rate.setter
    def learning_rate(self, rate: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def walk(self, order: IntArray, keys: IntArray, seed: int) -> Walked:
        with settings_for(self.module, self.rows), torch_seed(seed):
            return self._walk(order, keys)

    def _walk(self, order: IntArray, keys: IntArray) -> Walked:
        scores, costs = np.empty(self.groups.n_docs), []
        for queries, key in zip(_batches(order, self.params.batch_queries), keys, strict=True):
            rows = self.groups.rows_of(queries)
            found = document_scores(self.module, self.rows, rows)
            values = found.detach().cpu().numpy()
            if not np.isfinite(values).all():
                return Walked(scores, np.empty(0), is_finite=False)
            lambdas = self.lambda_fn(values, queries=queries, key=int(key))
            self._step(found, torch.from_numpy(lambdas.gradient).to(found) / len(queries))
            scores[rows] = values
            costs.append(lambdas.cost)
        return Walked(scores, np.concatenate(costs) if costs else np.empty(0), is_finite=True)

    def _step(self, scores: torch.Tensor, gradient: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        scores.backward(gradient)  # type: ignore[no-untyped-call]
        if self.params.penalty > 0:
            pull = _pull(self.params, self.groups)
            for parameter in self.module.parameters():
                if parameter.grad is not None:
                    parameter.grad.add_(parameter.detach(), alpha=pull)
        self.optimizer.step()

    def memory(self) -> Arrays:
        return {
            f"{number}.{name}": value.cpu().numpy().copy()
            for number, parameter in enumerate(self.module.parameters())
            for name, value in self.optimizer.state.get(parameter, {}).items()
            if isinstance(value, torch.Tensor)
        }

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        for number, parameter in enumerate(self.module.parameters()):
            own = named(memory, f"{number}.")
            if own:
                check_names(own.keys(), ADAM_REMEMBERS if self.params.optimizer == "adam" else ())
                for name, value in own.items():
                    array(own, name, value.dtype, () if name == "step" else tuple(parameter.shape))
                check_between("step", own["step"], 0, MOST)
                check_between("exp_avg_sq", own["exp_avg_sq"], 0, np.inf)
                self.optimizer.state[parameter] = {
                    name: torch.from_numpy(np.array(value)).to(parameter.device if value.ndim else "cpu")
                    for name, value in own.items()
                }


def _torch_optimizer(module: nn.Module, params: DescentParams) -> torch.optim.Optimizer:
    parameters = list(module.parameters())
    if params.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=params.learning_rate, weight_decay=params.weight_decay, fused=True)
    return torch.optim.AdamW(parameters, lr=params.learning_rate, weight_decay=params.weight_decay, fused=True)


def _pull(params: DescentParams, groups: Groups) -> float:
    """The factor that turns a weight into the penalty's share of a query's mean derivative."""
    return 2.0 * params.penalty / groups.n_queries


def _batches(order: IntArray, size: int) -> Iterator[IntArray]:
    for start in range(0, len(order), size):
        yield order[start : start + size]


def _as_narrow(net: PlainNet) -> NarrowNet | None:
    """The net as the kernel takes it; None if the kernel does not know its activation."""
    linear = [layer for layer in net if isinstance(layer, nn.Linear)]
    others = [layer for layer in net if not isinstance(layer, nn.Linear | nn.Dropout)]
    if any(type(layer) not in KERNEL_ACTIVATIONS for layer in others):
        return None
    return NarrowNet(
        widths=np.array([linear[0].in_features, *(layer.out_features for layer in linear)]),
        weights=_one_array_of(net),
        last_threshold=linear[-1].bias is not None,
        activation=KERNEL_ACTIVATIONS[type(others[0])] if others else "relu",
        dropout=next((layer.p for layer in net if isinstance(layer, nn.Dropout)), 0.0),
    )


class _NarrowDescent:
    def __init__(
        self,
        net: NarrowNet,
        rows: FeatureRows,
        groups: Groups,
        lambda_fn: BoundKernel,
        params: DescentParams,
    ) -> None:
        self.net, self.rows, self.groups, self.lambda_fn, self.params = net, rows, groups, lambda_fn, params
        self.learning_rate = params.learning_rate
        self.mean, self.square = np.zeros_like(net.weights), np.zeros_like(net.weights)
        self.n_steps = 0

    def walk(self, order: IntArray, keys: IntArray, seed: int) -> Walked:  # noqa: ARG002
        order, starts = batch_of(self.groups, order)
        scores, costs = np.empty(self.groups.n_docs), np.full(len(order), np.nan)
        size = self.params.batch_queries
        pairs = self.lambda_fn.arguments["pairs"]
        steps_a_call = max(1, len(keys) * DOCUMENTS_A_CALL // max(1, len(scores)))
        for first in range(0, len(keys), steps_a_call):
            some_keys = keys[first : first + steps_a_call]
            begin, end = first * size, min((first + len(some_keys)) * size, len(order))
            walk = QueryWalk(
                queries=order[begin:end],
                starts=starts[begin : end + 1],
                keys=some_keys,
                batch_queries=size,
                scores=scores,
                cost=costs[begin:end] if self.lambda_fn.has_cost else np.empty(0),
            )
            taken = kernels.descend_narrow_net(self.net, self.rows, pairs, self._rule(), walk, self.lambda_fn.threads)
            self.n_steps += taken
            if taken < len(some_keys):
                return Walked(scores, costs, is_finite=False)
        by_row = np.empty_like(scores)
        by_row[self.groups.rows_of(order)] = scores
        return Walked(by_row, costs, is_finite=True)

    def _rule(self) -> StepRule:
        return StepRule(
            optimizer=self.params.optimizer,
            learning_rate=self.learning_rate,
            weight_decay=self.params.weight_decay,
            pull=_pull(self.params, self.groups),
            mean=self.mean,
            square=self.square,
            n_steps=self.n_steps,
        )

    def memory(self) -> Arrays:
        return {"mean": self.mean.copy(), "square": self.square.copy(), "n_steps": np.array(self.n_steps)}

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        check_alike(memory, self.memory())
        check_between("square", memory["square"], 0, np.inf)
        check_between("n_steps", memory["n_steps"], 0, MOST)
        self.mean, self.square = memory["mean"].copy(), memory["square"].copy()
        self.n_steps = int(memory["n_steps"])


def _one_array_of(module: nn.Module) -> NDArray[np.float32]:
    """All weights of the module in one array, whose memory they share: changing the array changes the module."""
    parameters = list(module.parameters())
    weights = torch.cat([parameter.detach().flatten() for parameter in parameters]).numpy()
    ends = np.cumsum([parameter.numel() for parameter in parameters])
    for parameter, own in zip(parameters, np.split(weights, ends[:-1]), strict=True):
        parameter.data = torch.from_numpy(own).view_as(parameter)
    return weights
