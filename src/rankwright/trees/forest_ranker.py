"""The base class of boosted trees: their training, tree by tree."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from rankwright.arrays import thread_count
from rankwright.errors import require
from rankwright.objectives.families import learns_alone
from rankwright.objectives.objective import Objective
from rankwright.rankers.learning import TrainingRun
from rankwright.training.driver import Earlier, Learned, Lesson, learn
from rankwright.training.loop import History, LoopPlan, Watch
from rankwright.trees.binned_ranker import BinnedLists
from rankwright.trees.bins.binned import BinnedDataset, feature_numbers
from rankwright.trees.boosting import Boosting, BoostingParams, resumed_after
from rankwright.trees.crew_ranker import CrewRanker
from rankwright.trees.distributed.lists import CrewLists
from rankwright.trees.forests.forest import Forest
from rankwright.trees.length import (
    LASTING,
    LEAST_QUERIES,
    MOST_DOCS,
    PATIENCE,
    length_folds,
)
from rankwright.trees.model import ForestModel
from rankwright.trees.params import SplitGain, TreeParams
from rankwright.trees.sizing import LEAD_IN_BAGS, PAPER, ForestShape, chosen_settings, shape_for, shapes_to_try


class ForestRanker(CrewRanker):
    """A ranker whose model is a boosted forest. Its objective gives the force on each document's score."""

    model_kind = ForestModel
    model_: ForestModel

    @abstractmethod
    def _objective(self) -> Objective: ...

    @abstractmethod
    def _split_gain(self) -> SplitGain: ...

    def _learns_alone(self) -> bool:
        return learns_alone(self._objective())

    def _base_score(self, lists: BinnedLists) -> float:  # noqa: ARG002
        return 0.0

    def with_forest(self, forest: Forest, base_score: float | None = None) -> ForestRanker:
        """Make a trained ranker with other trees; see `BinnedRanker.with_forest`."""
        other = copy.copy(self)
        other.model_ = ForestModel(forest, self.base_score_ if base_score is None else base_score)
        other.history_ = History()
        return other

    def _grow(self, lists: BinnedLists, run: TrainingRun) -> None:
        data, earlier = lists.data, self._earlier()
        self.chosen_ = chosen_settings(self, self._shape(lists))
        if earlier is not None:
            base_score = self.base_score_
            self._grow_on_from(earlier.n_steps)
        else:
            # Training starts from initial scores alone: a constant added to them would be learned twice.
            base_score = self._base_score(lists) if data.initial_scores is None else 0.0
        grown = self._boosting_on(lists, base_score)
        if earlier is None and self._may_choose_length(lists):
            self.chosen_ = self._chosen_on_unseen(grown, lists, run)
        boosting = grown(watched=lists.valid, queries=lists.queries, score_all=lists.watch_others)

        def model_of(learned: Learned) -> ForestModel:
            return ForestModel(boosting.forest().truncated(int(learned.model["n_trees"][0])), base_score)

        lesson = Lesson(
            learner=boosting,
            model=model_of,
            watch=self._watch_lists(boosting, lists),
            digests=lists.digests,
            earlier_digests=lists.earlier_digests,
            earlier=earlier,
        )
        self._follow(lesson, run)
        self.data_digest_ = lists.digest()

    def _shape(self, lists: BinnedLists) -> ForestShape:
        """The values of settings that are None. Where steps are watched, the best of many trees is found."""
        if self._optional("mode") == "paper":
            return PAPER
        shape = shape_for(lists.n_docs)
        watched = lists.valid is not None or lists.watch_others
        return replace(shape, n_trees=shape.most_trees) if watched else shape

    def _may_choose_length(self, lists: BinnedLists) -> bool:
        """Whether held-out queries of the training data are to choose the number of trees, and can."""
        by_size = "n_trees" in self.chosen_ and self._optional("mode") != "paper"
        by_itself = lists.valid is None and lists.queries is None
        data = lists.data
        if not (by_size and by_itself) or data.n_queries < LEAST_QUERIES or data.n_docs > MOST_DOCS:
            return False
        return data.labels is not None and data.preferences is None

    def _boosting_on(self, lists: BinnedLists, base_score: float) -> Callable[..., Boosting]:
        """A function that starts boosting with the settings as they are when it is called."""
        begin = lists.boosting(self._objective(), base_score, thread_count(self.threads))

        def grown(**parts: Any) -> Boosting:
            boosting: Boosting = begin(self._params(lists.data), **parts)
            return boosting

        return grown

    def shape_on_unseen(self, lists: BinnedLists, run: TrainingRun) -> Mapping[str, Any]:
        """Tell what forests in bags should have that is not by the size of the data.

        Parameters
        ----------
        lists : BinnedLists
            What would be trained on.
        run : TrainingRun
            Where an unfinished search is kept.

        Returns
        -------
        mapping
            The open settings of the shape that is far better for queries not trained on; nothing if none is.
        """
        by_size = self.chosen_ = chosen_settings(self, self._shape(lists))
        if not self._may_choose_length(lists) or len(self._shapes_to_try(lists)) == 1:
            return {}
        base_score = self._base_score(lists) if lists.data.initial_scores is None else 0.0
        best = self._chosen_on_unseen(self._boosting_on(lists, base_score), lists, run, lead=LEAD_IN_BAGS)
        is_other = any(best[name] != value for name, value in by_size.items() if name != "n_trees")
        return {name: value for name, value in best.items() if name != "n_trees"} if is_other else {}

    def _chosen_on_unseen(
        self, grown: Callable[..., Boosting], lists: BinnedLists, run: TrainingRun, lead: float = 0.0
    ) -> Mapping[str, Any]:
        """The open settings of the shape and the number of trees that are best for queries not trained on.

        A shape that is not the first must be better by `lead`, a share of the best value so far.
        """
        best, to_beat = self.chosen_, -inf
        for shape in self._shapes_to_try(lists):
            self.chosen_ = chosen_settings(self, shape)
            history = self._watched_on_unseen(grown, shape, lists, run)
            mean = history.best_mean if history.higher_is_better else -(history.best_mean or 0.0)
            if history.best_step is not None and mean is not None and mean > to_beat:
                best, to_beat = {**self.chosen_, "n_trees": history.best_step + 1}, mean + lead * abs(mean)
        return best

    def _shapes_to_try(self, lists: BinnedLists) -> tuple[ForestShape, ...]:
        shapes = shapes_to_try(lists.n_docs)
        are_open = self.max_leaves is None and self.growth is None and self.max_depth is None
        # Symmetric trees do not split categories.
        return shapes if are_open and not lists.data.mapper.categorical.any() else shapes[:1]

    def _watched_on_unseen(
        self, grown: Callable[..., Boosting], shape: ForestShape, lists: BinnedLists, run: TrainingRun
    ) -> History:
        """How good forests of that shape are, tree by tree, on queries that they were not grown on."""
        data = lists.data
        folds = length_folds(data.groups, self.seed)
        folded = lists.folded(lambda queries: grown(queries=queries), folds)
        lesson = Lesson(
            learner=folded,
            model=lambda learned: learned,
            watch=lists.watch_unseen(self.selected_metric, folded, thread_count(self.threads)),
            digests=lists.digests,
            earlier_digests=lists.earlier_digests,
        )
        folder = None if run.folder is None else run.folder / f"length-{shape.growth}"
        what = f"choosing how many trees ({shape.growth})"
        plan = LoopPlan(shape.most_trees, PATIENCE, LASTING, what, unit="trees")
        history = learn(lesson, plan, smoothing=self.smoothing, checkpoint=self._checkpoint(lesson, folder)).history
        if history.interrupted:
            raise KeyboardInterrupt  # a length that was not found is not a model
        return history

    def _grow_on_from(self, n_trees: int) -> None:
        """Where nobody said how many trees to have in the end, those there are may be enough."""
        if "n_trees" in self.chosen_:
            self.chosen_ = {**self.chosen_, "n_trees": max(self.chosen_["n_trees"], n_trees)}

    def _loop_plan(self, watched: bool) -> LoopPlan:
        plan = super()._loop_plan(watched)
        if watched and plan.patience is None and "n_trees" in self.chosen_:
            return replace(plan, patience=PATIENCE, lasting=LASTING)
        return plan

    def _watch_lists(self, boosting: Boosting, lists: BinnedLists) -> Watch | None:
        """A watch over the validation data, or over the queries that are not trained on."""
        if isinstance(lists, CrewLists):
            return lists.watch_valid(self.selected_metric, boosting)
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
                max_leaves=self.value_of("max_leaves"),
                max_depth=self.max_depth,
                min_docs_in_leaf=_least_docs(self.value_of("min_docs_in_leaf"), data.n_docs),
                l2=self.l2,
                split_gain=self._split_gain(),
                learning_rate=self.value_of("learning_rate"),
                growth=self.value_of("growth") or "best-first",
                gain_noise=self.gain_noise,
                split_feature_fraction=self.split_feature_fraction,
            ),
            query_fraction=self.value_of("query_fraction"),
            feature_fraction=self.value_of("feature_fraction"),
            query_bootstrap=self.query_bootstrap,
            monotone=dict(zip(feature_numbers(data.names, monotone), monotone.values(), strict=True)),
            seed=self.seed,
        )

    def _earlier(self) -> Earlier | None:
        """The trees to continue from, if `warm_start` asks for it and there are any."""
        if not self._optional("warm_start") or not hasattr(self, "model_"):
            return None
        require(
            self.n_trees is None or self.n_trees >= self.forest_.n_trees,
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
