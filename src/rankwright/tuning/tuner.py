"""From data and a ranker to the settings that validation prefers, and a model trained with them on all the data."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.base import clone

from rankwright.catalog.settings import ranker_from_text
from rankwright.cluster.engine import Engine, open_engine
from rankwright.data.dataset import RankingDataset
from rankwright.errors import SettingError, require
from rankwright.metrics.registry import parse_metric
from rankwright.rankers.ranker import Ranker
from rankwright.settings.spaces import Space
from rankwright.tuning.configurations import canonical, describe, plain
from rankwright.tuning.experiment import check_settings
from rankwright.tuning.folds import Folds, given_validation, validation_folds
from rankwright.tuning.preparation import prepare
from rankwright.tuning.refit import Refit, refit
from rankwright.tuning.simplicity import ranked
from rankwright.tuning.space_text import space_from_name
from rankwright.tuning.store import Store, write_refit
from rankwright.tuning.strategies.plan import BATCH_SIZE, SearchPlan
from rankwright.tuning.strategies.registry import strategy_named
from rankwright.tuning.study import Study, StudyListener
from rankwright.tuning.trials import TrialResult

CONTINUING = ("halving",)  # strategies whose trials go on from where they stood


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningPlan:
    """How to search. `metric` may carry a convention, as `ndcg@10:letor`; `metrics` are others to record.

    `folds` is in how many parts the training data is cut where no validation data is given; `seeds` how many times
    each fold is trained, with seeds from `seed` on. `trials`, `batch_size`, `min_budget` and `eta` are the strategy's.
    """

    strategy: str = "random"
    trials: int | None = None
    metric: str = "ndcg@10"
    metrics: tuple[str, ...] = ()
    folds: int = 5
    seeds: int = 1
    seed: int = 0
    batch_size: int = BATCH_SIZE
    min_budget: int | None = None
    eta: int = 3

    def __post_init__(self) -> None:
        strategy_named(self.strategy)
        for name in self.all_metrics:
            parse_metric(name)
        require(self.seeds >= 1, f"seeds must be 1 or more, got {self.seeds}")

    @property
    def all_metrics(self) -> tuple[str, ...]:
        """What is measured: what is searched for first."""
        return tuple(dict.fromkeys((self.metric, *self.metrics)))

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """The seeds of a trial's experiments."""
        return tuple(range(self.seed, self.seed + self.seeds))


@dataclass(frozen=True, slots=True, eq=False)
class Tuned:
    """What a search found: every trial in its order, the best first in `ranked`, and the ranker trained anew."""

    ranker: Ranker  # with the chosen settings; trained where a refit was asked for
    space: Space
    plan: TuningPlan
    trials: list[TrialResult]
    ranked: list[TrialResult]
    refit: Refit | None

    @property
    def best(self) -> TrialResult:
        """The chosen trial."""
        return self.ranked[0]

    @property
    def settings(self) -> dict[str, Any]:
        """The chosen settings."""
        return self.best.trial.settings

    @property
    def steps_taken(self) -> int:
        """How many steps the search took in all: trees, epochs or bags."""
        return steps_taken(self.trials)

    def to_dict(self) -> dict[str, Any]:
        """What `rankwright tune --json` prints."""
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


def steps_taken(trials: Sequence[TrialResult]) -> int:
    """The steps that these trials took together, none counted twice: the work of a search that had to do it all."""
    of_courses: dict[str, int] = {}
    for trial in trials:
        for record in trial.records:
            course = record.experiment.course
            of_courses[course] = max(of_courses.get(course, 0), record.steps)
    return sum(of_courses.values())


def tune(
    ranker: Ranker | str,
    train: RankingDataset | Folds,
    *,
    valid: RankingDataset | None = None,
    space: Space | str | None = None,
    plan: TuningPlan | None = None,
    study: str | os.PathLike[str] | None = None,
    refits: bool = True,
    cluster: str | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    listeners: Sequence[StudyListener] = (),
    **options: Any,
) -> Tuned:
    """The settings of `ranker` that validation prefers, and the ranker trained with them on all of `train`.

    `ranker` holds the settings that are not searched. `space` is a space, the name of one, or a file; default: the
    ranker's own. With `valid` each trial is validated on it, else on folds of `train`; `train` may also be folds of
    your own, of which there is nothing to train on at the end. `study` is a folder that keeps every experiment: the
    same call goes on where a killed one stopped. `cluster` and `workers` say where experiments run, as `open_engine`
    has it, unless an open `engine` is given. `options` are those of a `TuningPlan`, where none is given.
    """
    require(plan is None or not options, "give a plan, or its options, not both")
    chosen_plan = plan or TuningPlan(**options)
    base, searched = searched_space(ranker, space)
    folds = train if isinstance(train, Folds) else folds_of(train, valid, chosen_plan)
    check_settings(base, searched)
    search_plan = _search_plan(base, searched, chosen_plan)
    with ExitStack() as opened:
        running_on = engine or opened.enter_context(open_engine(cluster, workers))
        running = opened.enter_context(_study(base, searched, folds, chosen_plan, study, running_on, listeners))
        search = strategy_named(chosen_plan.strategy)(search_plan)
        trials = running.run(search, continued=chosen_plan.strategy in CONTINUING)
        final = _last_round(trials)
        best_first = search_plan.ranked(final)
        running.store.write_search(search_name(search_plan, chosen_plan), _search_record(chosen_plan, trials))
    tuned = base.set_params(**best_first[0].trial.settings)
    refitted = None
    if refits and isinstance(train, RankingDataset):
        refitted = refit(tuned, best_first[0], train, valid, chosen_plan.metric, chosen_plan.seed)
        tuned = refitted.ranker
        if study is not None:
            write_refit(study, {"chosen": best_first[0].to_dict()} | refitted.to_dict())
    return Tuned(tuned, searched, chosen_plan, trials, best_first, refitted)


def searched_space(
    ranker: Ranker | str, space: Space | str | None, *, keeps: Collection[str] = ()
) -> tuple[Ranker, Space]:
    """A copy of the ranker, and the space to search.

    A named space brings settings that go with it: they hold where the ranker has its defaults, `keeps` apart.
    """
    own: Ranker = ranker_from_text(ranker) if isinstance(ranker, str) else clone(ranker)
    if space is None:
        return own, own.space
    if not isinstance(space, str):
        return own, space
    found = space_from_name(space)
    mine, defaults = own.get_params(deep=False), type(own)().get_params(deep=False)
    beside = {
        name: value
        for name, value in found.settings.items()
        if name in mine and mine[name] == defaults[name] and name not in keeps
    }
    return own.set_params(**beside), found.space


def folds_of(train: RankingDataset, valid: RankingDataset | None, plan: TuningPlan) -> Folds:
    """The folds that trials are validated on."""
    if valid is not None:
        return given_validation(train, valid)
    return validation_folds(train, plan.folds, seed=plan.seed)


def _search_plan(ranker: Ranker, space: Space, plan: TuningPlan) -> SearchPlan:
    higher = parse_metric(plan.metric).higher_is_better
    if ranker.budget is not None and ranker.budget in space and plan.strategy in CONTINUING:
        raise SettingError(f"{ranker.budget} is what halving gives and takes: leave it out of the space")
    return SearchPlan(
        space=space,
        ranked=partial(ranked, space=space, higher_is_better=higher),
        higher_is_better=higher,
        trials=plan.trials,
        seed=plan.seed,
        batch_size=plan.batch_size,
        max_budget=None if ranker.budget is None else int(getattr(ranker, ranker.budget)),
        min_budget=plan.min_budget,
        eta=plan.eta,
    )


@contextmanager
def _study(
    ranker: Ranker,
    space: Space,
    folds: Folds,
    plan: TuningPlan,
    folder: str | os.PathLike[str] | None,
    engine: Engine,
    listeners: Sequence[StudyListener],
) -> Iterator[Study]:
    """The study and its store, in a folder that is gone afterwards where none was named."""
    prepared = prepare(ranker, space, folds, plan.all_metrics, select=plan.metric)
    identity = study_identity(ranker, space, plan, prepared.digest)
    with ExitStack() as opened:
        kept = folder or opened.enter_context(tempfile.TemporaryDirectory(prefix="rankwright-"))
        store = opened.enter_context(closing(Store(Path(kept), identity)))
        yield Study(engine, prepared, store, folds.n_folds, plan.all_seeds, listeners)


def study_identity(ranker: Ranker, space: Space, plan: TuningPlan, digest: str) -> dict[str, Any]:
    """What must be the same for records of an earlier run to count: all but how the space is searched."""
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
    """What is chosen among: the trials with the largest budget."""
    largest = max(_budget(trial) for trial in trials)
    seen: dict[str, TrialResult] = {}
    for trial in trials:
        if _budget(trial) == largest:
            seen.setdefault(canonical(trial.trial.settings), trial)
    return list(seen.values())


def _budget(result: TrialResult) -> float:
    return float("inf") if result.trial.budget is None else result.trial.budget


def search_name(search: SearchPlan, plan: TuningPlan) -> str:
    """What a search is called in its study: its strategy, and what else tells it from others of the same."""
    told = [plan.strategy]
    told += [f"{name}{value}" for name, value in (("trials", search.trials), ("from", search.min_budget)) if value]
    told += [f"eta{search.eta}"] if plan.strategy in CONTINUING and search.eta != 3 else []
    return "-".join(told)


def _search_record(plan: TuningPlan, trials: Sequence[TrialResult]) -> Mapping[str, Any]:
    return {
        "strategy": plan.strategy,
        "trials": [
            {"settings": one.trial.settings, "budget": one.trial.budget, "experiments": _keys(one)} for one in trials
        ],
    }


def _keys(result: TrialResult) -> list[str]:
    return [record.experiment.key for record in result.records]
