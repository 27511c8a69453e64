"""How a blend learns: its rankers are trained on all queries, and once without each fold, whose queries they score.

Each of these trainings is a part, which is kept in the checkpoint when it is finished, and can be done by a worker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rankwright.arrays import Float64Array, thread_count
from rankwright.bagging.bagging import Bagging
from rankwright.blending.combining import Combining, slopes
from rankwright.blending.model import BlendModel, as_member
from rankwright.blending.weights import learned_weights
from rankwright.cluster.engine import Report
from rankwright.cluster.in_process import ThreadEngine
from rankwright.container.checks import file_faults, read_array
from rankwright.container.file import Container
from rankwright.data.dataset import RankingDataset
from rankwright.data.splits import Fold, k_fold
from rankwright.errors import require
from rankwright.progress.stages import announce
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.recipe import (
    Given,
    TrainingOutcome,
    TrainingRun,
    lasting_settings,
    prepare,
    trained_ranker,
)
from rankwright.rankers.stages import refuse
from rankwright.rankers.trained import TrainedRanker, TrainingFindings
from rankwright.training.digest import digests_of, run_identity
from rankwright.training.driver import Checkpoint, watches_of
from rankwright.training.loop import History

FOLD_STREAM = 0x666F  # added to the seed: the folds must not depend on other draws


class BlendPart(NamedTuple):
    """A training: which ranker, and without which fold; None trains on all queries."""

    ranker: int
    fold: int | None


@dataclass(frozen=True, slots=True, eq=False)
class BlendLesson:
    """What the parts of a blend are made from; engines send it to their workers."""

    rankers: tuple[Ranker, ...]  # untrained, except those of other tools
    data: RankingDataset
    valid: RankingDataset | None
    folds: tuple[Fold, ...]

    def parts(self) -> Iterator[BlendPart]:
        """The parts there are: those of the folds first, by which weights are learned."""
        for number, ranker in enumerate(self.rankers):
            if not is_trained_elsewhere(ranker):
                yield from (BlendPart(number, fold) for fold in [*range(len(self.folds)), None])

    def made(self, part: BlendPart, saved: Container | None, threads: int | None) -> Float64Array | TrainedRanker:
        """The scores of a fold's queries by a ranker that was trained without them, or the ranker trained on all."""
        ranker: Ranker = clone(self.rankers[part.ranker])
        fold = None if part.fold is None else self.folds[part.fold]
        if saved is not None:
            with file_faults(saved.path, "checkpoint"):
                if fold is None:
                    inner = [ranker.single()] if isinstance(ranker, Bagging) else []
                    kinds: dict[str, Any] = {"kinds": {one.name: type(one) for one in inner}} if inner else {}
                    return type(ranker).from_state(saved.header["model"], saved.arrays, **kinds).trained_
                n_docs = int(self.data.groups.sizes[fold.test].sum())
                return np.asarray(read_array(saved.arrays, "scores", np.float64, (n_docs,)))
        given = self.data if fold is None else self.data.take_queries(fold.train)
        trained: TrainedRanker = (
            ranker.set_params(threads=threads).fit(given, valid=self.valid, allow_empty=True).trained_
        )
        if fold is None:
            return trained
        return trained.scores(self.data.take_queries(fold.test), threads=thread_count(threads))


class PartTask(NamedTuple):
    """A part to make, what an earlier run saved of it, and how many threads to use; None leaves that to the engine."""

    part: BlendPart
    saved: Container | None
    threads: int | None


def make_part(lesson: BlendLesson, task: PartTask, report: Report) -> Float64Array | TrainedRanker:  # noqa: ARG001
    """Make one part, in a worker."""
    return lesson.made(*task)


def is_trained_elsewhere(ranker: Ranker) -> bool:
    """Whether a ranker comes from another tool: it is taken as it is."""
    return not hasattr(ranker, "recipe")


class BlendRecipe:
    """Rankers of any kinds, trained on the same data, and their weights."""

    def learns_alone(self, ranker: Any, found: TrainingFindings) -> bool:
        """Whether every ranker learns from each label by itself."""
        trained = [one for one in ranker.each() if not is_trained_elsewhere(one)]
        return all(one.recipe.learns_alone(one, found) for one in trained)

    def train(self, ranker: Any, given: Given, run: TrainingRun) -> TrainedRanker:
        """The blend of trained rankers."""
        rankers, combining = tuple(ranker.each()), Combining.of(ranker.combine, ranker.scores)
        _check_weights(ranker.weights, len(rankers))
        prepared = prepare(ranker, given.dataset(ranker), given, run)
        data, valid, threads = prepared.data, prepared.valid, thread_count(ranker.threads)
        for one in rankers:
            if not is_trained_elsewhere(one):
                refuse(one, data, prepared.findings)
        needs_folds = (ranker.weights is None or combining.is_sum) and data.labels is not None
        lesson = BlendLesson(rankers, data, valid, _folds(data, ranker) if needs_folds else ())
        members, unseen = trained_parts(ranker, lesson, run)
        model = model_of(ranker, members, unseen, data, combining, threads=threads)

        def watched_scores() -> Float64Array:
            assert valid is not None
            return model.scores(valid, threads=threads)

        watches = watches_of(ranker.selected_metric, valid, prepared.parts, watched_scores, threads=threads)
        history = History()
        if watches.first is not None:
            history = History(watches.first.name, watches.first.higher_is_better, [watches.first.measure()])
        watched = {name: [watch.measure()] for name, watch in watches.others.items()}
        found = replace(prepared.findings, watched=watched)
        outcome = TrainingOutcome(model, history, digests_of(data, valid)[0], found)
        return trained_ranker(ranker, outcome, prepared.features)


def model_of(
    ranker: Any,
    members: tuple[TrainedRanker, ...],
    unseen: Float64Array | None,
    data: RankingDataset,
    combining: Combining,
    *,
    threads: int,
) -> BlendModel:
    """The blend of these rankers; `unseen` are their scores of queries that they were not trained on."""
    n = len(members)
    factors, weights = np.ones(n), np.full(n, 1 / n)
    if unseen is not None and combining.is_sum:
        assert data.labels is not None
        factors = slopes(unseen, data.labels.astype(np.float64), data.groups)
    if ranker.weights is not None:
        weights = np.array(ranker.weights, np.float64) / sum(ranker.weights)
    elif unseen is not None:
        how: dict[str, Any] = {"shrinkage": ranker.shrinkage, "seed": ranker.seed, "threads": threads}
        weights = learned_weights(unseen, data, combining, ranker.selected_metric, factors=factors, **how)
    return BlendModel(tuple(map(as_member, members)), weights, factors, combining)


def trained_parts(
    ranker: Any, lesson: BlendLesson, run: TrainingRun
) -> tuple[tuple[TrainedRanker, ...], Float64Array | None]:
    """The rankers trained on all queries, and each document's scores by rankers that never saw its query."""
    identity = run_identity(*digests_of(lesson.data, lesson.valid), lasting_settings(ranker))
    files = {part: _file(run.folder, part, identity) for part in lesson.parts()}
    engine, threads = ranker.engine or ThreadEngine(1), ranker.threads if ranker.engine is None else None
    found: dict[BlendPart, Any] = {}
    saved = {part: None if file is None else file.load() for part, file in files.items()}
    tasks = [PartTask(part, saved[part], threads) for part in files]
    announce("training the rankers of a blend", 0, len(tasks), unit="trainings")
    with closing(engine.run(make_part, tasks, shared=engine.share(lesson))) as running:
        for done in running:
            part, file = tasks[done.number].part, files[tasks[done.number].part]
            found[part] = done.result
            if file is not None and saved[part] is None:
                _save(file, done.result)
            announce("training the rankers of a blend", len(found), len(tasks), unit="trainings")
    members = tuple(
        one.trained() if is_trained_elsewhere(one) else found[BlendPart(number, None)]
        for number, one in enumerate(lesson.rankers)
    )
    return members, _unseen(lesson, members, found) if lesson.folds else None


def _unseen(lesson: BlendLesson, members: tuple[TrainedRanker, ...], found: Mapping[BlendPart, Any]) -> Float64Array:
    groups = lesson.data.groups
    matrix = np.empty((groups.n_docs, len(members)))
    for number, (one, member) in enumerate(zip(lesson.rankers, members, strict=True)):
        if is_trained_elsewhere(one):
            matrix[:, number] = member.scores(member.aligned(lesson.data), threads=1)
            continue
        for place, fold in enumerate(lesson.folds):
            matrix[groups.rows_of(fold.test), number] = found[BlendPart(number, place)]
    return matrix


def _folds(data: RankingDataset, ranker: Any) -> tuple[Fold, ...]:
    n_folds = min(ranker.folds, data.n_queries)
    if n_folds < 2:
        return ()
    return tuple(k_fold(data.groups, n_folds, seed=np.random.default_rng([ranker.seed, FOLD_STREAM])))


def _check_weights(weights: Any, n_rankers: int) -> None:
    if weights is not None:
        require(len(weights) == n_rankers, f"weights must be {n_rankers} numbers, one a ranker, got {len(weights)}")
        require(any(weights), "weights must have a number above 0")


def _file(folder: Path | None, part: BlendPart, identity: Mapping[str, Any]) -> Checkpoint | None:
    if folder is None:
        return None
    where = "all" if part.fold is None else f"fold-{part.fold}"
    return Checkpoint(folder / f"ranker-{part.ranker}-{where}", identity)


def _save(file: Checkpoint, made: Float64Array | TrainedRanker) -> None:
    if isinstance(made, TrainedRanker):
        header, arrays = made.to_state()
        file.save({"model": header}, arrays)
    else:
        file.save({}, {"scores": made})
