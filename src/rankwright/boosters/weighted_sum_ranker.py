"""The base class of rankers that climb a metric with a weighted sum of features."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial

from rankwright.arrays import Float32Array, Float64Array, thread_count
from rankwright.boosters.measured_lists import MeasuredLists, measured_lists
from rankwright.boosters.model import WeightedSumModel
from rankwright.boosters.settings import ClimbingSettings
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, require
from rankwright.features.missing import without_missing
from rankwright.rankers.ranker import Ranker
from rankwright.training.digest import digests_of
from rankwright.training.driver import NEEDS_VALIDATION, Learned, Learner, Lesson


class WeightedSumRanker(Ranker, ClimbingSettings):
    """A ranker whose model has a weight for each feature, and maybe others, found round after round by a metric.

    `weights_` are those after the best round, by validation documents or, where there are none, by training ones. A
    missing value adds nothing to a score: with the scaling `zscore` it counts as the mean.
    """

    model_kind: type[WeightedSumModel] = WeightedSumModel
    model_: WeightedSumModel

    @abstractmethod
    def _learner(self, features: Float32Array, lists: MeasuredLists) -> Learner:
        """The learner of weights from features, none of which may be missing."""

    def _weighed(self, data: RankingDataset) -> RankingDataset:
        if data.propensities is not None:
            raise InputError(
                f"{self.name} measures whole lists, in which one click cannot count more than another: leave "
                f"propensity out, or train a ranker that follows pairs or lists of documents"
            )
        return data

    def _model_of(self, weights: Float64Array, n_rounds: int) -> WeightedSumModel:
        return WeightedSumModel(weights, n_rounds)

    def _lesson(self, data: RankingDataset, valid: RankingDataset | None) -> Lesson:
        patience = self._optional("early_stopping")
        require(patience is None or valid is not None, NEEDS_VALIDATION)
        known = without_missing(data)
        learner = self._learner(known.features, measured_lists(data, self.metric, name=self.name))
        watched = known if valid is None else without_missing(valid)
        threads = thread_count(self.threads)

        def current_scores() -> Float64Array:
            return self._model_of(learner.model()["weights"], 0).scores(watched, threads=threads)

        def model_of(learned: Learned) -> WeightedSumModel:
            return self._model_of(learned.model["weights"], learned.n_steps)

        return Lesson(
            learner=learner,
            model=model_of,
            watch=self._watch(watched, current_scores),
            digests=partial(digests_of, data, watched),
        )

    @property
    def weights_(self) -> Float64Array:
        """The weight of each feature, then those of units if there are any."""
        return self.model_.weights

    @property
    def n_rounds_(self) -> int:
        """How many rounds the model has seen."""
        return self.model_.n_rounds
