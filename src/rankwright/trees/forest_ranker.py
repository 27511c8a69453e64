"""The base class of boosted trees: their training, tree by tree."""

from __future__ import annotations

import copy
from abc import abstractmethod

import numpy as np

from rankwright.arrays import thread_count
from rankwright.errors import require
from rankwright.objectives.objective import Objective
from rankwright.objectives.registry import learns_alone
from rankwright.rankers.ranker import TrainingRun
from rankwright.training.driver import Earlier, Learned, Lesson
from rankwright.training.loop import History, Watch
from rankwright.trees.binned_ranker import BinnedLists, BinnedRanker
from rankwright.trees.bins.binned import BinnedDataset, binned_digest, feature_numbers
from rankwright.trees.boosting import Boosting, BoostingParams, resumed_after
from rankwright.trees.forests.forest import Forest
from rankwright.trees.model import ForestModel
from rankwright.trees.params import SplitGain, TreeParams


class ForestRanker(BinnedRanker):
    """A ranker whose model is a boosted forest. Its objective gives the force on each document's score."""

    model_kind = ForestModel
    model_: ForestModel

    @abstractmethod
    def _objective(self) -> Objective: ...

    @abstractmethod
    def _split_gain(self) -> SplitGain: ...

    def _learns_alone(self) -> bool:
        return learns_alone(self._objective())

    def _base_score(self, data: BinnedDataset) -> float:  # noqa: ARG002
        return 0.0

    def with_forest(self, forest: Forest, base_score: float | None = None) -> ForestRanker:
        """Make a trained ranker with other trees; see `BinnedRanker.with_forest`."""
        other = copy.copy(self)
        other.model_ = ForestModel(forest, self.base_score_ if base_score is None else base_score)
        other.history_ = History()
        return other

    def _grow(self, lists: BinnedLists, run: TrainingRun) -> None:
        data, earlier = lists.data, self._earlier()
        if earlier is not None:
            base_score = self.base_score_
        else:
            # Training starts from initial scores alone: a constant added to them would be learned twice.
            base_score = self._base_score(data) if data.initial_scores is None else 0.0
        threads = thread_count(self.threads)
        boosting = Boosting(
            data,
            self._objective().bind(data, threads=threads),
            self._params(data),
            base_score=base_score,
            watched=lists.valid,
            queries=lists.queries,
            score_all=lists.watch_others,
            threads=threads,
        )

        def model_of(learned: Learned) -> ForestModel:
            return ForestModel(boosting.forest().truncated(int(learned.model["n_trees"][0])), base_score)

        lesson = Lesson(
            learner=boosting,
            model=model_of,
            watch=self._watch_lists(boosting, lists),
            digests=lists.digests,
            earlier=earlier,
        )
        self._follow(lesson, run)
        self.data_digest_ = binned_digest(data)

    def _watch_lists(self, boosting: Boosting, lists: BinnedLists) -> Watch | None:
        """A watch over the validation data, or over the queries that are not trained on."""
        if not lists.watch_others:
            return self._watch(None if lists.valid is None else lists.valid.documents, lambda: boosting.watched_scores)
        assert lists.queries is not None
        others = np.setdiff1d(np.arange(lists.data.n_queries), lists.queries)
        rows = lists.data.groups.rows_of(others)
        return self._watch(lists.data.documents.take_queries(others), lambda: boosting.scores[rows])

    def _params(self, data: BinnedDataset) -> BoostingParams:
        monotone = dict(self.monotone or {})
        return BoostingParams(
            tree=TreeParams(
                max_leaves=self.max_leaves,
                max_depth=self.max_depth,
                min_docs_in_leaf=_least_docs(self.min_docs_in_leaf, data.n_docs),
                l2=self.l2,
                split_gain=self._split_gain(),
                learning_rate=self.learning_rate,
            ),
            query_fraction=self.query_fraction,
            feature_fraction=self.feature_fraction,
            monotone=dict(zip(feature_numbers(data.names, monotone), monotone.values(), strict=True)),
            seed=self.seed,
        )

    def _earlier(self) -> Earlier | None:
        """The trees to continue from, if `warm_start` asks for it and there are any."""
        if not self._optional("warm_start") or not hasattr(self, "model_"):
            return None
        require(
            self.n_trees >= self.forest_.n_trees,
            f"warm_start adds trees: n_trees must be {self.forest_.n_trees} or more, got {self.n_trees}",
        )
        return resumed_after(self.forest_, self.history_)


def _least_docs(setting: float, n_docs: int) -> int:
    """`min_docs_in_leaf` as a count: a fraction is one of the training rows, rounded up."""
    if isinstance(setting, int | np.integer):
        return int(setting)
    require(
        0 < setting < 1,
        f"min_docs_in_leaf must be a whole number or a fraction of the rows between 0 and 1, got {setting!r}",
    )
    return max(1, int(np.ceil(setting * n_docs)))
