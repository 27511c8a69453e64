"""The base class of linear rankers, whose model is arrays that a learner finds step by step."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial

from rankwright.arrays import Arrays, Float64Array, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.features.missing import without_missing
from rankwright.linear.model import ArraysModel
from rankwright.linear.rows import JudgedRows, judged_rows
from rankwright.rankers.ranker import Ranker
from rankwright.training.digest import digests_of
from rankwright.training.driver import Learned, Learner, Lesson


class LinearRanker(Ranker):
    """A ranker whose model is some arrays. A subclass defines the learner that finds them."""

    model_kind = ArraysModel
    model_: ArraysModel

    @abstractmethod
    def _learner(self, rows: JudgedRows, threads: int) -> Learner: ...

    def _learner_on(self, data: RankingDataset, threads: int) -> Learner:
        return self._learner(judged_rows(data, self.name), threads)

    def _lesson(self, data: RankingDataset, valid: RankingDataset | None) -> Lesson:
        threads = thread_count(self.threads)
        learner = self._learner_on(data, threads)
        watched = None if valid is None else without_missing(valid)

        def current_scores() -> Float64Array:
            assert watched is not None
            return self.model_kind.scorer_of(self, learner.model()).scores(watched.features, threads=threads)

        def model_of(learned: Learned) -> ArraysModel:
            return self.model_kind.of_arrays(self, learned.model, learned.n_steps)

        return Lesson(
            learner=learner,
            model=model_of,
            watch=self._watch(watched, current_scores),
            digests=partial(digests_of, data, watched),
        )

    @property
    def coef_(self) -> Float64Array:
        """The weight of each scaled feature; only linear models have such weights."""
        if self.model_.coefficients is None:
            raise AttributeError(f"this {self.name} is no weighted sum of features: it has no coef_")
        return self.model_.coefficients

    @property
    def arrays_(self) -> Arrays:
        """The arrays that the model is made of, by name."""
        return self.model_.arrays

    @property
    def n_epochs_(self) -> int:
        """How many steps the model was trained for."""
        return self.model_.n_epochs
