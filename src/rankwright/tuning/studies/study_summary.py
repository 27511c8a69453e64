"""The summary of a study's folder: its searches, what each reached with how much work, and its best configurations."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.container.checks import file_faults, read_field
from rankwright.errors import InputError
from rankwright.metrics.metric_table import parse_metric
from rankwright.settings.spaces import Space
from rankwright.tuning.setting_importance import Importance, importance_of
from rankwright.tuning.studies.store import read_identity, read_records, read_refit, read_searches
from rankwright.tuning.trials import Record, Trial, TrialResult, canonical, described_space, ranked


@dataclass(frozen=True, slots=True, eq=False)
class SearchCurve:
    """A search: after each trial the work done so far, in steps and in steps times leaves, and the best value."""

    name: str
    steps: Float64Array
    leaves: Float64Array
    seconds: Float64Array
    best: Float64Array
    n_configurations: int = 0  # some of which may have been tried with several budgets


@dataclass(frozen=True, slots=True, eq=False)
class StudySummary:
    """A study as its report shows it."""

    folder: str
    ranker: str
    metric: str
    space: Space
    n_experiments: int
    curves: tuple[SearchCurve, ...]
    best: tuple[TrialResult, ...]  # of the largest budget first, the best of a budget first, a configuration once
    importance: Importance | None
    n_compared: int  # configurations of one budget, which the importance is learned from
    refit: dict[str, Any] | None


def summarise(folder: str | os.PathLike[str]) -> StudySummary:
    """The summary of the study in a folder."""
    identity, records = read_identity(folder), read_records(folder)
    found, refit = read_searches(folder), read_refit(folder)
    if not found:
        raise InputError(f"no search of the study in {os.fspath(folder)} is finished: there is nothing to report yet")
    with file_faults(folder, "study"):
        return _summary(folder, identity, records, found, refit)


def _summary(
    folder: str | os.PathLike[str],
    identity: Mapping[str, Any],
    records: dict[str, Record],
    found: Mapping[str, dict[str, Any]],
    refit: dict[str, Any] | None,
) -> StudySummary:
    space = described_space(read_field(identity, "space", dict))
    metric = read_field(identity, "metric", str)
    higher = parse_metric(metric).higher_is_better
    searches = {name: _trials(search, records) for name, search in found.items()}
    trials = [trial for own in searches.values() for trial in own]
    results, alike = _longest(trials), alike_trials(trials)
    best = _by_budget(results, space, higher)
    return StudySummary(
        folder=Path(folder).name or os.fspath(folder),
        ranker=read_field(identity, "ranker", str),
        metric=metric,
        space=space,
        n_experiments=len(records),
        curves=tuple(search_curve(name, trials, higher) for name, trials in searches.items()),
        best=tuple(best),
        importance=importance_of(space, [one.trial.settings for one in alike], [one.value for one in alike]),
        n_compared=len(alike),
        refit=refit,
    )


def _trials(search: dict[str, Any], records: dict[str, Record]) -> list[TrialResult]:
    trials = []
    for one in search["trials"]:
        own = tuple(records[key] for key in one["experiments"] if key in records)
        if not own:
            raise InputError(f"there is no record of the experiments of {one['settings']}")
        trials.append(TrialResult(Trial(one["settings"], one["budget"]), own))
    return trials


def _longest(trials: Sequence[TrialResult]) -> list[TrialResult]:
    """Each configuration once: at its largest budget."""
    kept: dict[str, TrialResult] = {}
    for trial in trials:
        key = canonical(trial.trial.settings)
        if key not in kept or kept[key].trial.limit < trial.trial.limit:
            kept[key] = trial
    return list(kept.values())


def _by_budget(results: Sequence[TrialResult], space: Space, higher_is_better: bool) -> list[TrialResult]:
    """The results, those of the largest budget first: values after few steps say little of values after many."""
    budgets = sorted({result.trial.limit for result in results}, reverse=True)
    groups = [[result for result in results if result.trial.limit == budget] for budget in budgets]
    return [result for own in groups for result in ranked(own, space, higher_is_better=higher_is_better)]


def alike_trials(trials: Sequence[TrialResult]) -> list[TrialResult]:
    """Trials that can be compared: those with the budget that most configurations had, each configuration once."""
    of_budgets: dict[float, dict[str, TrialResult]] = {}
    for trial in trials:
        of_budgets.setdefault(trial.trial.limit, {})[canonical(trial.trial.settings)] = trial
    most = max(of_budgets, key=lambda budget: (len(of_budgets[budget]), budget))
    return list(of_budgets[most].values())


def search_curve(name: str, trials: Sequence[TrialResult], higher_is_better: bool) -> SearchCurve:
    """The curve of a search; its work counts all steps of its trials, even those that another search had taken."""
    taken: dict[str, int] = {}
    work = []
    for trial in trials:
        new, timed = 0, 0.0
        for record in trial.records:
            before = taken.get(record.experiment.course, 0)
            own = max(0, record.steps - before)
            taken[record.experiment.course] = before + own
            new += own
            timed += record.seconds * own / record.new_steps if record.new_steps else 0.0
        work.append((new, new * int(trial.trial.settings.get("max_leaves", 1)), timed))
    values = np.array([trial.value for trial in trials])
    best = np.fmax.accumulate(values) if higher_is_better else np.fmin.accumulate(values)
    steps, leaves, seconds = np.cumsum(np.array(work, np.float64), axis=0).T
    different = {canonical(trial.trial.settings) for trial in trials}
    return SearchCurve(name, steps, leaves, seconds, best, len(different))
