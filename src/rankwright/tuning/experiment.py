"""An experiment, as a worker runs it: train on a fold up to a budget, and measure.

The experiments of a study share its folds, or for trees their bins, which are made once per fold."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from rankwright.arrays import Float64Array
from rankwright.cluster.engine import Engine
from rankwright.container.locks import scratch_folder
from rankwright.data.dataset import RankingDataset
from rankwright.errors import ContainerError, InputError, SettingError
from rankwright.mart.forest_ranker import ForestRanker
from rankwright.memory import peak_memory
from rankwright.metrics.evaluation import Evaluation, evaluate
from rankwright.rankers.ranker import Ranker
from rankwright.settings.spaces import Space
from rankwright.trees.bins.binned import BinnedDataset, bin_dataset
from rankwright.tuning.folds import FoldData, Folds
from rankwright.tuning.trials import Experiment, for_json

# Settings that change the bins, or need the features themselves.
NOT_WITH_BINS = {"max_bins", "categorical", "scaling"}


@dataclass(frozen=True, slots=True, eq=False)
class BinnedFold:
    """The documents of a fold, binned: `judged` is what is measured, without features."""

    train: BinnedDataset
    watched: BinnedDataset | None
    measured: BinnedDataset

    @property
    def judged(self) -> RankingDataset:
        """The measured documents without their features."""
        return self.measured.documents


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What workers are given once: the ranker whose settings are tried, and its documents, as folds or as bins."""

    ranker: Ranker
    metrics: tuple[str, ...]
    select: str | None  # what steps are chosen by; None leaves it to the ranker
    digest: str
    folds: Folds | None
    binned: tuple[BinnedFold, ...] | None
    key: str = ""  # the same for rankers that see the documents in the same form: they share one copy

    def shared_by(self, engine: Engine) -> object:
        """The engine's handle of the documents, without the ranker."""
        return engine.share(SharedDocuments(self.folds, self.binned), key=self.key)

    def without_documents(self) -> Prepared:
        """All but the documents, which goes with every task."""
        return replace(self, folds=None, binned=None)


@dataclass(frozen=True, slots=True, eq=False)
class SharedDocuments:
    """The documents of a study alone: what is large."""

    folds: Folds | None
    binned: tuple[BinnedFold, ...] | None

    def of(self, prepared: Prepared) -> Prepared:
        """A study with these documents."""
        return replace(prepared, folds=self.folds, binned=self.binned)


def prepare(ranker: Ranker, space: Space, folds: Folds, metrics: tuple[str, ...], *, select: str | None) -> Prepared:
    """The shared part of a study: `metrics` are measured, the first is searched for; `select` chooses steps."""
    digest = folds.digest()
    if not takes_bins(ranker, space):
        return Prepared(ranker, metrics, select, digest, folds, None, digest)
    assert isinstance(ranker, ForestRanker)
    binned = tuple(_binned(ranker, folds.fold(number)) for number in range(folds.n_folds))
    return Prepared(ranker, metrics, select, digest, None, binned, f"{digest} {ranker.binning()}")


def takes_bins(ranker: Ranker, space: Space) -> bool:
    """Whether every experiment of a study can train on the same bins."""
    return isinstance(ranker, ForestRanker) and ranker.scaling_name is None and not NOT_WITH_BINS & space.keys()


def _binned(ranker: ForestRanker, fold: FoldData) -> BinnedFold:
    # Binned as `fit` does it, so that an experiment gives the same as fitting the fold by hand.
    train = bin_dataset(fold.train, **(ranker.binning() | {"threads": None}))
    measured = bin_dataset(fold.measured, train.mapper)
    if fold.watched is None:
        return BinnedFold(train, None, measured)
    watched = measured if fold.watched is fold.measured else bin_dataset(fold.watched, train.mapper)
    return BinnedFold(train, watched, measured)


log = logging.getLogger(__name__)

SavedState = Mapping[str, bytes]  # the files of a checkpoint folder, by their path in it
SIZES = ("leaves", "weights")  # what a model's facts call its size


@dataclass(frozen=True, slots=True)
class ExperimentTask:
    """What a worker is given: the experiment, and the state after an earlier budget.

    `keeps_state` asks for the state at the end, from which a larger budget can continue.
    """

    experiment: Experiment
    earlier: SavedState | None = None
    earlier_steps: int = 0
    keeps_state: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a worker returns: the content of a record, and the state to continue from if it was asked for."""

    value: float
    per_query: dict[str, list[float | None]]
    steps: int
    new_steps: int
    kept: int
    size: int
    finished: bool
    memory_mb: float
    state: SavedState | None


def run_experiment(prepared: Prepared, task: ExperimentTask, report: Any) -> Outcome:  # noqa: ARG001
    """The outcome of an experiment; nothing is reported before the end."""
    if task.earlier is not None:
        try:
            return _run(prepared, task)
        except (ContainerError, InputError) as error:
            # The study's folder may have been changed since; the experiment can always be made from its beginning.
            log.warning("the state of an earlier budget cannot be continued, and is left aside: %s", error)
    return _run(prepared, replace(task, earlier=None, earlier_steps=0))


def run_shared_experiment(documents: SharedDocuments, given: tuple[Prepared, ExperimentTask], report: Any) -> Outcome:
    """The same for documents that several rankers share: the ranker comes with the task."""
    prepared, task = given
    return run_experiment(documents.of(prepared), task, report)


def _run(prepared: Prepared, task: ExperimentTask) -> Outcome:
    ranker = configured(prepared.ranker, prepared.select, task.experiment)
    with scratch_folder("study") as folder:
        checkpoint = Path(folder) if task.keeps_state or task.earlier is not None else None
        if task.earlier is not None:
            _unpack(task.earlier, Path(folder))
        evaluation = _train_and_measure(ranker, prepared, task.experiment.fold, checkpoint)
        finished = _is_finished(ranker)
        state = _packed(Path(folder)) if task.keeps_state and not finished else None
    return outcome_of(ranker, evaluation, finished=finished, earlier_steps=task.earlier_steps, state=state)


def configured(ranker: Ranker, select: str | None, experiment: Experiment) -> Ranker:
    """An untrained copy of the ranker with the experiment's settings, which chooses its steps by `select`."""
    own: Ranker = clone(ranker)
    known = own.get_params(deep=False)
    settings = dict(experiment.settings) | {"seed": experiment.seed, "threads": None}
    if select is not None:
        settings["select"] = select
    if experiment.budget is not None:
        assert own.budget is not None  # the strategy made sure
        settings[own.budget] = experiment.budget
    own.set_params(**{name: value for name, value in settings.items() if "__" in name or name in known})
    return own


def check_settings(ranker: Ranker, names: Any) -> None:
    """Raise if a space has a setting that the ranker does not have."""
    known = ranker.get_params(deep=True)
    for name in names:
        if name not in known:
            raise SettingError(f"{ranker.name} has no setting {name!r} to search; it has {', '.join(sorted(known))}")


def _train_and_measure(ranker: Ranker, prepared: Prepared, fold: int, checkpoint: Path | None) -> Evaluation:
    if prepared.binned is not None:
        binned = prepared.binned[fold]
        assert isinstance(ranker, ForestRanker)
        ranker.fit_binned(binned.train, binned.watched, checkpoint=checkpoint)
        return evaluate(binned_scores(ranker, binned), binned.judged, prepared.metrics)
    assert prepared.folds is not None
    data = _fold_of(prepared.digest, prepared.folds, fold)
    ranker.fit(data.train, valid=data.watched, checkpoint=checkpoint)
    return evaluate(ranker.predict_from_start(data.measured), data.measured, prepared.metrics)


def binned_scores(ranker: ForestRanker, fold: BinnedFold) -> Float64Array:
    """The scores of the measured documents by a trained forest, in the caller's order."""
    start = fold.judged.initial_scores
    scores = np.full(fold.measured.n_docs, ranker.base_score_) + (0.0 if start is None else start)
    ranker.forest_.add_scores_of_codes(fold.measured, scores)
    return np.asarray(fold.judged.in_source_order(scores))


_last_fold: tuple[tuple[str, int], FoldData] | None = (
    None  # kept because a worker is given many experiments of a fold in a row
)


def _fold_of(digest: str, folds: Folds, number: int) -> FoldData:
    global _last_fold
    if _last_fold is None or _last_fold[0] != (digest, number):
        _last_fold = None  # frees the memory of the fold before
        _last_fold = (digest, number), folds.fold(number)
    return _last_fold[1]


def _is_finished(ranker: Ranker) -> bool:
    """Whether more steps would change nothing: it stopped early, had nothing left to learn, or counts no steps."""
    if ranker.budget is None:
        return True
    most = ranker.value_of(ranker.budget) or ranker.most_steps() or 0
    return ranker.history_.stopped_early or _n_steps(ranker) < most


def _n_steps(ranker: Ranker) -> int:
    """How many steps were taken: all that were watched, or if none were watched, all steps of the model."""
    return 0 if ranker.budget is None else len(ranker.history_.values) or ranker.n_steps_


def outcome_of(
    ranker: Ranker, evaluation: Evaluation, *, finished: bool, earlier_steps: int = 0, state: SavedState | None = None
) -> Outcome:
    """What is kept of a trained and measured ranker."""
    results = evaluation.results
    steps = _n_steps(ranker)
    best, facts = ranker.history_.best_step, ranker.facts()
    return Outcome(
        value=next(iter(results.values())).mean,
        per_query={name: for_json(result.values) for name, result in results.items()},
        steps=steps,
        new_steps=max(0, steps - earlier_steps),
        kept=steps if best is None else best + 1,
        size=next((int(facts[name]) for name in SIZES if name in facts), 0),
        finished=finished,
        memory_mb=peak_memory() / 2**20,
        state=state,
    )


def _packed(folder: Path) -> SavedState:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _unpack(state: SavedState, folder: Path) -> None:
    for name, content in state.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
