"""What linear rankers share: a recipe for models of arrays, and how these arrays are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rankwright.arrays import Arrays, Float64Array, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.features.missing import without_missing
from rankwright.linear.model import ArraysModel
from rankwright.linear.rows import JudgedRows, judged_rows
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.recipe import LessonRecipe, PreparedData, watched_lesson
from rankwright.rankers.trained import TrainedRanker, TrainingFindings
from rankwright.rankers.views import View
from rankwright.training.driver import Learned, Learner, Lesson


@dataclass(frozen=True, slots=True)
class LinearRecipe(LessonRecipe):
    """Arrays that a learner finds step by step: `learner(settings, rows, threads)`.

    `on_preferences(settings, data, threads)` takes its place where the data has preferences, if there is such a way.
    """

    learner: Callable[[Any, JudgedRows, int], Learner]
    on_preferences: Callable[[Any, RankingDataset, int], Learner] | None = None
    alone: bool = False  # whether it learns from each label by itself

    def learns_alone(self, ranker: Any, found: TrainingFindings) -> bool:  # noqa: ARG002
        """Whether it learns from each label by itself; otherwise a query's documents must differ in label."""
        return self.alone

    def lesson(self, prepared: PreparedData, settings: Any) -> Lesson:
        """The lesson that finds the arrays."""
        threads, data, kind = thread_count(settings.threads), prepared.data, settings.model_kind
        if data.preferences is not None and self.on_preferences is not None:
            learner = self.on_preferences(settings, data, threads)
        else:
            learner = self.learner(settings, judged_rows(data, settings.name), threads)
        watched = None if prepared.valid is None else without_missing(prepared.valid)

        def current_scores() -> Float64Array:
            assert watched is not None
            scores: Float64Array = kind.scorer_of(settings, learner.model()).scores(watched.features, threads=threads)
            return scores

        def model_of(learned: Learned) -> ArraysModel:
            model: ArraysModel = kind.of_arrays(settings, learned.model, learned.n_steps, data.n_features)
            return model

        return watched_lesson(settings, learner, model_of, data, watched, prepared.parts, current_scores)


def _arrays_model(trained: TrainedRanker) -> ArraysModel:
    assert isinstance(trained.model, ArraysModel)
    return trained.model


def _weights_of(trained: TrainedRanker) -> Float64Array:
    coefficients = _arrays_model(trained).coefficients
    if coefficients is None:
        raise AttributeError(f"this {trained.ranker} is no weighted sum of features: it has no coef_")
    return coefficients


class LinearRanker(Ranker):
    """A ranker whose model is some arrays."""

    model_kind = ArraysModel
    coef_ = View[Float64Array](_weights_of, "The weight of each scaled feature; only linear models have such weights.")
    arrays_ = View[Arrays](lambda trained: _arrays_model(trained).arrays, "The arrays of the model, by name.")
    n_epochs_ = View[int](lambda trained: trained.model.n_steps, "How many steps the model was trained for.")
