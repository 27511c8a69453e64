"""Nested cross-validation: an honest figure for a ranker that is tuned before it is used.

What the chosen settings reach on the queries that chose them is too good to be true. Here each outer fold is held back
from the whole search: settings are chosen, and the ranker trained anew, on the other folds alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.cluster.engine import Engine
from rankwright.data.dataset import RankingDataset
from rankwright.data.splits import k_fold
from rankwright.metrics.evaluation import MetricResult, evaluate
from rankwright.metrics.intervals import Interval, bootstrap_interval, weighted_mean
from rankwright.rankers.ranker import Ranker
from rankwright.training.spaces import Space
from rankwright.tuning.per_query import counted
from rankwright.tuning.plan import TuningPlan
from rankwright.tuning.studies.study import StudyListener
from rankwright.tuning.tuner import Tuned, tune


@dataclass(frozen=True, slots=True, eq=False)
class NestedResult:
    """What each outer fold chose, and what that reached on the queries it never saw."""

    metric: str
    tuned: tuple[Tuned, ...]
    measured: tuple[MetricResult, ...]

    @property
    def mean(self) -> float:
        """The mean over the queries of all outer folds."""
        return weighted_mean(*self._counted())

    def interval(self, seed: int = 0) -> Interval:
        """The 95 % bootstrap interval of the mean."""
        first = self.measured[0]
        return bootstrap_interval(*self._counted(), resamples=first.resamples, seed=seed, threads=1)

    def _counted(self) -> tuple[Float64Array, Float64Array]:
        values = np.concatenate([result.values for result in self.measured])
        weights = np.concatenate([result.weights for result in self.measured])
        return counted(values, weights)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON has it: `optimism` is by how much validation promised more than held-out queries gave."""
        low, high = self.interval()
        promised = float(np.mean([tuned.best.value for tuned in self.tuned]))
        return {
            "metric": self.metric,
            "mean": self.mean,
            "low": low,
            "high": high,
            "optimism": promised - self.mean,
            "folds": [
                {"settings": tuned.settings, "validation": tuned.best.value, "test": result.mean}
                for tuned, result in zip(self.tuned, self.measured, strict=True)
            ],
        }


def nested_cross_validation(
    ranker: Ranker | str,
    data: RankingDataset,
    *,
    folds: int = 5,
    space: Space | str | None = None,
    plan: TuningPlan | None = None,
    study: str | os.PathLike[str] | None = None,
    cluster: str | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    listeners: Sequence[StudyListener] = (),
    tell: Callable[[str], None] | None = None,
) -> NestedResult:
    """What tuning `ranker` on `folds` - 1 parts of `data` reaches on the part left out, over all parts.

    `plan` says how each part's search is made, its own `folds` into how many it cuts what it may see. `study` keeps
    them in folders of their own, `outer-1` and so on.
    """
    chosen = plan or TuningPlan()
    tuned, measured = [], []
    for number, fold in enumerate(k_fold(data.groups, folds, seed=chosen.seed), start=1):
        # An engine a fold, where none is given: what a fold's trials share is freed before the next.
        found = tune(
            ranker,
            data.take_queries(fold.train),
            space=space,
            plan=chosen,
            study=None if study is None else Path(study) / f"outer-{number}",
            cluster=cluster,
            workers=workers,
            engine=engine,
            listeners=listeners,
        )
        held_out = data.take_queries(fold.test)
        evaluation = evaluate(found.ranker.predict_from_start(held_out), held_out, [chosen.metric])
        result = next(iter(evaluation.results.values()))
        tuned.append(found)
        measured.append(result)
        if tell is not None:
            tell(f"outer fold {number} of {folds}: {chosen.metric} {result.mean:.4f}, {found.settings}")
    return NestedResult(chosen.metric, tuple(tuned), tuple(measured))
