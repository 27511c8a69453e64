"""Rankers compared over the folds of a LETOR folder: settings are searched for on `vali`, and `test` gives one table.

Each result of a ranker on a fold is kept in a file of its own as soon as it is known, and each search in a study. A run
that was killed goes on from there, and a run with more rankers trains only the new ones.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.catalog.rankers import RANKERS, ranker_named
from rankwright.cluster.opening import open_engine
from rankwright.container.atomic import atomic_file
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.keys import key_order
from rankwright.data.splits import k_fold
from rankwright.errors import FileFormatError, InputError, MissingExtraError, require
from rankwright.formats.reading import LetorFold, fold_folders, read, read_fold
from rankwright.metrics.comparison.comparison_tables import signed_cell
from rankwright.metrics.comparison.system_comparison import SystemComparison, compare_evaluations
from rankwright.metrics.comparison.variance_components import VarianceComponents, variance_components
from rankwright.metrics.convention import as_convention
from rankwright.metrics.evaluation import RESAMPLES, Evaluation, MetricResult, evaluate
from rankwright.metrics.metric_table import as_measure
from rankwright.tables.text import ShownTable, ShownTables
from rankwright.training.digest import data_digest
from rankwright.tuning.strategies import TuningPlan
from rankwright.tuning.studies.study import SeveralStudies, StudyListener
from rankwright.tuning.trials import for_json, from_json
from rankwright.tuning.tuner import Tuned, listed_settings, n_experiments, tune, with_seed

ALL = "all"
METRICS = ("map", "ndcg@10")
TRIALS = 12
STUDIES = "studies"  # the folder of searches, beside the results
SPREAD_PARTS = ("queries", "seeds", "folds", "rest")
SPREAD_TITLE = "standard deviations of the difference from the best, and its 95 % interval with all of them"


@dataclass(frozen=True, slots=True)
class ComparisonPlan:
    """How rankers are compared: what is measured on `test`, and how settings are searched for on `vali`.

    `select` is the metric that settings are chosen by; `strategy` and `trials` are those of a `TuningPlan`, for each
    ranker and fold. A grid has its own number of trials; for other strategies the default is 12. With the settings that
    were chosen, each ranker is trained `seeds` times on each fold, and a query's value is the mean over them.
    """

    metrics: tuple[str, ...] = METRICS
    convention: str = "letor"
    select: str = "map"
    strategy: str = "random"
    trials: int | None = None
    seed: int = 0
    seeds: int = 1

    def __post_init__(self) -> None:
        require(self.seeds >= 1, f"seeds must be 1 or more, got {self.seeds}")

    @property
    def search(self) -> TuningPlan:
        """How each ranker's settings are searched for on each fold."""
        trials = TRIALS if self.trials is None and self.strategy != "grid" else self.trials
        metric = f"{self.select}:{self.convention}"
        return TuningPlan(strategy=self.strategy, trials=trials, metric=metric, seed=self.seed)

    def to_dict(self) -> dict[str, Any]:
        """The plan in types JSON can hold, with the default number of trials where none is given."""
        told = asdict(self) | {"metrics": list(self.metrics), "trials": self.search.trials}
        return told if self.seeds > 1 else {name: value for name, value in told.items() if name != "seeds"}


@dataclass(frozen=True, slots=True)
class RankerOnFold:
    """What a ranker reached on a fold: the settings chosen, and each metric's value of each test query."""

    ranker: str
    fold: str
    plan: Mapping[str, Any]
    data: str  # a fingerprint of the fold
    settings: Mapping[str, Any]
    vali: float
    query_ids: Sequence[str]
    documents: Sequence[int]
    nothing_relevant: int
    values: Mapping[str, Sequence[float | None]]  # None where a query does not count
    by_seed: Mapping[str, Sequence[Sequence[float | None]]] = field(default_factory=dict)  # where there are several


@dataclass(frozen=True, slots=True, eq=False)
class FoldComparison:
    """The comparison over all folds, and the results of each ranker on each fold."""

    comparison: SystemComparison
    results: Sequence[RankerOnFold]

    def to_dict(self) -> dict[str, Any]:
        """The comparison and what was chosen, in types JSON can hold."""
        chosen: dict[str, dict[str, Any]] = {}
        for one in self.results:
            chosen.setdefault(one.ranker, {})[one.fold] = {"settings": dict(one.settings), "vali": one.vali}
        spread = {
            metric: {name: None if own is None else own.to_dict() for name, own in of_systems.items()}
            for metric, of_systems in self.spread.items()
        }
        return self.comparison.to_dict() | {"chosen": chosen, "spread": spread}

    def per_query(self) -> dict[str, Any]:
        """The table of test queries, with the values of each ranker."""
        return self.comparison.per_query()

    @property
    def spread(self) -> dict[str, dict[str, VarianceComponents | None]]:
        """For each metric and each system but the best, where the spread of its difference from the best comes from.

        None where there are too few queries to tell.
        """
        comparison = self.comparison
        return {
            metric: {name: _components(self.results, metric, comparison.best[metric], name) for name in against}
            for metric, against in comparison.against_best.items()
        }

    def shown(self) -> ShownTables:
        """The tables of the comparison, and where there are several seeds, a table of what they do."""
        tables = self.comparison.shown()
        if not any(one.by_seed for one in self.results):
            return tables
        return ShownTables([*tables.tables, _spread_table(self.spread, self.comparison.best)], tables.notes)


def compare_on_folds(
    folder: str | os.PathLike[str],
    rankers: Sequence[str] | str = ALL,
    *,
    plan: ComparisonPlan | None = None,
    results: str | os.PathLike[str] | None = None,
    cluster: str | None = None,
    workers: int | None = None,
    listeners: Sequence[StudyListener] = (),
    tell: Callable[[str], None] = lambda _: None,
    folds: int | None = None,
    reading: Mapping[str, Any] | None = None,
) -> FoldComparison:
    """The comparison of the named rankers, or of `all`, over the folds; a mean is the mean of the folds' means.

    `folder` has folds as LETOR has them, or is a file of documents, which is cut into `folds`, by default 5. `results`
    is the folder that keeps what is finished. `cluster` and `workers` say where trials run, as in `open_engine`;
    `listeners` are called after each trial, `tell` with a line on each choice. `reading` are options of `read`.
    """
    plan, kept_in = plan or ComparisonPlan(), None if results is None else Path(results)
    names = list(dict.fromkeys(RANKERS if rankers == ALL else (ranker_named(name).name for name in rankers)))
    # Checked now, not after an hour of training.
    require(len(names) >= 2, f"a comparison needs two rankers or more, got {', '.join(names) or 'none'}")
    found: dict[str, list[RankerOnFold]] = {name: [] for name in names}
    n_folds, folds_to_come = _folds_of(folder, folds, plan.seed, reading or {})
    together = SeveralStudies([_n_experiments(name, plan) for name in names] * n_folds, listeners)
    # One engine for the whole run: workers are started once, and rankers that see a fold alike share one copy of it.
    with open_engine(cluster, workers) as engine:
        run = _FoldRun(plan, kept_in, {"engine": engine, "listeners": [together.hear]}, tell)
        for place, fold in enumerate(folds_to_come):
            fingerprint = ".".join(data_digest(part) for part in (fold.train, fold.vali, fold.test))
            for number, name in enumerate(names):
                together.begin_study(place * len(names) + number, f"{fold.name}, {name}")
                try:
                    found[name].append(run.result(name, fold, fingerprint))
                except MissingExtraError as error:
                    if rankers != ALL:
                        raise
                    tell(f"{name} is left out: {error}")
            engine.free()
    complete = {name: own for name, own in found.items() if len(own) == n_folds}
    evaluations = {name: _joined(own, plan) for name, own in complete.items()}
    aim = plan.select if plan.select in plan.metrics else None
    comparison = replace(compare_evaluations(evaluations), aim=aim)
    return FoldComparison(comparison, [one for own in complete.values() for one in own])


def _folds_of(
    source: str | os.PathLike[str], n_folds: int | None, seed: int, reading: Mapping[str, Any]
) -> tuple[int, Iterator[LetorFold]]:
    """How many folds there are, and the folds: those of a LETOR folder, each read when it is asked for, or cut ones."""
    if Path(source).is_dir():
        require(n_folds is None, f"{os.fspath(source)} has folds of its own: leave out the number of folds")
        paths = fold_folders(source)
        return len(paths), (read_fold(path, **reading) for path in paths)
    data, number = read(source, **reading), 5 if n_folds is None else n_folds
    require(number >= 3, f"a comparison needs 3 folds or more, to train, validate and test on, got {number}")
    return number, _cut_folds(data, number, seed)


def _cut_folds(data: RankingDataset, n_folds: int, seed: int) -> Iterator[LetorFold]:
    """Folds as LETOR has them: each part of the queries is tested on once, and the next part is validated on."""
    parts = [fold.test for fold in k_fold(data.groups, n_folds, seed=seed, order=key_order(data).queries)]
    for number in range(n_folds):
        test, vali = parts[number], parts[(number + 1) % n_folds]
        train = np.setdiff1d(np.arange(data.n_queries), np.concatenate([test, vali]))
        taken = [data.take_queries(part) for part in (train, vali, test)]
        yield LetorFold(f"Fold{number + 1}", *taken)


def _n_experiments(name: str, plan: ComparisonPlan) -> int:
    try:
        return n_experiments(name, None, plan.search, n_folds=1)
    except MissingExtraError:
        return 0  # it will be left out


@dataclass(frozen=True, slots=True, eq=False)
class _FoldRun:
    """Finds the result of a ranker on a fold: in the folder of results, or by a search."""

    plan: ComparisonPlan
    folder: Path | None
    how: Mapping[str, Any]  # options of `tune` that say where trials run and who is told
    tell: Callable[[str], None]

    def result(self, name: str, fold: LetorFold, fingerprint: str) -> RankerOnFold:
        path = None if self.folder is None else self.folder / f"{fold.name}-{name}.json"
        if path is not None and path.exists():
            return _read_result(path, self.plan, fingerprint)
        study = None if self.folder is None else self.folder / STUDIES / f"{fold.name}-{name}"
        ranker = ranker_named(name)()
        tuned = tune(ranker, fold.train, valid=fold.vali, plan=self.plan.search, study=study, **self.how)
        result = _measured(name, fold, fingerprint, self.plan, tuned)
        told = listed_settings(tuned.settings)
        self.tell(f"{fold.name}, {name}: {self.plan.select} on vali {tuned.best.value:.4f} with {told}")
        if path is not None:
            with atomic_file(path) as file:
                file.write(json.dumps(asdict(result), default=str).encode())
        return result


def _measured(name: str, fold: LetorFold, fingerprint: str, plan: ComparisonPlan, tuned: Tuned) -> RankerOnFold:
    rankers = [tuned.ranker]
    rankers += [with_seed(tuned.ranker, plan.seed + more, fold.train, fold.vali) for more in range(1, plan.seeds)]
    of_seeds = [evaluate(ranker.predict(fold.test), fold.test, plan.metrics, plan.convention) for ranker in rankers]
    found = of_seeds[0]
    by_seed = {metric: [own[metric].values for own in of_seeds] for metric in found.results}
    return RankerOnFold(
        ranker=name,
        fold=fold.name,
        plan=plan.to_dict(),
        data=fingerprint,
        settings=tuned.settings,
        vali=tuned.best.value,
        query_ids=[str(query) for query in found.query_ids.tolist()],
        documents=found.groups.sizes.tolist(),
        nothing_relevant=found.nothing_relevant,
        values={metric: for_json(np.mean(values, axis=0)) for metric, values in by_seed.items()},
        by_seed={metric: list(map(for_json, values)) for metric, values in by_seed.items() if plan.seeds > 1},
    )


def _read_result(path: Path, plan: ComparisonPlan, fingerprint: str) -> RankerOnFold:
    """The result in a file; raises if it belongs to another plan or to other data."""
    try:
        result = RankerOnFold(**json.loads(path.read_bytes()))
    except (ValueError, TypeError):
        raise FileFormatError(str(path), "is not a result that a comparison kept; remove it") from None
    if result.plan != plan.to_dict() or result.data != fingerprint:
        raise InputError(
            f"{path} was kept by a comparison with other settings or on other data; choose another folder, or remove it"
        )
    return result


def _joined(results: Sequence[RankerOnFold], plan: ComparisonPlan) -> Evaluation:
    """One evaluation of the test queries of all folds, with weights that make each fold count the same."""
    convention = as_convention(plan.convention)
    by_metric: dict[str, MetricResult] = {}
    for metric in results[0].values:
        of_folds = [from_json(one.values[metric]) for one in results]
        weights = [np.full(len(values), 1 / max(int((~np.isnan(values)).sum()), 1)) for values in of_folds]
        by_metric[metric] = MetricResult(
            as_measure(metric, convention), np.concatenate(of_folds), np.concatenate(weights), plan.seed, RESAMPLES, 1
        )
    return Evaluation(
        convention=convention,
        results=by_metric,
        groups=Groups.of_sizes([size for one in results for size in one.documents]),
        query_ids=np.array([f"{one.fold}/{query}" for one in results for query in one.query_ids]),
        nothing_relevant=sum(one.nothing_relevant for one in results),
        weighted=False,  # no weights of the data
    )


def _components(results: Sequence[RankerOnFold], metric: str, best: str, system: str) -> VarianceComponents | None:
    """The variance components of a system's differences from the best; None where too few queries count."""
    tables = {name: [_values_by_seed(one, metric) for one in results if one.ranker == name] for name in (best, system)}
    try:
        return variance_components([own - other for own, other in zip(tables[system], tables[best], strict=True)])
    except InputError:
        return None


def _values_by_seed(result: RankerOnFold, metric: str) -> Float64Array:
    """A row for each test query, a column for each seed."""
    return np.column_stack([from_json(values) for values in result.by_seed.get(metric, [result.values[metric]])])


def _spread_table(spread: Mapping[str, Mapping[str, VarianceComponents | None]], best: Mapping[str, str]) -> ShownTable:
    """The standard deviations of the parts, and the interval of the difference with all of them."""
    rows: list[list[str]] = []
    notes: list[str] = []
    for metric, of_systems in spread.items():
        known = {name: own for name, own in of_systems.items() if own is not None}
        for system, own in known.items():
            low, high = own.interval
            variances = [getattr(own, part) for part in SPREAD_PARTS]
            deviations = ["-" if math.isnan(variance) else f"{math.sqrt(variance):.4f}" for variance in variances]
            rows.append([metric, system, *deviations, f"{signed_cell(low)} to {signed_cell(high)}"])
        if known:
            nearest = min(known, key=lambda name: abs(known[name].mean))
            notes.append(_uncertainty_sentence(metric, best[metric], nearest, known[nearest]))
    return ShownTable(SPREAD_TITLE, ["metric", "system", *SPREAD_PARTS, "95 % interval"], rows, SPREAD_PARTS, notes)


def _uncertainty_sentence(metric: str, best: str, system: str, own: VarianceComponents) -> str:
    """What share of the uncertainty of a mean difference comes from what."""
    known = {part: value for part, value in own.of_mean.items() if not math.isnan(value)}
    total = sum(known.values())
    if total == 0:
        return f"{metric}: {system} and {best} never differ."
    shares = ", ".join(f"{100 * value / total:.0f} % from {part}" for part, value in known.items())
    return f"{metric}, {system} less {best}: of the uncertainty of the mean, {shares}."
