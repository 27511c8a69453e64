"""A net in training: an epoch is a step of the loop, and goes through the queries in random order, some at a time.

Everything random in epoch t is drawn from the seed and t alone, so a run that is stopped after an epoch and resumed,
with the same weights and the same memory of its optimizer, goes on as if it had never stopped.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float64Array, arrays_with_prefix
from rankwright.container.checks import check_finite, read_array
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, SettingError
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists
from rankwright.metrics.metric_table import parse_metric
from rankwright.nets.descent import Descent, Net
from rankwright.nets.inputs import FeatureRows, NetInputs
from rankwright.nets.params import DescentParams, NetRecipe, NetShape
from rankwright.nets.plain_descent import PlainDescent
from rankwright.nets.plain_net import new_net, torch_part
from rankwright.objectives.objective import LambdaFn, Objective

AVERAGE_OF_LAST = 4.0  # of all epochs so far about one in five: later weights count more
PAIR_ERROR = parse_metric("pair-error:standard(ties=averaged, unjudged=skip)")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetPlan:
    """How a net is to be made and trained; a `module` of the user's own takes the place of the shape."""

    recipe: NetRecipe  # what the shape and the descent were made from
    shape: NetShape
    descent: DescentParams
    module: Any = None  # a torch.nn.Module
    device: str = "cpu"
    threads: int = 1


class NetTraining:
    """A net, what it is trained on, and how far it has come."""

    def __init__(self, data: RankingDataset, objective: Objective, plan: NetPlan, inputs: NetInputs) -> None:
        self.data, self.params, self.threads = data, plan.descent, plan.threads
        self.rows = inputs.rows_of(data, threads=plan.threads)
        lambda_fn = objective.bind(data, threads=plan.threads)
        self.walking, self.descent = _net_and_descent(plan, self.rows, data, lambda_fn)
        self.net = copy.deepcopy(self.walking) if self.params.averages else self.walking
        self.mean_error: float | None = None  # of the last epoch, where the recipe looks at it
        self.is_perfect = False

    def take_step(self, epoch: int) -> bool:
        """Go through all queries once; False where the epoch before left no pair of the training data wrong."""
        if self.is_perfect:
            return False
        rng = np.random.default_rng([self.params.seed, epoch])
        order, module_seed = rng.permutation(self.data.n_queries), int(rng.integers(2**63))
        n_steps = -(-self.data.n_queries // self.params.batch_queries)
        walked = self.descent.walk(order, rng.integers(2**63, size=n_steps), module_seed)
        if not (walked.is_finite and self._has_finite_weights()):
            self._refuse_overflow()
            raise SettingError(
                f"training diverged in epoch {epoch + 1}: scores or weights are no longer finite; lower learning_rate "
                f"({self.params.learning_rate:g}) or scale the features"
            )
        if self.params.averages:
            self._average(epoch)
        if self.params.halve_on_rise or self.params.stop_at_zero_error:
            self._look_at_error(walked.scores, walked.costs)
        return True

    def _average(self, epoch: int) -> None:
        """Draw the averaged weights towards the present ones: the last fifth of all epochs counts most.

        Shamir and Zhang (2013) show what such averages are worth; they do not ask how many epochs will follow.
        """
        share = np.float32((AVERAGE_OF_LAST + 1.0) / (AVERAGE_OF_LAST + 1.0 + epoch))
        before, now = self.net.arrays(), self.walking.arrays()
        self.net.put({name: values + share * (now[name] - values) for name, values in before.items()})

    def _refuse_overflow(self) -> None:
        """Raise where a feature, and not what was learned, led beyond all numbers."""
        given, standard = self.rows.features, (self.rows.shift, self.rows.factor)
        whole = FeatureRows(given, standard, threads=self.threads)  # of pieces, only these can be too large
        infinite = np.argwhere(np.isinf(whole.fetch(np.arange(len(given)))))
        if len(infinite) and given is self.data.features:  # not those that a kernel made of them
            row, feature = infinite[0]
            raise InputError(
                f"feature {self.data.names[feature]} has the value {given[row, feature]:g}, which leads beyond single "
                f"precision where it is scaled: correct the value, or leave it missing"
            )

    def _has_finite_weights(self) -> bool:
        """Whether the last step, whose scores nobody has seen yet, left weights that a model can have."""
        arrays = self.walking.arrays().values()
        return all(bool(np.isfinite(values).all()) for values in arrays if values.dtype.kind == "f")

    def _look_at_error(self, scores: Float64Array, costs: Float64Array) -> None:
        """Halve the learning rate where the mean error rose. Scores are those that each query had on its turn."""
        share_wrong = pair_error(self.data, scores, threads=self.threads)
        mean = share_wrong if np.isnan(costs).all() else float(np.nanmean(costs))
        if self.params.halve_on_rise and self.mean_error is not None and mean > self.mean_error:
            self.descent.learning_rate *= 0.5
        self.mean_error = mean
        if self.params.stop_at_zero_error and share_wrong == 0:
            self.is_perfect = pair_error(self.data, self.net.scores(self.rows), threads=self.threads) == 0

    def model(self) -> Arrays:
        """The weights of the net, averaged where the recipe says so."""
        return self.net.arrays()

    def memory(self) -> Arrays:
        """The weights, averages of them, what the optimizer remembers, and the last mean error (NaN: none)."""
        seen = [self.descent.learning_rate, np.nan if self.mean_error is None else self.mean_error, self.is_perfect]
        arrays = {f"net.{name}": values for name, values in self.walking.arrays().items()}
        if self.params.averages:
            arrays |= {f"average.{name}": values for name, values in self.net.arrays().items()}
        arrays |= {f"optimizer.{name}": values for name, values in self.descent.memory().items()}
        return arrays | {"seen": np.array(seen, np.float64)}

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a memory, as if this object had got there itself."""
        learning_rate, mean_error, is_perfect = read_array(memory, "seen", np.float64, (3,), finite=False).tolist()
        if not 0 < learning_rate <= self.params.learning_rate or np.isinf(mean_error):
            raise InputError(f"the learning rate was {learning_rate} and the mean error {mean_error}, which cannot be")
        for name, values in memory.items():
            if name != "seen":
                check_finite(name, values)
        self.mean_error, self.is_perfect = None if np.isnan(mean_error) else mean_error, bool(is_perfect)
        self.descent.learning_rate = learning_rate
        self.walking.put(arrays_with_prefix(memory, "net."))
        if self.params.averages:
            self.net.put(arrays_with_prefix(memory, "average."))
        self.descent.take_up(arrays_with_prefix(memory, "optimizer."))


def _net_and_descent(
    plan: NetPlan, rows: FeatureRows, data: RankingDataset, lambda_fn: LambdaFn
) -> tuple[Net, Descent]:
    """The net to train, and how: by our kernels, or by torch where there is a module or a device for it."""
    if plan.module is None and plan.device == "cpu":
        plain = new_net(rows.n_inputs, plan.shape, plan.descent.seed)
        return plain, PlainDescent(plain, rows, data.groups, lambda_fn, plan.descent)
    if plan.module is None:
        torch = torch_part(f"device {plan.device!r}")
        module = new_net(rows.n_inputs, plan.shape, plan.descent.seed).to_torch()
    else:
        torch, module = torch_part("a module of your own"), copy.deepcopy(plan.module)
    net = torch.TorchNet(module, plan.device)
    return net, torch.TorchDescent(net, rows, data.groups, lambda_fn, plan.descent)


def pair_error(data: RankingDataset, scores: Float64Array, *, threads: int) -> float:
    """The share of pairs that scores put the wrong way round: given as preferences, else those of different labels.

    Equal scores are wrong by half. Pairs with target ½ have no right order and do not count. Without pairs it is 0.
    """
    pairs = data.preferences
    if pairs is None:
        assert data.labels is not None
        lists = ScoredLists(scores=scores, labels=data.labels, groups=data.groups)
        result = evaluate_lists(lists, [PAIR_ERROR], PAIR_ERROR.convention, threads=threads)
        mean = next(iter(result.results.values())).mean
        return 0.0 if np.isnan(mean) else mean
    counted = pairs.probability != 0.5
    if not counted.any():
        return 0.0
    gap = (scores[pairs.better] - scores[pairs.worse])[counted] * np.sign(pairs.probability[counted] - 0.5)
    return float(np.mean((gap < 0) + 0.5 * (gap == 0)))
