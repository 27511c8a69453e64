"""From data and an objective to a trained net: the loop over epochs with its watch, its memory and its checkpoint."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.nets.inputs import NetInputs
from rankwright.nets.modules import plain_net, put_weights
from rankwright.nets.pair_error import TrainingPairError
from rankwright.nets.params import DescentParams, NetShape
from rankwright.nets.runtime import torch_settings
from rankwright.nets.scoring import all_scores, takes_short_way
from rankwright.nets.training import NetTraining
from rankwright.objectives.objective import Objective
from rankwright.training.checkpoints import checkpoint_in
from rankwright.training.driver import learn
from rankwright.training.loop import History, Listener, LoopPlan
from rankwright.training.watch import watch_metric


@dataclass(frozen=True, slots=True, kw_only=True)
class NetPlan:
    """How a net is to be made and trained, and which metric says when to stop and which epoch to keep."""

    shape: NetShape
    descent: DescentParams
    loop: LoopPlan
    select: str
    device: str = "cpu"


@dataclass(frozen=True, slots=True, eq=False)
class TrainedNet:
    """The net of the epoch to keep, and the history that chose it."""

    module: nn.Module
    history: History
    n_epochs: int  # up to the one kept


def fit_net(
    data: RankingDataset,
    objective: Objective,
    plan: NetPlan,
    inputs: NetInputs,
    *,
    module: nn.Module | None = None,
    valid: RankingDataset | None = None,
    checkpoint: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    listeners: Sequence[Listener] = (),
    threads: int = 1,
) -> TrainedNet:
    """A net, or a copy of the given `module`, after it followed `objective` epoch after epoch.

    A checkpoint folder that a killed run left behind is taken up, unless its data or its `settings` were others.
    """
    _check_device(plan.device)
    rows = inputs.rows_of(data, threads=threads, device=plan.device)
    if module is None:
        module = plain_net(rows.features.shape[1], plan.shape, plan.descent.seed)
    own = copy.deepcopy(module).to(plan.device)
    torch_threads = 1 if takes_short_way(own, plan.device) else threads
    with torch_settings(torch_threads, plan.device):
        training = NetTraining(
            own,
            rows,
            data.groups,
            objective.bind(data, threads=threads),
            plan.descent,
            pair_error=TrainingPairError(data, threads=threads) if plan.descent.looks_at_error else None,
        )
        watch = None
        if valid is not None:
            watched = inputs.rows_of(valid, threads=threads, device=plan.device)
            watch = watch_metric(
                plan.select, valid.labels, valid.groups, lambda: all_scores(own, watched), threads=threads
            )
        learned = learn(
            training,
            plan.loop,
            watch=watch,
            checkpoint=checkpoint_in(checkpoint, data, valid, settings or {}),
            listeners=listeners,
        )
        put_weights(own, learned.model)
    own.eval()
    return TrainedNet(own, learned.history, learned.n_steps)


def net_scores(
    module: nn.Module, inputs: NetInputs, data: RankingDataset, *, threads: int, device: str
) -> Float64Array:
    """What a trained net says of each document of `data`."""
    torch_threads = 1 if takes_short_way(module, device) else threads
    with torch_settings(torch_threads, device):
        return all_scores(module, inputs.rows_of(data, threads=threads, device=device))


def _check_device(device: str) -> None:
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"torch cannot use device {device!r}: {str(error).splitlines()[0]}") from None
