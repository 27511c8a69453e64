"""How well a ranker does on queries it was not trained on, fold after fold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from rankwright.arrays import Float64Array
from rankwright.catalog.settings import ranker_from_text
from rankwright.cluster.engine import Engine, open_engine
from rankwright.data.dataset import RankingDataset
from rankwright.errors import require
from rankwright.metrics.evaluation import DEFAULT_METRICS, RESAMPLES
from rankwright.metrics.intervals import Interval, bootstrap_interval, weighted_mean
from rankwright.metrics.registry import parse_metric
from rankwright.rankers.ranker import Ranker
from rankwright.tuning.experiment import Task, run_experiment
from rankwright.tuning.folds import Folds, measuring_folds
from rankwright.tuning.preparation import prepare
from rankwright.tuning.study import StudyListener, StudyProgress, record_of
from rankwright.tuning.trials import Experiment, Record


@dataclass(frozen=True, slots=True, eq=False)
class CrossValidation:
    """What metrics say of a ranker on every fold: `records` has an experiment a fold and seed, in this order."""

    ranker: str
    metrics: tuple[str, ...]
    seeds: tuple[int, ...]
    records: tuple[Record, ...]
    query_ids: tuple[list[int | str], ...]  # of the queries that each fold was measured on
    weights: tuple[Float64Array, ...]  # of the same

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self.query_ids)

    def values(self, metric: str, fold: int) -> Float64Array:
        """The metric of each query of a fold, averaged over seeds; NaN where the query does not count."""
        of_seeds = [record.per_query[metric] for record in self.records if record.fold == fold]
        plain = [[math.nan if one is None else one for one in values] for values in of_seeds]
        return np.asarray(np.mean(plain, axis=0), np.float64)

    def fold_mean(self, metric: str, fold: int) -> float:
        """The mean over the queries of a fold."""
        return weighted_mean(*_counted(self.values(metric, fold), self.weights[fold]))

    def mean(self, metric: str) -> float:
        """The mean of the folds' means, as benchmarks count it."""
        return float(np.mean([self.fold_mean(metric, fold) for fold in range(self.n_folds)]))

    def interval(self, metric: str, *, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
        """The 95 % bootstrap interval of the mean over the queries of all folds."""
        values = np.concatenate([self.values(metric, fold) for fold in range(self.n_folds)])
        counted = _counted(values, np.concatenate(self.weights))
        return bootstrap_interval(*counted, resamples=resamples, seed=seed, threads=1)

    def to_dict(self) -> dict[str, Any]:
        """What `rankwright cv --json` prints."""
        return {
            "ranker": self.ranker,
            "folds": self.n_folds,
            "seeds": list(self.seeds),
            "queries": sum(map(len, self.query_ids)),
            "metrics": {name: self._summary(name) for name in self.metrics},
        }

    def _summary(self, metric: str) -> dict[str, Any]:
        low, high = self.interval(metric)
        folds = [self.fold_mean(metric, fold) for fold in range(self.n_folds)]
        numbers = {"mean": self.mean(metric), "low": low, "high": high}
        return {name: _or_none(value) for name, value in numbers.items()} | {"folds": [_or_none(one) for one in folds]}

    def per_query(self) -> list[dict[str, Any]]:
        """A row a query: its fold from 1, its id, and each metric averaged over seeds, None where it does not count."""
        rows = []
        for fold, ids in enumerate(self.query_ids):
            columns = {metric: self.values(metric, fold).tolist() for metric in self.metrics}
            for place, query in enumerate(ids):
                own = {metric: _or_none(values[place]) for metric, values in columns.items()}
                rows.append({"fold": fold + 1, "query": query} | own)
        return rows


def cross_validate(
    ranker: Ranker | str,
    data: RankingDataset | Folds,
    *,
    folds: int = 5,
    valid: float | None = None,
    metrics: Sequence[str] = DEFAULT_METRICS,
    seeds: int = 1,
    seed: int = 0,
    cluster: str | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    listeners: Sequence[StudyListener] = (),
) -> CrossValidation:
    """What `metrics` say of `ranker` on each of `folds` parts of `data` when it is trained on the others.

    `valid` is the share of each fold's training queries held back to choose its steps by, as early stopping needs it.
    Folds of your own come as `Folds` (`rankwright.tuning.folds`). Each fold is trained with `seeds` seeds, from `seed`
    on. Steps are chosen by what the ranker itself says (`select`).
    """
    require(seeds >= 1, f"seeds must be 1 or more, got {seeds}")
    require(len(metrics) > 0, "there is no metric to measure")
    own: Ranker = ranker_from_text(ranker) if isinstance(ranker, str) else clone(ranker)
    names = tuple(dict.fromkeys(parse_metric(name).name for name in metrics))
    cut = data if isinstance(data, Folds) else measuring_folds(data, folds, valid=valid, seed=seed)
    all_seeds = tuple(range(seed, seed + seeds))
    prepared = prepare(own, {}, cut, names, select=None)
    experiments = [Experiment({}, fold, one) for fold in range(cut.n_folds) for one in all_seeds]
    records: dict[int, Record] = {}
    with ExitStack() as opened:
        running = engine or opened.enter_context(open_engine(cluster, workers))
        tasks = [Task(one) for one in experiments]
        for done in running.run(run_experiment, tasks, shared=running.share(prepared)):
            records[done.number] = record_of(experiments[done.number], done, prepared.digest)
            for listener in listeners:
                listener(StudyProgress(len(records), len(experiments), records[done.number]))
    return CrossValidation(
        own.name,
        names,
        all_seeds,
        tuple(records[number] for number in range(len(experiments))),
        tuple(cut.measured_ids(number) for number in range(cut.n_folds)),
        tuple(cut.measured_weights(number) for number in range(cut.n_folds)),
    )


def _counted(values: Float64Array, weights: Float64Array) -> tuple[Float64Array, Float64Array]:
    counts = ~np.isnan(values) & (weights > 0)
    return values[counts], weights[counts]


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
