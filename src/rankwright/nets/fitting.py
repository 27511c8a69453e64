"""From data and an objective to a trained net: the loop over epochs with its watch, its memory and its checkpoint."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, require
from rankwright.nets.inputs import FeatureRows, NetInputs, named
from rankwright.nets.modules import plain_net, put_weights, weights_of
from rankwright.nets.pair_error import PairError
from rankwright.nets.params import DescentParams, NetShape
from rankwright.nets.runtime import torch_settings
from rankwright.nets.scoring import all_scores, takes_short_way
from rankwright.nets.training import NetTraining, Weights
from rankwright.objectives.objective import Objective
from rankwright.training.checkpoints import Checkpoint
from rankwright.training.digest import data_digest, run_identity
from rankwright.training.loop import History, Listener, LoopPlan, Progress, run_loop
from rankwright.training.watching import watch_metric


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
    require(plan.loop.patience is None or valid is not None, "early_stopping needs validation data: give valid=…")
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
            pair_error=PairError(data, threads=threads) if plan.descent.looks_at_error else None,
        )
        watched = None if valid is None else inputs.rows_of(valid, threads=threads, device=plan.device)
        return _run(training, plan, data, valid, watched, checkpoint, settings or {}, listeners, threads)


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


class _Keeper:
    """Remembers the weights to keep: those of the best epoch, or of the last where nothing is watched."""

    def __init__(self, module: nn.Module, history: Callable[[], History]) -> None:
        self.module, self.history = module, history
        self.weights: Weights | None = None

    def __call__(self, progress: Progress) -> None:
        if progress.value is None or self.history().best_step == progress.step:
            self.weights = weights_of(self.module)


def _run(
    training: NetTraining,
    plan: NetPlan,
    data: RankingDataset,
    valid: RankingDataset | None,
    watched: FeatureRows | None,
    checkpoint: Path | None,
    settings: Mapping[str, Any],
    listeners: Sequence[Listener],
    threads: int,
) -> TrainedNet:
    history = History()
    keeper = _Keeper(training.module, lambda: history)
    listening: list[Listener] = [keeper, *listeners]
    if checkpoint is not None:
        identity = run_identity(data_digest(data), None if valid is None else data_digest(valid), settings)
        saver = Checkpoint(checkpoint, identity, lambda: _state(training, keeper, history))
        saved = saver.load()
        if saved is not None:
            history = History.from_dict(saved.header["history"])
            training.take_up(saved.header, saved.arrays)
            keeper.weights = named(saved.arrays, "kept.")
        listening.append(saver)
    watch = None
    if valid is not None and watched is not None:
        watch = watch_metric(
            plan.select, valid.labels, valid.groups, lambda: all_scores(training.module, watched), threads=threads
        )
    run_loop(
        training.take_step, plan.loop, watch=watch, history=history, first_step=training.n_epochs, listeners=listening
    )
    if keeper.weights is None:
        raise KeyboardInterrupt  # before the first epoch ended: there is nothing to keep
    put_weights(training.module, keeper.weights)
    training.module.eval()
    best = history.best_step
    return TrainedNet(training.module, history, training.n_epochs if best is None else best + 1)


def _state(training: NetTraining, keeper: _Keeper, history: History) -> tuple[dict[str, Any], Weights]:
    header, arrays = training.state()
    kept = {f"kept.{name}": values for name, values in (keeper.weights or {}).items()}
    return header | {"history": history.to_dict()}, arrays | kept
