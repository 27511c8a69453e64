"""How a ranker learns: what it was given is prepared, becomes a lesson, and the driver makes a trained ranker of it.

    source → prepared → lesson → trained

A kind of ranker has one recipe, a frozen value without state. Most recipes say only how prepared data becomes a lesson
(`LessonRecipe`); those of forests and of bags have sources and ways of training of their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from rankwright.arrays import thread_count
from rankwright.clicks.bias import PairwiseDebiased, position_ratios
from rankwright.data.columns import Columns
from rankwright.data.dataset import RankingDataset
from rankwright.errors import require
from rankwright.features.scaling import FittedScaling, parse_scaling
from rankwright.formats.reading import DataFile
from rankwright.objectives.objective import Objective
from rankwright.progress.stages import announce
from rankwright.rankers.inputs import training_data, validation_data
from rankwright.rankers.known_features import KnownFeatures
from rankwright.rankers.model import Model
from rankwright.rankers.stages import Stage, run_stages, usual_stages
from rankwright.rankers.trained import TrainedRanker, TrainingFindings
from rankwright.training.digest import data_digest, digests_of, run_identity
from rankwright.training.driver import Checkpoint, Learned, Learner, Lesson, appender, learn, watches_of
from rankwright.training.loop import History, Listener, LoopPlan


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRun:
    """How a training run is followed: what is called after every step, and where its progress is saved."""

    listeners: Sequence[Listener] = ()
    folder: Path | None = None  # of the checkpoint
    allow_empty: bool = False  # whether a model may come out that learned nothing


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """What `fit` was given: a file, or a dataset in memory; and what to validate on, as the caller has it."""

    file: DataFile | None
    data: RankingDataset | None
    valid: Any = None
    columns: Columns | None = None  # the frame's columns that were told by name

    def dataset(self, ranker: Any) -> RankingDataset:
        """The data in memory, read from the file where it is in one."""
        if self.data is not None:
            return self.data
        assert self.file is not None
        return training_data(ranker, self.file.read(), None, {})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PreparedData:
    """What is learned from: data that went through all stages, what is watched meanwhile, and what was found."""

    data: RankingDataset  # scaled, unless the model scales features itself
    valid: RankingDataset | None
    parts: Mapping[str, int]  # how many queries each part of `valid` has, where it has several
    features: KnownFeatures
    scaling: FittedScaling | None
    findings: TrainingFindings
    clicks: RankingDataset | None = None  # the data before it was scaled, where positions are weighed


class Recipe(Protocol):
    """How rankers of one kind learn; `ranker` is one of them, with its settings."""

    def train(self, ranker: Any, given: Given, run: TrainingRun) -> TrainedRanker:
        """The trained ranker; `ranker` has the settings, and what an earlier training left for a warm start."""

    def learns_alone(self, ranker: Any, found: TrainingFindings) -> bool:
        """Whether it learns from each label by itself; otherwise a query's documents must differ in label."""


class LessonRecipe(ABC):
    """A recipe that turns prepared data into a lesson."""

    @abstractmethod
    def lesson(self, prepared: PreparedData, settings: Any) -> Lesson:
        """The lesson that learns from prepared data with the settings of a ranker."""

    def learns_alone(self, ranker: Any, found: TrainingFindings) -> bool:  # noqa: ARG002
        """Whether it learns from each label by itself; otherwise a query's documents must differ in label."""
        return False

    def first_stages(self, settings: Any) -> tuple[Stage, ...]:  # noqa: ARG002
        """The stages that come before the usual ones."""
        return ()

    def train(self, ranker: Any, given: Given, run: TrainingRun) -> TrainedRanker:
        """The ranker, trained by the lesson that the prepared data makes."""
        prepared = prepare(ranker, given.dataset(ranker), given, run, self.first_stages(ranker))
        lesson = self.lesson(prepared, ranker)
        learned, watched = follow(lesson, ranker, loop_plan(ranker, n_steps=lesson.n_steps), run)
        found = replace(prepared.findings, watched=watched)
        outcome = TrainingOutcome(lesson.model(learned), learned.history, data_digest(prepared.data), found)
        return trained_ranker(ranker, outcome, prepared.features, prepared.scaling, prepared.clicks)


def prepare(
    ranker: Any, data: RankingDataset, given: Given, run: TrainingRun, first: Sequence[Stage] = ()
) -> PreparedData:
    """The data after all stages, scaled as the ranker wants it, with its validation data."""
    data = data.dense(f"{ranker.name} learns from all values of sparse features (lambdamart and mart do not)")
    known = KnownFeatures.of(data)
    valid = validation_data(ranker, known, given.columns, given.valid)
    data, found = run_stages(data, first, TrainingFindings(columns=given.columns))
    clicks = data if found.weighs_positions else None
    data, found = run_stages(data, usual_stages(ranker, allow_empty=run.allow_empty), found)
    scaling = scaling_for(ranker, data)
    watched = None if valid.documents is None else valid.documents.dense("validation data")
    if scaling is not None and not ranker.model_kind.scales_itself:
        data = scaling.apply(data, threads=ranker.threads)
        watched = None if watched is None else scaling.apply(watched, threads=ranker.threads)
    return PreparedData(
        data=data, valid=watched, parts=valid.parts, features=known, scaling=scaling, findings=found, clicks=clicks
    )


def scaling_for(ranker: Any, data: RankingDataset) -> FittedScaling | None:
    """The scaling to train with: fitted on `data`, or that of the model which a warm start continues."""
    name = ranker.scaling_name
    chosen = None if name is None else parse_scaling(name)
    earlier: TrainedRanker | None = ranker.to_continue()
    if earlier is not None:
        before = None if earlier.scaling is None else earlier.scaling.scaling
        require(chosen == before, f"warm_start goes on with the scaling it began with: {before and before.name}")
        return earlier.scaling
    if chosen is None:
        return None
    announce("scaling features")
    return chosen.fit(data, threads=ranker.threads)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingOutcome:
    """What training gave: a model, its history, the fingerprint of the training data, and all that was found."""

    model: Model
    history: History
    training_data: str
    findings: TrainingFindings


def trained_ranker(
    ranker: Any,
    outcome: TrainingOutcome,
    features: KnownFeatures,
    scaling: FittedScaling | None = None,
    clicks: RankingDataset | None = None,
) -> TrainedRanker:
    """The trained ranker that an outcome makes of data with these features.

    `clicks` are the documents whose positions were weighed along with training, if they were.
    """
    trained = TrainedRanker(
        ranker=ranker.name,
        settings=ranker.stored_settings(),
        model=outcome.model,
        scaling=scaling,
        features=features,
        history=outcome.history,
        training_data=outcome.training_data,
        findings=outcome.findings,
    )
    debiasing, threads = trained.findings.debiasing, thread_count(ranker.threads)
    if clicks is None or debiasing is None:
        return trained
    ratios = position_ratios(clicks, trained.scores(clicks, threads=threads), threads=threads)
    return replace(trained, findings=replace(trained.findings, debiasing=replace(debiasing, ratios=ratios)))


def weighed_by_position(objective: Objective, found: TrainingFindings) -> Objective:
    """The objective to train with: one that weighs documents by position, if they are to be."""
    return PairwiseDebiased(objective) if found.weighs_positions else objective


def follow(
    lesson: Lesson, ranker: Any, plan: LoopPlan, run: TrainingRun, *, keeps_all: bool = False
) -> tuple[Learned, Mapping[str, list[float]]]:
    """What the lesson's learner learned, and the values of further validation data after each step.

    With `keeps_all` the number of steps was chosen before, and what is watched chooses nothing.
    """
    watched: dict[str, list[float]] = {name: [] for name in lesson.others}
    measuring = [appender(watch.measure, watched[name]) for name, watch in lesson.others.items()]
    learned = learn(
        lesson,
        plan,
        chooses=ranker.chooses_steps and not keeps_all,
        smoothing=getattr(ranker, "smoothing", 0.0),
        checkpoint=checkpoint_of(lesson, ranker, run.folder),
        listeners=[*measuring, *run.listeners],
    )
    return learned, watched


def checkpoint_of(lesson: Lesson, ranker: Any, folder: Path | None) -> Checkpoint | None:
    """The checkpoint of a lesson in that folder, if there is one."""
    return None if folder is None else Checkpoint(folder, run_identity(*lesson.digests(), lasting_settings(ranker)))


def lasting_settings(ranker: Any) -> dict[str, Any]:
    """What must be the same for a checkpoint to be continued; the number of steps may grow."""
    settings = {"kind of ranker": ranker.name} | ranker.stored_settings()
    if settings.get("debias") == "auto":  # what it does shows in the labels that are trained on
        del settings["debias"]
    return {name: value for name, value in settings.items() if name not in (ranker.budget, "warm_start")}


def loop_plan(ranker: Any, *, n_steps: int | None = None) -> LoopPlan:
    """How long to train: the steps that the ranker's budget says, or one if no setting counts them."""
    steps = n_steps or ranker.most_steps() or 1
    patience, what = getattr(ranker, "early_stopping", None), f"training {ranker.name}"
    return LoopPlan(int(steps), patience, what=what, unit=unit_of(ranker))


def unit_of(ranker: Any) -> str:
    """What a step of this ranker is called: trees, epochs, rounds."""
    budget = ranker.budget or ""
    return budget.removeprefix("n_") if budget.startswith("n_") or budget == "epochs" else "steps"


def watched_lesson(
    ranker: Any,
    learner: Learner,
    model: Callable[[Learned], Model],
    data: RankingDataset,
    watched: RankingDataset | None,
    parts: Mapping[str, int],
    scores: Any,
) -> Lesson:
    """The lesson of a learner from `data`; `scores()` gives its current scores of the watched documents."""
    threads = thread_count(ranker.threads)
    first, others = watches_of(ranker.selected_metric, watched, parts, scores, threads=threads)
    digests = partial(digests_of, data, watched)
    return Lesson(learner=learner, model=model, watch=first, others=others, digests=digests)
