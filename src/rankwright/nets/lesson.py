"""From data and an objective to a net that is ready to be trained."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.nets.inputs import NetInputs
from rankwright.nets.model import NetModel
from rankwright.nets.modules import plain_net, put_weights
from rankwright.nets.pair_error import TrainingPairError
from rankwright.nets.params import DescentParams, NetShape
from rankwright.nets.scoring import all_scores
from rankwright.nets.training import NetTraining
from rankwright.objectives.objective import Objective
from rankwright.training.digest import digests_of
from rankwright.training.driver import Learned, Lesson


@dataclass(frozen=True, slots=True, kw_only=True)
class NetPlan:
    """How a net is to be made and trained; a `module` of the user's own takes the place of the shape."""

    shape: NetShape
    descent: DescentParams
    module: nn.Module | None = None
    device: str = "cpu"
    threads: int = 1


def net_lesson(
    data: RankingDataset,
    valid: RankingDataset | None,
    objective: Objective,
    plan: NetPlan,
    inputs: NetInputs,
    watch: Any,
) -> Lesson:
    """A lesson that trains a net, or a copy of the plan's module, for `objective`, epoch after epoch.

    `watch(documents, scores)` makes what is watched from a function of the current scores.
    """
    _check_device(plan.device)
    threads, device = plan.threads, plan.device
    rows = inputs.rows_of(data, threads=threads, device=device)
    module = plan.module
    if module is None:
        module = plain_net(rows.features.shape[1], plan.shape, plan.descent.seed)
    own = copy.deepcopy(module).to(device)
    training = NetTraining(
        own,
        rows,
        data.groups,
        objective.bind(data, threads=threads),
        plan.descent,
        pair_error=TrainingPairError(data, threads=threads) if plan.descent.looks_at_error else None,
    )
    watched = None if valid is None else inputs.rows_of(valid, threads=threads, device=device)

    def model_of(learned: Learned) -> NetModel:
        put_weights(own, learned.model)
        own.eval()
        return NetModel(own, inputs, learned.n_steps, plan.module is not None)

    return Lesson(
        learner=training,
        model=model_of,
        watch=None if watched is None else watch(valid, partial(all_scores, own, watched)),
        digests=partial(digests_of, data, valid),
    )


def _check_device(device: str) -> None:
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"torch cannot use device {device!r}: {str(error).splitlines()[0]}") from None
