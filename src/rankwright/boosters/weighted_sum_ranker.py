"""What rankers share that climb a metric with a weighted sum of features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from rankwright.arrays import Float32Array, Float64Array, thread_count
from rankwright.boosters.measured_lists import MeasuredLists, measured_lists
from rankwright.boosters.model import WeightedSumModel
from rankwright.boosters.settings import ClimbingSettings
from rankwright.errors import require
from rankwright.features.missing import without_missing
from rankwright.rankers.model import Model
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.recipe import LessonRecipe, PreparedData, watches_for
from rankwright.rankers.trained import TrainedRanker
from rankwright.rankers.views import View
from rankwright.training.digest import digests_of
from rankwright.training.driver import NEEDS_VALIDATION, Learned, Learner, Lesson


def plain_sum(settings: Any, weights: Float64Array, n_rounds: int, n_features: int) -> WeightedSumModel:  # noqa: ARG001
    """The model of a weight for each feature."""
    return WeightedSumModel(weights, n_rounds)


@dataclass(frozen=True, slots=True)
class ClimbingRecipe(LessonRecipe):
    """Weights found round after round by a metric: `learner(settings, features, lists, threads)` of known features."""

    learner: Callable[[Any, Float32Array, MeasuredLists, int], Learner]
    model: Callable[[Any, Float64Array, int, int], WeightedSumModel] = plain_sum

    def lesson(self, prepared: PreparedData, settings: Any) -> Lesson:
        """The lesson that climbs; training documents are watched where there are no others."""
        data, valid, threads = prepared.data, prepared.valid, thread_count(settings.threads)
        patience = getattr(settings, "early_stopping", None)
        require(patience is None or valid is not None, NEEDS_VALIDATION)
        known = without_missing(data)
        lists = measured_lists(data, settings.metric, name=settings.name)
        learner = self.learner(settings, known.features, lists, threads)
        watched = known if valid is None else without_missing(valid)

        def current_scores() -> Float64Array:
            model = self.model(settings, learner.model()["weights"], 0, data.n_features)
            return model.scores(watched, threads=threads)

        def model_of(learned: Learned) -> WeightedSumModel:
            return self.model(settings, learned.model["weights"], learned.n_steps, data.n_features)

        watches = watches_for(settings, watched, prepared.parts, current_scores)
        digests = partial(digests_of, data, watched)
        return Lesson(learner=learner, model=model_of, watch=watches.first, others=watches.others, digests=digests)


def _weights_of(trained: TrainedRanker) -> Float64Array:
    assert isinstance(trained.model, WeightedSumModel)
    return trained.model.weights


class WeightedSumRanker(Ranker, ClimbingSettings):
    """A ranker whose model has a weight for each feature, and maybe others.

    `weights_` are those after the best round, by validation documents or, where there are none, by training ones. A
    missing value adds nothing to a score: with the scaling `zscore` it counts as the mean.
    """

    model_kind: ClassVar[type[Model]] = WeightedSumModel
    takes_propensities: ClassVar[bool] = False
    weights_ = View[Float64Array](_weights_of, "The weight of each feature, then those of units if there are any.")
    n_rounds_ = View[int](lambda trained: trained.model.n_steps, "How many rounds the model has seen.")
