"""From binned data and an objective to trees: the boosting loop with its watch, its memory and its checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float64Array, IntArray
from rankwright.errors import InputError, require
from rankwright.objectives.objective import Objective
from rankwright.training.checkpoints import Checkpoint
from rankwright.training.digest import data_digest, run_identity
from rankwright.training.loop import History, Listener, LoopPlan, Watch, run_loop
from rankwright.training.watch import watch_metric
from rankwright.trees.binned import BinnedDataset
from rankwright.trees.boosting import Boosting, BoostingParams
from rankwright.trees.forest import Forest
from rankwright.trees.forest_arrays import forest_from_arrays, forest_to_arrays


@dataclass(frozen=True, slots=True)
class ForestPlan:
    """How a forest is to be grown, and which metric says when to stop and which trees to keep."""

    boosting: BoostingParams
    loop: LoopPlan
    select: str


@dataclass(frozen=True, slots=True)
class GrownForest:
    """Every tree that was grown, and the history that says how many to keep."""

    forest: Forest
    history: History

    def best(self) -> Forest:
        """The trees to keep: those up to the best step, all where nothing was watched."""
        best = self.history.best_step
        return self.forest if best is None else self.forest.truncated(best + 1)


def fit_forest(
    data: BinnedDataset,
    objective: Objective,
    plan: ForestPlan,
    *,
    valid: BinnedDataset | None = None,
    queries: IntArray | None = None,
    watch_others: bool = False,
    base_score: float = 0.0,
    earlier: GrownForest | None = None,
    checkpoint: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    listeners: Sequence[Listener] = (),
    threads: int = 1,
) -> GrownForest:
    """The trees that `objective` asks for, one step after another.

    Documents start from `base_score` plus the initial scores of the data; neither is part of the trees. `earlier`
    trees are continued, and so are those of a checkpoint folder that a killed run left behind, unless its data or its
    `settings` were others. `queries`, in ascending order, are those to train on (default: all); with `watch_others` the
    rest of them take the place of `valid`.
    """
    require(
        plan.loop.patience is None or valid is not None or watch_others,
        "early_stopping needs validation data: give valid=…",
    )
    _check_starts(data, valid)
    boosting = Boosting(
        data,
        objective.bind(data, threads=threads),
        plan.boosting,
        initial_scores=_start_of(data, base_score),
        watched=valid,
        watched_initial_scores=None if valid is None else _start_of(valid, base_score),
        queries=queries,
        score_all=watch_others,
        threads=threads,
    )
    history = History() if earlier is None else earlier.history.continued()
    forest = None if earlier is None else earlier.forest
    listening = list(listeners)
    if checkpoint is not None:
        watched_digest = None if valid is None else binned_digest(valid)
        identity = run_identity(binned_digest(data), watched_digest, settings or {})
        file = Checkpoint(checkpoint, identity)
        saved = file.load()
        if saved is not None:
            history, forest = History.from_dict(saved.header["history"]), forest_from_arrays(saved.arrays)
        listening.append(file.saver(lambda: _state(boosting, history)))
    if forest is not None:
        boosting.take_up(forest)
    watch = None
    if watch_others:
        watch = _watch_others(boosting, plan.select, threads)
    elif valid is not None:
        watch = watch_metric(plan.select, valid.labels, valid.groups, lambda: boosting.watched_scores, threads=threads)
    run_loop(
        boosting.take_step, plan.loop, watch=watch, history=history, first_step=len(boosting.trees), listeners=listening
    )
    return GrownForest(boosting.forest(), history)


def _watch_others(boosting: Boosting, select: str, threads: int) -> Watch:
    """A watch over the queries that are not trained on."""
    assert boosting.queries is not None
    data = boosting.data
    others = np.setdiff1d(np.arange(data.n_queries), boosting.queries)
    held_out, rows = data.documents.take_queries(others), data.groups.rows_of(others)
    return watch_metric(select, held_out.labels, held_out.groups, lambda: boosting.scores[rows], threads=threads)


def _start_of(data: BinnedDataset, base_score: float) -> Float64Array:
    """What the documents score before the first tree."""
    return np.full(data.n_docs, base_score) if data.initial_scores is None else data.initial_scores + base_score


def _check_starts(data: BinnedDataset, valid: BinnedDataset | None) -> None:
    """Raise where one set has initial scores and the other none: trees would be chosen for what they do not do."""
    if valid is not None and (data.initial_scores is None) != (valid.initial_scores is None):
        has, lacks = ("validation", "training") if data.initial_scores is None else ("training", "validation")
        raise InputError(f"the {has} data has initial scores and the {lacks} data has none: give both or neither")


def binned_digest(data: BinnedDataset) -> str:
    """A fingerprint of what trees learn from: codes and bins in place of features."""
    return data_digest(data.documents, data.codes, data.mapper.edges, data.mapper.offsets)


def _state(boosting: Boosting, history: History) -> tuple[Mapping[str, Any], Mapping[str, NDArray[Any]]]:
    return {"history": history.to_dict()}, forest_to_arrays(boosting.forest())
