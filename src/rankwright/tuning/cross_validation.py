"""How well a ranker does on queries it was not trained on, fold after fold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from rankwright.arrays import Float64Array
from rankwright.catalog.settings import ranker_from_text
from rankwright.cluster.engine import Engine
from rankwright.cluster.opening import open_engine
from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import Tabular
from rankwright.errors import require, require_type
from rankwright.metrics.confidence_intervals import Interval
from rankwright.metrics.evaluation import DEFAULT_METRICS, RESAMPLES, MetricResult
from rankwright.metrics.metric_table import parse_metric
from rankwright.progress.display import progress_shown
from rankwright.progress.stages import announce
from rankwright.rankers.ranker import Ranker
from rankwright.tables.text import ShownTable
from rankwright.tuning.experiment import ExperimentTask, prepare, run_shared_experiment
from rankwright.tuning.folds import Folds, measuring_folds
from rankwright.tuning.studies.study import StudyListener, StudyProgress, announce_study, record_of
from rankwright.tuning.trials import Experiment, Record, for_json, from_json, none_if_nan


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CrossValidation(Tabular):
    """The metrics of a ranker on every fold.

    Attributes
    ----------
    ranker : str
        The ranker's name.
    metrics : tuple of str
        The names of the metrics.
    seeds : tuple of int
        The seeds that each fold was trained with.
    records : tuple of Record
        One experiment for each fold and seed, in this order.
    query_ids : tuple of list
        The ids of the queries that each fold was measured on.
    weights : tuple of array
        The weights of the same queries.
    """

    ranker: str
    metrics: tuple[str, ...]
    seeds: tuple[int, ...]
    records: tuple[Record, ...]
    query_ids: tuple[list[int | str], ...]
    weights: tuple[Float64Array, ...]

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self.query_ids)

    def values(self, metric: str, fold: int) -> Float64Array:
        """Return a metric's value of each query of a fold, averaged over seeds.

        Parameters
        ----------
        metric : str
            One of `metrics`.
        fold : int
            The number of the fold, from 0.

        Returns
        -------
        array of float64
            One value per query; NaN where the query does not count.
        """
        of_seeds = [record.per_query[metric] for record in self.records if record.fold == fold]
        return np.asarray(np.mean([from_json(values) for values in of_seeds], axis=0), np.float64)

    def fold_mean(self, metric: str, fold: int) -> float:
        """Return a metric's mean over the queries of a fold.

        Parameters
        ----------
        metric : str
            One of `metrics`.
        fold : int
            The number of the fold, from 0.

        Returns
        -------
        float
            The mean over the queries that count, by their weights; NaN where none counts.
        """
        return self._result(metric, [fold]).mean

    def mean(self, metric: str) -> float:
        """Return the mean of the folds' means, as benchmarks count it.

        Parameters
        ----------
        metric : str
            One of `metrics`.

        Returns
        -------
        float
            The mean, in which each fold counts the same.
        """
        return float(np.mean([self.fold_mean(metric, fold) for fold in range(self.n_folds)]))

    def interval(self, metric: str, *, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
        """Return the 95 % bootstrap interval of the mean over the queries of all folds.

        Parameters
        ----------
        metric : str
            One of `metrics`.
        seed : int, default 0
            The seed of the bootstrap.
        resamples : int
            How many samples of the queries to draw.

        Returns
        -------
        Interval
            Its `low` and its `high` end.
        """
        return self._result(metric, range(self.n_folds), seed, resamples).interval

    def _result(self, metric: str, folds: Iterable[int], seed: int = 0, resamples: int = RESAMPLES) -> MetricResult:
        values, weights = zip(*((self.values(metric, fold), self.weights[fold]) for fold in folds), strict=True)
        return MetricResult(
            parse_metric(metric), np.concatenate(values), np.concatenate(weights), seed, resamples, threads=1
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the result in types JSON can hold, as `rankwright cv --json` prints it.

        Returns
        -------
        dict
            The ranker, the numbers of folds, seeds and queries, and each metric's mean, interval and folds' means.
        """
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
        plain: dict[str, Any] = {name: none_if_nan(value) for name, value in numbers.items()}
        return plain | {"folds": [none_if_nan(one) for one in folds]}

    def columns(self) -> dict[str, list[Any]]:
        """Return the means, over all folds and of each.

        Returns
        -------
        dict of str to list
            Columns by name, with a row for each metric: `metric`, `mean`, `low`, `high`, then `fold 1`, `fold 2`, …
        """
        ends = [self.interval(metric) for metric in self.metrics]
        found: dict[str, list[Any]] = {"metric": list(self.metrics), "mean": [self.mean(one) for one in self.metrics]}
        found |= {"low": [low for low, _ in ends], "high": [high for _, high in ends]}
        for fold in range(self.n_folds):
            found[f"fold {fold + 1}"] = [self.fold_mean(metric, fold) for metric in self.metrics]
        return found

    @property
    def headline(self) -> str:
        """What was measured, in one line: the ranker, and how many folds, seeds and queries."""
        seeds = f"{len(self.seeds)} {'seed' if len(self.seeds) == 1 else 'seeds'}"
        return f"{self.ranker}: {self.n_folds} folds, {seeds}, {sum(map(len, self.query_ids))} queries"

    def shown(self) -> ShownTable:
        """Return the table as people read it."""
        found = self.columns()
        names = [name for name in found if name not in ("low", "high")]
        names.insert(2, "95 % interval")
        rows = []
        for place, metric in enumerate(self.metrics):
            interval = f"{found['low'][place]:.4f} to {found['high'][place]:.4f}"
            numbers = {name: f"{values[place]:.4f}" for name, values in found.items() if name != "metric"}
            rows.append([(numbers | {"metric": metric, "95 % interval": interval})[name] for name in names])
        return ShownTable(self.headline, names, rows, names[1:])

    def per_query(self) -> list[dict[str, Any]]:
        """Return a table with one row per query.

        Returns
        -------
        list of dict
            The query's fold, numbered from 1, its id, and each metric averaged over seeds; a metric is None where the
            query does not count.
        """
        rows = []
        for fold, ids in enumerate(self.query_ids):
            columns = {metric: for_json(self.values(metric, fold)) for metric in self.metrics}
            for place, query in enumerate(ids):
                own = {metric: values[place] for metric, values in columns.items()}
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
    verbose: bool = False,
) -> CrossValidation:
    """Train a ranker on all parts of the data but one and measure it on that one, for each part in turn.

    Parameters
    ----------
    ranker : Ranker or str
        The ranker, or its name. Its own `select` says by which metric it chooses its steps.
    data : RankingDataset or Folds
        The data to cut into folds, or folds of your own (`rankwright.tuning.folds`).
    folds : int, default 5
        In how many parts to cut the data, 2 or more. No query is cut.
    valid : float, optional
        The share of each fold's training queries that is held back to choose steps by, between 0 and 1. Early stopping
        needs one. By default none is held back.
    metrics : sequence of str
        What to measure.
    seeds : int, default 1
        How many times each fold is trained, 1 or more. Values are averaged over seeds.
    seed : int, default 0
        The seed of the folds, and the first seed of the ranker.
    cluster : str, optional
        Where experiments run, as in `open_engine`. By default on processes of this machine.
    workers : int, optional
        How many folds are trained at a time. By default one per core.
    engine : Engine, optional
        An open engine to use in place of `cluster` and `workers`.
    listeners : sequence of callable, default ()
        Called with a `StudyProgress` after each experiment; what they return does not matter.
    verbose : bool, default False
        Whether to show how far it is, the metric and the time left: in one line on a terminal or in a notebook,
        elsewhere in a line every few seconds.

    Returns
    -------
    CrossValidation
        Each metric's value of each query, its means and its interval.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=20, seed=0)
    >>> found = rw.cross_validate(rw.LambdaMART(n_trees=5), data, folds=2, metrics=["ndcg@10"], workers=1)
    >>> found.n_folds, len(found.per_query()), 0 < found.mean("ndcg@10") < 1
    (2, 20, True)
    """
    require(seeds >= 1, f"seeds must be 1 or more, got {seeds}")
    require(len(metrics) > 0, "no metric is named to measure by")
    require_type(ranker, (str, Ranker), "ranker", "the name of a ranker, or a ranker such as LambdaMART()")
    own: Ranker = ranker_from_text(ranker) if isinstance(ranker, str) else clone(ranker)
    names = tuple(dict.fromkeys(parse_metric(name).name for name in metrics))
    cut = data if isinstance(data, Folds) else measuring_folds(data, folds, valid=valid, seed=seed)
    all_seeds = tuple(range(seed, seed + seeds))
    prepared = prepare(own, {}, cut, names, select=None)
    experiments = [Experiment({}, fold, one) for fold in range(cut.n_folds) for one in all_seeds]
    records: dict[int, Record] = {}
    with progress_shown(shows=verbose), ExitStack() as opened:
        announce(f"cross-validating {own.name}")
        running = engine or opened.enter_context(open_engine(cluster, workers))
        alone, n_tasks = prepared.without_documents(), len(experiments)
        tasks = [(alone, ExperimentTask(one)) for one in experiments]
        for done in running.run(run_shared_experiment, tasks, shared=prepared.shared_by(running)):
            records[done.number] = record = record_of(experiments[done.number], done, prepared.digest)
            progress = StudyProgress(len(records), n_tasks, record, n_tasks, names[0], what="cross-validating")
            for listener in [*listeners, announce_study] if verbose else listeners:
                listener(progress)
    return CrossValidation(
        own.name,
        names,
        all_seeds,
        tuple(records[number] for number in range(len(experiments))),
        tuple(cut.measured_ids(number) for number in range(cut.n_folds)),
        tuple(cut.measured_weights(number) for number in range(cut.n_folds)),
    )
