"""What only torch can do: modules of the user's own, and other devices than the processor.

torch is an extra: this file alone imports it, and `torch_part` of plain_net.py alone imports this file.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from rankwright.arrays import Arrays, Float64Array, IntArray, arrays_with_prefix
from rankwright.container.checks import MOST, check_between, check_names, read_array
from rankwright.data.groups import Groups
from rankwright.errors import InputError
from rankwright.nets.descent import Walked, batches, check_same_form, pull_of
from rankwright.nets.inputs import FeatureRows
from rankwright.nets.params import DescentParams
from rankwright.objectives.objective import LambdaFn

ACTIVATIONS: Mapping[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "gelu": nn.GELU}
ADAM_REMEMBERS = ("exp_avg", "exp_avg_sq", "step")  # of each parameter, as torch calls it
ROWS_AT_A_TIME = 2048  # when all rows are wanted: few enough to stay in the processor's cache


class TorchNet:
    """A module of torch on a device."""

    def __init__(self, module: nn.Module, device: str = "cpu") -> None:
        try:
            torch.empty(0, device=device)
        except (RuntimeError, AssertionError) as error:
            raise InputError(f"torch cannot use device {device!r}: {str(error).splitlines()[0]}") from None
        self.module, self.device = module.to(device).eval(), device

    @property
    def n_weights(self) -> int:
        """How many numbers the module learns."""
        return sum(part.numel() for part in self.module.parameters())

    def scores(self, rows: FeatureRows) -> Float64Array:
        """A score for every row, with dropout and the like switched off."""
        scores = np.empty(rows.n_rows)
        was_training = self.module.training
        self.module.eval()
        with torch.no_grad(), torch_settings(rows.threads, self.device):
            for start in range(0, rows.n_rows, ROWS_AT_A_TIME):
                some = np.arange(start, min(rows.n_rows, start + ROWS_AT_A_TIME))
                scores[some] = self.document_scores(rows, some).cpu().numpy()
        self.module.train(was_training)
        return scores

    def document_scores(self, inputs: FeatureRows, rows: IntArray) -> torch.Tensor:
        """The module's scores of the given rows, ready to be differentiated."""
        scores = self.module(torch.from_numpy(inputs.fetch(rows)).to(self.device))
        n_rows = len(rows)
        if not isinstance(scores, torch.Tensor) or scores.shape not in ((n_rows,), (n_rows, 1)):
            found = tuple(scores.shape) if isinstance(scores, torch.Tensor) else type(scores).__name__
            raise InputError(f"the module gave {found} for {n_rows} documents; wanted ({n_rows},) or ({n_rows}, 1)")
        return scores.reshape(n_rows)

    def arrays(self) -> Arrays:
        """Copies of everything the module has learned, by name."""
        return {name: tensor.detach().cpu().numpy().copy() for name, tensor in self.module.state_dict().items()}

    def put(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Give the module what `arrays` took from one of the same kind."""
        check_same_form(arrays, self.arrays())
        self.module.load_state_dict({name: torch.from_numpy(np.array(values)) for name, values in arrays.items()})


def sequential(net: Any) -> nn.Sequential:
    """A plain net as torch's layers, with copies of its weights."""
    shape, layers = net.shape, list[nn.Module]()
    with torch_seed(0):
        for layer in net.layers[:-1]:
            layers += [nn.Linear(layer.weights.shape[1], len(layer.weights)), ACTIVATIONS[shape.activation]()]
            if shape.dropout > 0:
                layers.append(nn.Dropout(shape.dropout))
        layers.append(nn.Linear(net.layers[-1].weights.shape[1], 1, bias=shape.output_bias))
    module = nn.Sequential(*layers)
    TorchNet(module).put(net.arrays())
    return module


class TorchDescent:
    """A module in training, by torch."""

    def __init__(
        self, net: TorchNet, rows: FeatureRows, groups: Groups, lambda_fn: LambdaFn, params: DescentParams
    ) -> None:
        self.net, self.rows, self.groups, self.lambda_fn, self.params = net, rows, groups, lambda_fn, params
        rule = torch.optim.SGD if params.optimizer == "sgd" else torch.optim.AdamW
        weights, rate, decay = list(net.module.parameters()), params.learning_rate, params.weight_decay
        self.optimizer: torch.optim.Optimizer = rule(weights, lr=rate, weight_decay=decay, fused=True)

    @property
    def learning_rate(self) -> float:
        """The length of a step."""
        return float(self.optimizer.param_groups[0]["lr"])

    @learning_rate.setter
    def learning_rate(self, rate: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def walk(self, order: IntArray, keys: IntArray, seed: int) -> Walked:
        """Go through the queries in this order, with one step for each key."""
        self.net.module.train()
        with torch_settings(self.rows.threads, self.net.device), torch_seed(seed):
            return self._walk(order, keys)

    def _walk(self, order: IntArray, keys: IntArray) -> Walked:
        scores, costs = np.empty(self.groups.n_docs), [np.empty(0)]
        for queries, key in zip(batches(order, self.params.batch_queries), keys.tolist(), strict=True):
            rows = self.groups.rows_of(queries)
            found = self.net.document_scores(self.rows, rows)
            values = found.detach().cpu().numpy()
            if not np.isfinite(values).all():
                return Walked(scores, np.empty(0), is_finite=False)
            lambdas = self.lambda_fn(values, queries=queries, key=key)
            self._step(found, torch.from_numpy(lambdas.gradient).to(found) / len(queries))
            scores[rows] = values
            costs.append(lambdas.cost)
        return Walked(scores, np.concatenate(costs), is_finite=True)

    def _step(self, scores: torch.Tensor, gradient: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        scores.backward(gradient)  # type: ignore[no-untyped-call]
        if self.params.penalty > 0:
            pull = pull_of(self.params, self.groups)
            for parameter in self.net.module.parameters():
                if parameter.grad is not None:
                    parameter.grad.add_(parameter.detach(), alpha=pull)
        self.optimizer.step()

    def memory(self) -> Arrays:
        """What the optimizer remembers."""
        return {
            f"{number}.{name}": value.cpu().numpy().copy()
            for number, parameter in enumerate(self.net.module.parameters())
            for name, value in self.optimizer.state.get(parameter, {}).items()
            if isinstance(value, torch.Tensor)
        }

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue with the memory of another descent."""
        for number, parameter in enumerate(self.net.module.parameters()):
            own = arrays_with_prefix(memory, f"{number}.")
            if own:
                check_names(own.keys(), ADAM_REMEMBERS if self.params.optimizer == "adam" else ())
                for name, value in own.items():
                    read_array(own, name, value.dtype, () if name == "step" else tuple(parameter.shape))
                check_between("step", own["step"], 0, MOST)
                check_between("exp_avg_sq", own["exp_avg_sq"], 0, np.inf)
                self.optimizer.state[parameter] = {
                    name: torch.from_numpy(np.array(value)).to(parameter.device if value.ndim else "cpu")
                    for name, value in own.items()
                }


# torch's switches, set for a while and put back. Threads that use them take turns: the number of threads and the random
# numbers of torch belong to the whole process, so that two trainings at once would draw each other's numbers.


class _Turn(threading.local):
    """Whether it is this thread's turn."""

    is_here = False


_in_use, _next = threading.Lock(), threading.Lock()
_turn = _Turn()


@contextmanager
def _in_turn() -> Iterator[None]:
    """In this block no other thread of ours changes torch's switches; the thread itself may enter it again."""
    if _turn.is_here:
        yield
        return
    with _next:  # who waits here is next: a training that ends one epoch and begins another cannot overtake it
        _in_use.acquire()
    _turn.is_here = True
    try:
        yield
    finally:
        _turn.is_here = False
        _in_use.release()


@contextmanager
def torch_settings(threads: int, device: str = "cpu") -> Iterator[None]:
    """In this block torch uses so many threads and, on an accelerator, algorithms with reproducible results."""
    with _in_turn():
        before = torch.get_num_threads()
        was_deterministic = torch.are_deterministic_algorithms_enabled()
        torch.set_num_threads(threads)
        if device != "cpu":
            torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            yield
        finally:
            torch.set_num_threads(before)
            torch.use_deterministic_algorithms(was_deterministic)


@contextmanager
def torch_seed(seed: int) -> Iterator[None]:
    """In this block torch draws from `seed`; afterwards it goes on as if nothing had been drawn."""
    with _in_turn(), torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
