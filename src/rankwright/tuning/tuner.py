"""The search for settings: trials, the choice among them, and a model trained with the best on all the data.

Nested cross-validation gives an honest figure for a ranker that is tuned before it is used. The value that the chosen
settings reach on the queries they were chosen by is too high. So each outer fold is held back from the whole search:
settings are chosen, and the ranker is trained, on the other folds alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from rankwright.cluster.engine import Engine
from rankwright.cluster.opening import open_engine
from rankwright.container.locks import scratch_folder
from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import Tabular
from rankwright.data.keys import key_order
from rankwright.data.splits import k_fold
from rankwright.errors import SettingError, require
from rankwright.formats.storage.places import FilePath
from rankwright.metrics.confidence_intervals import Interval
from rankwright.metrics.evaluation import MetricResult, evaluate
from rankwright.progress.display import progress_shown
from rankwright.progress.stages import announce
from rankwright.rankers.ranker import Ranker
from rankwright.settings.spaces import Space
from rankwright.tables.text import ShownTable, short
from rankwright.tuning.cross_validation import CrossValidation, cross_validate
from rankwright.tuning.experiment import check_settings, prepare
from rankwright.tuning.folds import Folds, given_folds, validation_folds
from rankwright.tuning.search_spaces import searched_space
from rankwright.tuning.strategies import CONTINUING, SearchTask, TuningPlan
from rankwright.tuning.studies.store import Store, write_refit
from rankwright.tuning.studies.study import SeveralStudies, Study, StudyListener, announce_study, n_experiments_of
from rankwright.tuning.trials import TrialResult, canonical, describe, plain, steps_taken


@dataclass(frozen=True, slots=True, eq=False)
class Refit:
    """The trained ranker, and how many steps it was told to take; None if it chose them itself."""

    ranker: Ranker
    steps: int | None

    def to_dict(self) -> dict[str, Any]:
        """The refit as a dictionary for JSON."""
        return {"steps": self.steps, "settings": self.ranker.stored_settings(), "model": self.ranker.facts()}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tuned(Tabular):
    """What a search for settings found.

    Attributes
    ----------
    ranker : Ranker
        The ranker with the chosen settings. It is trained on all the training data, unless no refit was asked for or
        folds were given instead of data.
    space : mapping
        The space that was searched.
    plan : TuningPlan
        How it was searched.
    trials : list of TrialResult
        Every configuration that was tried, in the order of the search.
    ranked : list of TrialResult
        The configurations with the largest budget, the best first.
    refit : Refit or None
        How the final training went; None where there was none.
    """

    ranker: Ranker
    space: Space
    plan: TuningPlan
    trials: list[TrialResult]
    ranked: list[TrialResult]
    refit: Refit | None

    @property
    def best(self) -> TrialResult:
        """The chosen configuration and its results, a `TrialResult`."""
        return self.ranked[0]

    @property
    def settings(self) -> dict[str, Any]:
        """The chosen settings by name."""
        return self.best.trial.settings

    @property
    def steps_taken(self) -> int:
        """How many steps the search took in all: trees, epochs or bags."""
        return steps_taken(self.trials)

    @property
    def headline(self) -> str:
        """What was searched, in one line: the ranker, and how many trials, experiments and steps."""
        experiments = sum(len(trial.records) for trial in self.trials)
        return (
            f"{self.ranker.name}, strategy {self.plan.strategy}: {len(self.trials)} trials, {experiments} experiments, "
            f"{self.steps_taken:,} steps; values on validation"
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return every configuration that was tried, in the order of the search.

        Returns
        -------
        dict of str to list
            Columns by name: the metric's, `steps` that were kept, `budget` of steps (None for the ranker's own), and
            one for each setting that was searched.
        """
        trials = self.trials
        found: dict[str, list[Any]] = {
            self.plan.metric: [one.value for one in trials],
            "steps": [one.mean_steps for one in trials],
            "budget": [one.trial.budget for one in trials],
        }
        return found | {name: [one.trial.settings.get(name) for one in trials] for name in self.space}

    def shown(self, most: int = 5) -> ShownTable:
        """Return the best configurations as people read them.

        Parameters
        ----------
        most : int, default 5
            How many to show.

        Returns
        -------
        ShownTable
            Its `text`, `markdown` and `html`.
        """
        names = [self.plan.metric, "steps", "settings"]
        rows = [
            [f"{one.value:.4f}", f"{one.mean_steps:.0f}", listed_settings(one.trial.settings)]
            for one in self.ranked[:most]
        ]
        return ShownTable(self.headline, names, rows, names[:2])

    def tested_on(self, folds: Folds, **where: Any) -> CrossValidation:
        """Train with the chosen settings on other folds, and measure there.

        Parameters
        ----------
        folds : Folds
            The folds, such as those of `rankwright.tuning.letor.letor_folds`.
        **where
            Where experiments run: `cluster`, `workers` or `engine`, as in `tune`.

        Returns
        -------
        CrossValidation
            The plan's metrics on each fold.
        """
        ranker, plan = clone(self.ranker).set_params(select=self.plan.metric), self.plan
        return cross_validate(ranker, folds, metrics=plan.all_metrics, seeds=plan.seeds, seed=plan.seed, **where)

    def to_dict(self) -> dict[str, Any]:
        """Return the search and its result in types JSON can hold, as `rankwright tune --json` prints them.

        Returns
        -------
        dict
            The ranker, the plan, the numbers of trials, experiments and steps, the best trials and the refit.
        """
        return {
            "ranker": self.ranker.name,
            "strategy": self.plan.strategy,
            "metric": self.plan.metric,
            "trials": len(self.trials),
            "experiments": sum(len(trial.records) for trial in self.trials),
            "steps_taken": self.steps_taken,
            "best": self.best.to_dict(),
            "top": [result.to_dict() for result in self.ranked[:5]],
            "refit": None if self.refit is None else self.refit.to_dict(),
        }


def tune(
    ranker: Ranker | str,
    train: RankingDataset | Folds,
    *,
    valid: RankingDataset | None = None,
    space: Space | str | None = None,
    plan: TuningPlan | None = None,
    study: FilePath | None = None,
    refits: bool = True,
    cluster: str | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    listeners: Sequence[StudyListener] = (),
    verbose: bool = False,
    **options: Any,
) -> Tuned:
    """Search for the settings of a ranker that validation prefers, and train with them.

    Parameters
    ----------
    ranker : Ranker or str
        The ranker, or its name. It holds the settings that are not searched.
    train : RankingDataset or Folds
        The data to train on, or folds of your own (`rankwright.tuning.folds`). Folds may overlap, so that there is no
        data to train a final ranker on.
    valid : RankingDataset, optional
        The data to validate on. By default each configuration is validated on folds of `train`.
    space : mapping or str, optional
        What to search: a mapping from settings to `Choice`, `Real` or `Whole`, the name of a space ("slides-a",
        "slides-b"), or the path of a .json or .toml file. By default the ranker's own space.
    plan : TuningPlan, optional
        How to search.
    study : path, optional
        A folder that keeps every experiment. The same call goes on where a killed one stopped, and several processes
        may work on one study.
    refits : bool, default True
        Whether to train a ranker with the chosen settings on all of `train`.
    cluster : str, optional
        Where experiments run, as in `open_engine`. By default on processes of this machine.
    workers : int, optional
        How many experiments run at a time. By default one per core.
    engine : Engine, optional
        An open engine to use in place of `cluster` and `workers`.
    listeners : sequence of callable, default ()
        Called with a `StudyProgress` after each experiment. One that returns True ends the search: the choice is among
        the configurations that are finished.
    verbose : bool, default False
        Whether to show how far it is, the metric and the time left: in one line on a terminal or in a notebook,
        elsewhere in a line every few seconds.
    **options
        The parameters of a `TuningPlan`, where no `plan` is given.

    Returns
    -------
    Tuned
        The trials, the chosen settings, and the ranker trained with them.

    Examples
    --------
    >>> import rankwright as rw
    >>> from rankwright.settings.spaces import Choice
    >>> train = rw.synthetic.web_search(n_queries=20, seed=0)
    >>> space = {"max_leaves": Choice((3, 7))}
    >>> found = rw.tune(rw.LambdaMART(n_trees=5), train, space=space, strategy="grid", folds=2, workers=1)
    >>> len(found.trials), sorted(found.settings), found.ranker.n_trees_ <= 5
    (2, ['max_leaves'], True)
    """
    require(plan is None or not options, "give a plan, or its options, not both")
    chosen_plan = plan or TuningPlan(**options)
    base, searched = searched_space(ranker, space)
    listening = [*listeners, announce_study] if verbose else list(listeners)
    with progress_shown(shows=verbose):
        folds = train if isinstance(train, Folds) else folds_of(train, valid, chosen_plan)
        check_settings(base, searched)
        task = _search_task(base, searched, chosen_plan)
        with ExitStack() as opened:
            running = engine or opened.enter_context(open_engine(cluster, workers))
            trials = _search(running, base, task, folds, study, listening)
        best_first = task.ranked(_last_round(trials))
        tuned = base.set_params(**best_first[0].trial.settings)
        refitted = None
        if refits and isinstance(train, RankingDataset):
            refitted = refit(tuned, best_first[0], train, valid, chosen_plan.metric, chosen_plan.seed)
            tuned = refitted.ranker
            if study is not None:
                write_refit(study, {"chosen": best_first[0].to_dict()} | refitted.to_dict())
    return Tuned(tuned, searched, chosen_plan, trials, best_first, refitted)


def _search(
    engine: Engine,
    ranker: Ranker,
    task: SearchTask,
    folds: Folds,
    study: FilePath | None,
    listeners: list[StudyListener],
) -> list[TrialResult]:
    """All trials of a search, in its order."""
    announce(f"searching for settings of {ranker.name}")
    prepared = prepare(ranker, task.space, folds, task.plan.all_metrics, select=task.plan.metric)
    identity = study_identity(ranker, task.space, task.plan, prepared.digest)
    with ExitStack() as opened:
        folder = study or opened.enter_context(scratch_folder("study"))
        store = opened.enter_context(closing(Store(folder, identity)))
        trials = Study(engine, prepared, store, task, folds.n_folds, listeners).run()
        require(bool(trials), "the search was stopped before its first configuration was finished on all its folds")
        store.write_search(search_name(task.plan), _search_record(task.plan, trials))
    return trials


def n_experiments(ranker: Ranker | str, space: Space | str | None, plan: TuningPlan, *, n_folds: int) -> int:
    """How many experiments a search of the space makes; 0 if its strategy cannot follow the plan."""
    base, searched = searched_space(ranker, space)
    return n_experiments_of(_search_task(base, searched, plan), n_folds)


def listed_settings(settings: Mapping[str, Any]) -> str:
    """Settings in one line, numbers with few digits."""
    return ", ".join(f"{name} {short(value)}" for name, value in settings.items())


def folds_of(train: RankingDataset, valid: RankingDataset | None, plan: TuningPlan) -> Folds:
    """The folds that trials are validated on."""
    if valid is not None:
        return given_folds([(train, valid, valid)])
    return validation_folds(train, plan.folds, seed=plan.seed)


def _search_task(ranker: Ranker, space: Space, plan: TuningPlan) -> SearchTask:
    if ranker.budget is not None and ranker.budget in space and plan.strategy in CONTINUING:
        raise SettingError(f"halving sets {ranker.budget} itself: leave it out of the space")
    return SearchTask(plan, space, ranker.most_steps())


def study_identity(ranker: Ranker, space: Space, plan: TuningPlan, digest: str) -> dict[str, Any]:
    """What must be the same for the records of an earlier run to count: all but the strategy."""
    settings = {name: value for name, value in ranker.stored_settings().items() if name not in space}
    identity: dict[str, Any] = plain(
        {
            "ranker": ranker.name,
            "settings": {name: value for name, value in settings.items() if name not in ("seed", "select")},
            "space": describe(space),
            "metric": plan.metric,
            "metrics": plan.all_metrics,
            "seeds": plan.all_seeds,
            "data": digest,
        }
    )
    return identity


def _last_round(trials: Sequence[TrialResult]) -> list[TrialResult]:
    """The trials to choose among: those with the largest budget, each configuration once."""
    largest = max(trial.trial.limit for trial in trials)
    seen: dict[str, TrialResult] = {}
    for trial in trials:
        if trial.trial.limit == largest:
            seen.setdefault(canonical(trial.trial.settings), trial)
    return list(seen.values())


def search_name(plan: TuningPlan) -> str:
    """The name of a search in its study: its strategy, and the options that make it differ from others."""
    told = [plan.strategy]
    told += [f"{name}{value}" for name, value in (("trials", plan.trials), ("from", plan.min_budget)) if value]
    told += [f"eta{plan.eta}"] if plan.strategy in CONTINUING and plan.eta != 3 else []
    return "-".join(told)


def _search_record(plan: TuningPlan, trials: Sequence[TrialResult]) -> Mapping[str, Any]:
    return {
        "strategy": plan.strategy,
        "trials": [
            {
                "settings": one.trial.settings,
                "budget": one.trial.budget,
                "experiments": [record.experiment.key for record in one.records],
            }
            for one in trials
        ],
    }


def refit(
    ranker: Ranker, chosen: TrialResult, train: RankingDataset, valid: RankingDataset | None, metric: str, seed: int
) -> Refit:
    """`ranker` trained on `train`, with the number of steps that the chosen trial suggests.

    If trials were validated on folds, that is the mean number of steps that the models of the chosen trial kept,
    rounded up; it is not scaled for the larger data. If validation data was given, it chooses the steps again. A ranker
    that validates itself is trained as it is.
    """
    known = ranker.get_params(deep=False)
    settings: dict[str, Any] = {"select": metric, "seed": seed}
    steps = None
    if valid is None and ranker.budget is not None and not ranker.validates_itself:
        # Whatever a study's records say: a model keeps at most the steps that it may take, and one more for SortNet,
        # which counts its random first net.
        steps = max(1, math.ceil(min(chosen.mean_steps, (ranker.most_steps() or 0) + 1)))
        settings |= {ranker.budget: steps, "early_stopping": None}
    ranker.set_params(**{name: value for name, value in settings.items() if name in known})
    return Refit(_fitted(ranker, train, valid), steps)


def with_seed(ranker: Ranker, seed: int, train: RankingDataset, valid: RankingDataset | None) -> Ranker:
    """The same ranker trained again with another seed; itself where nothing in it is random."""
    if "seed" not in ranker.get_params(deep=False):
        return ranker
    return _fitted(clone(ranker).set_params(seed=seed), train, valid)


def _fitted(ranker: Ranker, train: RankingDataset, valid: RankingDataset | None) -> Ranker:
    ranker.fit(train, valid=valid)
    if ranker.history_.interrupted:
        # A model of fewer steps is not what was chosen. The study keeps the trials, and the same call goes on there.
        raise KeyboardInterrupt
    return ranker


@dataclass(frozen=True, slots=True, eq=False)
class NestedResult:
    """What the search on each outer fold chose, and what that reached on the queries it never saw.

    Attributes
    ----------
    metric : str
        What was searched for and is measured.
    tuned : tuple of Tuned
        The search of each outer fold.
    measured : tuple of MetricResult
        The metric of the ranker that each search gave, on the fold's own queries.
    """

    metric: str
    tuned: tuple[Tuned, ...]
    measured: tuple[MetricResult, ...]

    @property
    def mean(self) -> float:
        """The mean over the queries of all outer folds."""
        return self._over_all_folds().mean

    def interval(self, seed: int = 0) -> Interval:
        """Return the 95 % bootstrap interval of the mean; `seed` is that of the bootstrap."""
        return self._over_all_folds(seed).interval

    def _over_all_folds(self, seed: int = 0) -> MetricResult:
        values = np.concatenate([result.values for result in self.measured])
        weights = np.concatenate([result.weights for result in self.measured])
        return replace(self.measured[0], values=values, weights=weights, seed=seed, threads=1)

    def to_dict(self) -> dict[str, Any]:
        """Return the result in types JSON can hold.

        Its "optimism" is how much higher the chosen settings' value is on validation queries than on held-out ones.
        """
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
    study: FilePath | None = None,
    cluster: str | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    listeners: Sequence[StudyListener] = (),
    tell: Callable[[str], None] | None = None,
    verbose: bool = False,
) -> NestedResult:
    """Measure a whole search for settings on queries that it never saw.

    The data is cut into outer folds. For each of them, settings are searched for and a ranker is trained on the other
    folds alone; then it is measured on the fold.

    Parameters
    ----------
    ranker : Ranker or str
        The ranker, or its name. It holds the settings that are not searched.
    data : RankingDataset
        The data to cut.
    folds : int, default 5
        How many outer folds there are, 2 or more. (How many folds each search cuts is a parameter of `plan`.)
    space : mapping or str, optional
        What to search, as in `tune`. By default the ranker's own space.
    plan : TuningPlan, optional
        How each search is made.
    study : path, optional
        A folder that keeps the searches, in folders `outer-1`, `outer-2`, … of their own. The same call goes on where
        a killed one stopped.
    cluster : str, optional
        Where experiments run, as in `open_engine`. By default on processes of this machine.
    workers : int, optional
        How many experiments run at a time. By default one per core.
    engine : Engine, optional
        An open engine to use in place of `cluster` and `workers`.
    listeners : sequence of callable, default ()
        Called with a `StudyProgress` after each experiment.
    tell : callable, optional
        Called with a line of text after each outer fold.
    verbose : bool, default False
        Whether to show how far it is, the metric and the time left: in one line on a terminal or in a notebook,
        elsewhere in a line every few seconds.

    Returns
    -------
    NestedResult
        The metric's mean and interval over the queries of all outer folds, and each search.

    Examples
    --------
    >>> import rankwright as rw
    >>> from rankwright.settings.spaces import Choice
    >>> data = rw.synthetic.web_search(n_queries=20, seed=0)
    >>> plan = rw.TuningPlan(strategy="grid", folds=2)
    >>> with rw.open_engine(workers=1) as engine:
    ...     found = rw.nested_cross_validation(
    ...         rw.LambdaMART(n_trees=5), data, folds=2, space={"max_leaves": Choice((3, 7))}, plan=plan, engine=engine
    ...     )
    >>> len(found.tuned), 0 < found.mean < 1
    (2, True)
    """
    chosen = plan or TuningPlan()
    listening = [*listeners, announce_study] if verbose else listeners
    outer = list(k_fold(data.groups, folds, seed=chosen.seed, order=key_order(data).queries))
    together = SeveralStudies([n_experiments(ranker, space, chosen, n_folds=chosen.folds)] * folds, listening)
    tuned, measured = [], []
    with progress_shown(shows=verbose), ExitStack() as opened:
        running = engine or opened.enter_context(open_engine(cluster, workers))
        for number, fold in enumerate(outer, start=1):
            together.begin_study(number - 1, f"outer fold {number}")
            found = tune(
                ranker,
                data.take_queries(fold.train),
                space=space,
                plan=chosen,
                study=None if study is None else Path(study) / f"outer-{number}",
                engine=running,
                listeners=[together.hear],
            )
            if engine is None:
                running.free()  # what this fold's trials shared, before the next
            held_out = data.take_queries(fold.test)
            evaluation = evaluate(found.ranker.predict_from_start(held_out), held_out, [chosen.metric])
            result = next(iter(evaluation.results.values()))
            tuned.append(found)
            measured.append(result)
            if tell is not None:
                tell(f"outer fold {number} of {folds}: {chosen.metric} {result.mean:.4f}, {found.settings}")
    return NestedResult(chosen.metric, tuple(tuned), tuple(measured))
