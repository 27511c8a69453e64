"""Rankers compared over the folds of a LETOR folder: settings chosen on `vali`, one table of what `test` says.

What each ranker reached on each fold is kept in a file of its own as soon as it is known: a run that was killed goes on
where it was, and one with more rankers trains only these.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.catalog.rankers import RANKERS, ranker_named
from rankwright.container.atomic import atomic_file
from rankwright.data.groups import Groups
from rankwright.errors import FileFormatError, InputError, MissingExtraError
from rankwright.experiments.choosing import Chooser, choose_on_vali
from rankwright.experiments.letor import LetorFold, fold_folders, read_fold
from rankwright.metrics.convention import as_convention
from rankwright.metrics.evaluation import RESAMPLES, Evaluation, MetricResult, as_measure, evaluate
from rankwright.metrics.systems import SystemComparison, compare_evaluations
from rankwright.rankers.ranker import Ranker
from rankwright.training.digest import data_digest

ALL = "all"
METRICS = ("map", "ndcg@10")


@dataclass(frozen=True, slots=True)
class FoldPlan:
    """How rankers are compared: what they are chosen by on `vali`, and what is measured on `test`."""

    metrics: tuple[str, ...] = METRICS
    convention: str = "letor"
    select: str = "map"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class FoldResult:
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


@dataclass(frozen=True, slots=True, eq=False)
class FoldComparison:
    """The comparison over all folds, and the results of each ranker on each fold behind it."""

    comparison: SystemComparison
    results: Sequence[FoldResult]

    def to_dict(self) -> dict[str, Any]:
        """The comparison and what was chosen, in types JSON can hold."""
        chosen: dict[str, dict[str, Any]] = {}
        for one in self.results:
            chosen.setdefault(one.ranker, {})[one.fold] = {"settings": dict(one.settings), "vali": one.vali}
        return self.comparison.to_dict() | {"chosen": chosen}


def compare_on_folds(
    folder: str | os.PathLike[str],
    rankers: Sequence[str] | str = ALL,
    *,
    plan: FoldPlan | None = None,
    results: str | os.PathLike[str] | None = None,
    choose: Chooser = choose_on_vali,
    threads: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> FoldComparison:
    """The comparison of rankers, by name or `all`, over the folds; means are those of the folds' means.

    `results` is the folder that keeps what is finished, `choose` how settings are chosen, `tell` hears of progress.
    """
    plan = plan or FoldPlan()
    names = list(RANKERS) if rankers == ALL else [ranker_named(name).name for name in rankers]
    paths = fold_folders(folder)
    found: dict[str, list[FoldResult]] = {name: [] for name in names}
    for path in paths:
        fold = read_fold(path)
        fingerprint = ".".join(data_digest(part) for part in (fold.train, fold.vali, fold.test))
        for name in names:
            try:
                result = _kept_or_new(name, fold, fingerprint, plan, results, choose, threads, tell)
            except MissingExtraError as error:
                if rankers != ALL:
                    raise
                tell(f"{name} is left out: {error}")
                continue
            found[name].append(result)
    complete = {name: own for name, own in found.items() if len(own) == len(paths)}
    evaluations = {name: _joined(own, plan, threads) for name, own in complete.items()}
    return FoldComparison(compare_evaluations(evaluations), [one for own in complete.values() for one in own])


def _kept_or_new(
    name: str,
    fold: LetorFold,
    fingerprint: str,
    plan: FoldPlan,
    folder: str | os.PathLike[str] | None,
    choose: Chooser,
    threads: int | None,
    tell: Callable[[str], None],
) -> FoldResult:
    path = None if folder is None else Path(folder) / f"{fold.name}-{name}.json"
    if path is not None and path.exists():
        return _read_result(path, plan, fingerprint)
    kind = ranker_named(name)
    wanted = {"select": f"{plan.select}:{plan.convention}", "seed": plan.seed, "threads": threads}
    known = signature(kind.__init__).parameters
    given = {setting: value for setting, value in wanted.items() if setting in known}
    chosen = choose(kind, fold, f"{plan.select}:{plan.convention}", given)
    result = _result(name, fold, fingerprint, plan, chosen.ranker, chosen.settings, chosen.value)
    tell(f"{fold.name}, {name}: {plan.select} on vali {chosen.value:.4f} with {_told(chosen.settings)}")
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as file:
            file.write(json.dumps(asdict(result), default=str).encode())
    return result


def _told(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or "default settings"


def _result(
    name: str,
    fold: LetorFold,
    fingerprint: str,
    plan: FoldPlan,
    ranker: Ranker,
    settings: Mapping[str, Any],
    vali: float,
) -> FoldResult:
    found = evaluate(ranker.predict(fold.test), fold.test, plan.metrics, plan.convention, threads=ranker.threads)
    values = {
        metric: [None if np.isnan(value) else value for value in result.values.tolist()]
        for metric, result in found.results.items()
    }
    return FoldResult(
        ranker=name,
        fold=fold.name,
        plan=asdict(plan) | {"metrics": list(plan.metrics)},
        data=fingerprint,
        settings=dict(settings),
        vali=vali,
        query_ids=[str(query) for query in found.query_ids.tolist()],
        documents=found.groups.sizes.tolist(),
        nothing_relevant=found.nothing_relevant,
        values=values,
    )


def _read_result(path: Path, plan: FoldPlan, fingerprint: str) -> FoldResult:
    """The result in a file, unless it is that of another plan or of other data."""
    try:
        result = FoldResult(**json.loads(path.read_bytes()))
    except (ValueError, TypeError):
        raise FileFormatError(str(path), "is not a result that a comparison kept; remove it") from None
    if result.plan != asdict(plan) | {"metrics": list(plan.metrics)} or result.data != fingerprint:
        raise InputError(
            f"{path} was kept by a comparison with other settings or on other data; choose another folder, or remove it"
        )
    return result


def _joined(results: Sequence[FoldResult], plan: FoldPlan, threads: int | None) -> Evaluation:
    """One evaluation of the test queries of all folds, weighed so that each fold counts the same."""
    convention = as_convention(plan.convention)
    n_threads = 1 if threads is None else threads
    by_metric: dict[str, MetricResult] = {}
    for metric in results[0].values:
        of_folds = [np.array([np.nan if value is None else value for value in one.values[metric]]) for one in results]
        weights = [np.full(len(values), 1 / max(int((~np.isnan(values)).sum()), 1)) for values in of_folds]
        by_metric[metric] = MetricResult(
            as_measure(metric, convention),
            np.concatenate(of_folds),
            np.concatenate(weights),
            plan.seed,
            RESAMPLES,
            n_threads,
        )
    return Evaluation(
        convention=convention,
        results=by_metric,
        groups=Groups.of_sizes([size for one in results for size in one.documents]),
        query_ids=np.array([f"{one.fold}/{query}" for one in results for query in one.query_ids]),
        nothing_relevant=sum(one.nothing_relevant for one in results),
        weighted=False,  # by nothing of the data's
    )
