"""How good forests of one shape are, tree by tree, on queries that they were not grown on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any

from rankwright.mart.lists import BeginForest, ForestLists
from rankwright.rankers.recipe import TrainingRun, checkpoint_of
from rankwright.training.driver import Lesson, learn
from rankwright.training.loop import History, LoopPlan
from rankwright.trees import sizing
from rankwright.trees.boosting import BoostingParams
from rankwright.trees.sizing import ForestShape


@dataclass(slots=True, eq=False)
class UnseenForests:
    """Forests of one shape, each grown without a fold of the queries; they grow on with every call of `grow`."""

    settings: Any
    shape: ForestShape
    lesson: Lesson
    run: TrainingRun
    learning_rate: float
    history: History | None = None

    @classmethod
    def of(
        cls,
        settings: Any,
        shape: ForestShape,
        lists: ForestLists,
        begin: BeginForest,
        params: BoostingParams,
        run: TrainingRun,
    ) -> UnseenForests:
        """Forests without trees yet: one without each fold, and with validation data a first one on all queries."""
        folds = sizing.length_folds(lists.data.groups, settings.seed)
        rate = params.tree.learning_rate
        n_in_all = sizing.paced(sizing.TREES_IN_ALL_FOLDS, rate)
        on_all = [begin(params)] if lists.is_validated else []
        folded = sizing.FoldedForests([*on_all, *(begin(params, fold.train) for fold in folds)], n_in_all)
        lesson = Lesson(
            learner=folded,
            model=lambda learned: learned,
            watch=lists.watch_unseen(settings.selected_metric, folded.parts, folds),
            digests=lists.digests,
        )
        return cls(settings, shape, lesson, run, rate)

    def grow(self, n_trees: int) -> None:
        """Grow up to so many trees in each forest, fewer if they have clearly passed the best number."""
        folder = None if self.run.folder is None else self.run.folder / f"length-{self.shape.growth}"
        what = f"choosing how many trees ({self.shape.growth})"
        plan = sizing.patient(LoopPlan(n_trees, what=what, unit="trees"), self.learning_rate)
        checkpoint, smoothing = checkpoint_of(self.lesson, self.settings, folder), self.settings.smoothing
        learned = learn(self.lesson, plan, smoothing=smoothing, checkpoint=checkpoint, history=self.history)
        self.history = learned.history
        if self.history.interrupted:
            raise KeyboardInterrupt  # a length that was not found is not a model

    def worth(self, n_trees: int) -> float:
        """What the best number of trees up to that one is worth: higher is better, whatever is measured."""
        assert self.history is not None
        history = replace(self.history, values=self.history.values[:n_trees])
        if history.best_mean is None:
            return -inf
        return history.best_mean if history.higher_is_better else -history.best_mean

    @property
    def best_length(self) -> int | None:
        """The best number of trees; None if there was nothing to learn."""
        assert self.history is not None
        return None if self.history.best_step is None else self.history.best_step + 1


def leader_of(candidates: list[UnseenForests], n_trees: int = sizing.RACE, lead: float | None = None) -> UnseenForests:
    """The forests that are ahead after so many trees of each; the others are not grown on.

    Those that are not the first must be better by the lead of their shape, or by `lead`, a share of the best value so
    far. With a slow learning rate the race takes more trees; one that is quicker than the others takes fewer.
    """
    leader, *others = candidates
    if not others:
        return leader
    slowest = min(candidate.learning_rate for candidate in candidates)
    n_slowest = sizing.paced(n_trees, slowest)
    lengths = [round(n_slowest * slowest / candidate.learning_rate) for candidate in candidates]
    for candidate, length in zip(candidates, lengths, strict=True):
        candidate.grow(length)
    worths = [candidate.worth(length) for candidate, length in zip(candidates, lengths, strict=True)]
    best = 0
    for number, other in enumerate(others, 1):
        wanted = other.shape.lead if lead is None else lead
        if worths[number] > worths[best] + wanted * abs(worths[best]):
            best = number
    return candidates[best]
