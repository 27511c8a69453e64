"""A net in training: an epoch is a step of the loop, and goes through the queries in random order, some at a time.

Everything random in epoch t is drawn from the seed and t alone, so a run that is stopped after an epoch and taken up
again, with the same weights and the same memory of its optimizer, goes on as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.errors import SettingError
from rankwright.nets.inputs import FeatureRows, named
from rankwright.nets.modules import put_weights, weights_of
from rankwright.nets.pair_error import PairError
from rankwright.nets.params import DescentParams
from rankwright.nets.runtime import torch_seed
from rankwright.nets.scoring import all_scores, document_scores
from rankwright.objectives.objective import LambdaFn

Weights = dict[str, NDArray[Any]]


class NetTraining:
    """A module, what it is trained on, and how far it has come."""

    def __init__(
        self,
        module: nn.Module,
        rows: FeatureRows,
        groups: Groups,
        lambda_fn: LambdaFn,
        params: DescentParams,
        *,
        pair_error: PairError | None = None,
    ) -> None:
        self.module, self.rows, self.groups, self.lambda_fn, self.params = module, rows, groups, lambda_fn, params
        self.pair_error = pair_error
        self.optimizer = _optimizer(module, params)
        self.n_epochs = 0
        self.mean_error: float | None = None  # of the last epoch, where the recipe looks at it
        self.is_perfect = False

    def take_step(self, epoch: int) -> bool:
        """Go through all queries once; False where the epoch before left no pair of the training data wrong."""
        if self.is_perfect:
            return False
        rng = np.random.default_rng([self.params.seed, epoch])
        order, torch_start = rng.permutation(self.groups.n_queries), int(rng.integers(2**63))
        watched = None if self.pair_error is None else np.empty(self.groups.n_docs)
        costs: list[Float64Array] = []
        self.module.train()
        with torch_seed(torch_start):
            for queries in _batches(order, self.params.batch_queries):
                rows = self.groups.rows_of(queries)
                scores, cost = self._descend(epoch, queries, rows, int(rng.integers(2**63)))
                costs.append(cost)
                if watched is not None:
                    watched[rows] = scores
        self.n_epochs = epoch + 1
        if watched is not None:
            self._look_at_error(watched, np.concatenate(costs) if costs else np.empty(0))
        return True

    def _descend(self, epoch: int, queries: IntArray, rows: IntArray, key: int) -> tuple[NDArray[Any], Float64Array]:
        """One step of the optimizer; the scores before it, and the costs."""
        scores = document_scores(self.module, self.rows, rows)
        values = scores.detach().cpu().numpy()
        if not np.isfinite(values).all():
            raise SettingError(
                f"training diverged in epoch {epoch + 1}: scores are no longer finite; lower learning_rate "
                f"({self.params.learning_rate:g}) or scale the features"
            )
        lambdas = self.lambda_fn(values, queries=queries, key=key)
        gradient = torch.from_numpy(lambdas.gradient).to(scores) / len(queries)
        self.optimizer.zero_grad()
        scores.backward(gradient)  # type: ignore[no-untyped-call]
        if self.params.penalty > 0:
            for parameter in self.module.parameters():
                if parameter.grad is not None:
                    parameter.grad.add_(parameter.detach(), alpha=2.0 * self.params.penalty / self.groups.n_queries)
        self.optimizer.step()
        return values, lambdas.cost

    def _look_at_error(self, scores: Float64Array, costs: Float64Array) -> None:
        """Halve the learning rate where the mean error rose. Scores are those that each query had on its turn."""
        assert self.pair_error is not None
        share_wrong = self.pair_error(scores)
        mean = share_wrong if np.isnan(costs).all() else float(np.nanmean(costs))
        if self.params.halve_on_rise and self.mean_error is not None and mean > self.mean_error:
            for group in self.optimizer.param_groups:
                group["lr"] *= 0.5
        self.mean_error = mean
        if self.params.stop_at_zero_error and share_wrong == 0:
            self.is_perfect = self.pair_error(all_scores(self.module, self.rows)) == 0

    def state(self) -> tuple[dict[str, Any], Weights]:
        """What `take_up` needs to go on from here."""
        header = {
            "n_epochs": self.n_epochs,
            "learning_rates": [float(group["lr"]) for group in self.optimizer.param_groups],
            "mean_error": self.mean_error,
            "is_perfect": self.is_perfect,
        }
        arrays = {f"net.{name}": values for name, values in weights_of(self.module).items()}
        for number, parameter in enumerate(self.module.parameters()):
            for name, value in self.optimizer.state.get(parameter, {}).items():
                if isinstance(value, torch.Tensor):
                    arrays[f"optimizer.{number}.{name}"] = value.cpu().numpy().copy()
        return header, arrays

    def take_up(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a saved state, as if this object had come there itself."""
        self.n_epochs, self.mean_error = header["n_epochs"], header["mean_error"]
        self.is_perfect = header["is_perfect"]
        put_weights(self.module, named(arrays, "net."))
        for group, rate in zip(self.optimizer.param_groups, header["learning_rates"], strict=True):
            group["lr"] = rate
        for number, parameter in enumerate(self.module.parameters()):
            memory = named(arrays, f"optimizer.{number}.")
            if memory:
                self.optimizer.state[parameter] = {
                    name: torch.from_numpy(np.array(value)).to(parameter.device if value.ndim else "cpu")
                    for name, value in memory.items()
                }


def _batches(order: IntArray, size: int) -> Iterator[IntArray]:
    for start in range(0, len(order), size):
        yield order[start : start + size]


def _optimizer(module: nn.Module, params: DescentParams) -> torch.optim.Optimizer:
    parameters = list(module.parameters())
    if params.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=params.learning_rate, weight_decay=params.weight_decay, fused=True)
    return torch.optim.AdamW(parameters, lr=params.learning_rate, weight_decay=params.weight_decay, fused=True)
