"""From data and an objective to a net that is ready to be trained."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.nets.descent import Descent, Net
from rankwright.nets.extra import torch_part
from rankwright.nets.inputs import FeatureRows, NetInputs
from rankwright.nets.model import NetModel
from rankwright.nets.pair_error import TrainingPairError
from rankwright.nets.params import DescentParams, NetRecipe, NetShape
from rankwright.nets.plain_descent import PlainDescent
from rankwright.nets.plain_net import new_net
from rankwright.nets.training import NetTraining
from rankwright.objectives.objective import LambdaFn, Objective
from rankwright.training.digest import digests_of
from rankwright.training.driver import Learned, Lesson
from rankwright.training.watch import Watches


@dataclass(frozen=True, slots=True, kw_only=True)
class NetPlan:
    """How a net is to be made and trained; a `module` of the user's own takes the place of the shape."""

    recipe: NetRecipe  # what the shape and the descent were made from
    shape: NetShape
    descent: DescentParams
    module: Any = None  # a torch.nn.Module
    device: str = "cpu"
    threads: int = 1


def net_lesson(
    data: RankingDataset,
    valid: RankingDataset | None,
    objective: Objective,
    plan: NetPlan,
    inputs: NetInputs,
    watches: Callable[[Callable[[], Float64Array]], Watches],
) -> Lesson:
    """A lesson that trains a net, or a copy of the plan's module, for `objective`, epoch after epoch.

    `watches` makes what is watched from a function that gives the current scores of `valid`.
    """
    threads = plan.threads
    rows = inputs.rows_of(data, threads=threads)
    lambda_fn = objective.bind(data, threads=threads)
    net, descent = _net_in_training(plan, rows, data, lambda_fn)
    training = NetTraining(
        net,
        rows,
        data.groups,
        descent,
        plan.descent,
        pair_error=TrainingPairError(data, threads=threads) if plan.descent.looks_at_error else None,
    )
    watched = None if valid is None else inputs.rows_of(valid, threads=threads)

    def model_of(learned: Learned) -> NetModel:
        trained: Net = (
            net if plan.module is not None else new_net(rows.features.shape[1], plan.shape, plan.descent.seed)
        )
        trained.put(learned.model)
        return NetModel(trained, inputs, learned.n_steps, plan.recipe, plan.device)

    watching = Watches() if watched is None else watches(partial(net.scores, watched))
    return Lesson(
        learner=training,
        model=model_of,
        watch=watching.first,
        others=watching.others,
        digests=partial(digests_of, data, valid),
    )


def _net_in_training(
    plan: NetPlan, rows: FeatureRows, data: RankingDataset, lambda_fn: LambdaFn
) -> tuple[Net, Descent]:
    """The net to train, and how: by our kernels, or by torch where there is a module or a device for it."""
    if plan.module is None and plan.device == "cpu":
        plain = new_net(rows.features.shape[1], plan.shape, plan.descent.seed)
        return plain, PlainDescent(plain, rows, data.groups, lambda_fn, plan.descent)
    if plan.module is None:
        torch = torch_part(f"device {plan.device!r}")
        module = new_net(rows.features.shape[1], plan.shape, plan.descent.seed).to_torch()
    else:
        torch, module = torch_part("a module of your own"), copy.deepcopy(plan.module)
    net = torch.TorchNet(module, plan.device)
    return net, torch.TorchDescent(net, rows, data.groups, lambda_fn, plan.descent)
