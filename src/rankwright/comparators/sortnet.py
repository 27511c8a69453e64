"""SortNet: a net that compares two documents, and a sorting algorithm that ranks with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from rankwright.arrays import thread_count
from rankwright.comparators.learner import ComparatorLearner
from rankwright.comparators.model import ComparatorModel, Iteration
from rankwright.comparators.net import ComparatorNet
from rankwright.comparators.settings import SortNetSettings
from rankwright.comparators.sorting import SortedDocuments, Stability, measure_stability
from rankwright.data.dataset import RankingDataset
from rankwright.data.splits import split_queries
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.recipe import LessonRecipe, PreparedData, watched_lesson
from rankwright.rankers.trained import TrainedRanker
from rankwright.rankers.views import View
from rankwright.training.driver import Learned, Lesson

FEWEST_QUERIES_TO_SPLIT = 5
STABILITY_SHUFFLES = 5


class SortNetRecipe(LessonRecipe):
    """A comparator that learns from the pairs that sorting with it gets wrong."""

    def lesson(self, prepared: PreparedData, settings: Any) -> Lesson:
        """The lesson of all iterations; some of the data is validated on where nothing else is given."""
        data, valid = prepared.data, prepared.valid
        train, watched = (data, valid) if valid is not None else _split(settings, data)
        learner = ComparatorLearner(train, watched, settings, thread_count(settings.threads))

        def model_of(learned: Learned) -> ComparatorModel:
            net = ComparatorNet(train.n_features, learner.hidden, learned.model["weights"])
            # An interrupt may have come in the middle of an iteration.
            rated = learner.iterations[: len(learned.history.values)]
            return ComparatorModel(net, rated, learned.history.best_step or 0)

        lesson = watched_lesson(settings, learner, model_of, train, watched, prepared.parts, learner.valid_scores)
        return replace(lesson, n_steps=settings.max_iter + 1)  # iteration 0 trains nothing


def _split(settings: SortNetSettings, data: RankingDataset) -> tuple[RankingDataset, RankingDataset]:
    if data.n_queries < FEWEST_QUERIES_TO_SPLIT:
        return data, data
    parts = split_queries(data.groups, valid=settings.valid_fraction, seed=settings.seed)
    train, valid = (data.take_queries(part) for part in parts)
    return train, valid


def _model_of(trained: TrainedRanker) -> ComparatorModel:
    assert isinstance(trained.model, ComparatorModel)
    return trained.model


class SortNet(Ranker, SortNetSettings):
    """A document has no score of its own: the net compares it with others of its query, so `predict` needs `qid`. Its
    scores reproduce the order: 0 for a query's best document, -1 for the next, and so on.

    Attributes
    ----------
    net_ : ComparatorNet
        The trained comparator.
    iterations_ : list of Iteration
        What the net of each iteration was trained on.
    history_ : History
        RankQuality after each iteration.
    """

    needs_qid: ClassVar[bool] = True
    validates_itself: ClassVar[bool] = True
    model_kind = ComparatorModel
    recipe = SortNetRecipe()
    net_ = View[ComparatorNet](lambda trained: _model_of(trained).net, "The trained comparator.")
    iterations_ = View[list[Iteration]](
        lambda trained: _model_of(trained).iterations, "What the net of each iteration was trained on."
    )

    def sort(self, X: Any, qid: Any = None) -> SortedDocuments:
        """Sort the documents of each query with the comparator.

        Parameters
        ----------
        X, qid
            As for `predict`.

        Returns
        -------
        SortedDocuments
            The rows of each query, best first, and how many comparisons that took. Rows are numbered as in a dataset
            of the documents, in which the rows of a query are together.
        """
        return self._sorted(self._seen(X, qid))

    def stability(self, X: Any, qid: Any = None, *, n_shuffles: int = STABILITY_SHUFFLES) -> Stability:
        """Measure how far the order depends on more than the comparator.

        Parameters
        ----------
        X, qid
            As for `predict`.
        n_shuffles : int, default 5
            How many random orders to start sorting from.

        Returns
        -------
        Stability
            How far the order depends on where sorting starts and on the algorithm, and how often the net is
            intransitive.
        """
        return self._stability(self._seen(X, qid), n_shuffles)

    def examine(self, X: Any, qid: Any = None) -> dict[str, Any]:
        """Tell how many comparisons sorting takes, and how stable the order is; see `Ranker.examine`."""
        data = self._seen(X, qid)
        comparisons = {"comparisons": int(self._sorted(data).n_comparisons.sum())}
        return {"sorting": comparisons | self._stability(data, STABILITY_SHUFFLES).to_dict()}

    def _seen(self, X: Any, qid: Any) -> RankingDataset:
        """The documents as the comparator sees them."""
        return self.trained_.seen_by_model(self.documents_to_score(X, qid), self.threads)

    def _stability(self, data: RankingDataset, n_shuffles: int) -> Stability:
        rng, threads = np.random.default_rng(self.seed), thread_count(self.threads)
        return measure_stability(self.net_, data.features, data.groups, n_shuffles=n_shuffles, rng=rng, threads=threads)

    def _sorted(self, data: RankingDataset) -> SortedDocuments:
        return _model_of(self.trained_).sorted(data, threads=thread_count(self.threads))
