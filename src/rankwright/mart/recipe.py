"""How boosted forests learn: a shape by the size of the data, a length by held-out queries, then tree after tree."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwright.data.dataset import joined
from rankwright.data.feature_names import feature_columns
from rankwright.errors import require
from rankwright.mart.length_search import UnseenForests, leader_of
from rankwright.mart.lists import BeginForest, ForestLists
from rankwright.mart.sources import PreparedForest, prepared_forest
from rankwright.objectives.families import learns_alone
from rankwright.objectives.objective import Objective
from rankwright.progress.stages import announce
from rankwright.rankers.inputs import validation_data
from rankwright.rankers.known_features import KnownFeatures
from rankwright.rankers.recipe import (
    Given,
    TrainingOutcome,
    TrainingRun,
    follow,
    loop_plan,
    trained_ranker,
    weighed_by_position,
)
from rankwright.rankers.trained import TrainedRanker, TrainingFindings
from rankwright.training.driver import NEEDS_VALIDATION, Earlier, Learned, Lesson
from rankwright.trees import sizing
from rankwright.trees.boosting import BoostingParams, resumed_after
from rankwright.trees.model import ForestModel, forest_model, steps_of
from rankwright.trees.params import TreeParams
from rankwright.trees.sizing import FoldedForests, ForestShape

Chosen = Mapping[str, Any]  # values of settings that are None


@dataclass(frozen=True, slots=True)
class ForestRecipe:
    """What tells one kind of boosted forest from another: its forces, and where scores start."""

    forces: Callable[[Any, TrainingFindings], Objective]
    base_score: Callable[[Any, ForestLists], float] = lambda settings, lists: 0.0  # noqa: ARG005
    debiases: bool = False  # whether position bias is corrected first

    def learns_alone(self, ranker: Any, found: TrainingFindings) -> bool:
        """Whether it learns from each label by itself; otherwise a query's documents must differ in label."""
        return learns_alone(self.forces(ranker, found))

    def train(self, ranker: Any, given: Given, run: TrainingRun) -> TrainedRanker:
        """The forest, grown on data in memory, in a file, or with workers."""
        with prepared_forest(ranker, given, run) as prepared:
            trained = self.grow(ranker, prepared, run)
        is_asked = getattr(ranker, "refit_on_valid", False) and not trained.history.interrupted
        return self._on_both(ranker, given, trained) if is_asked and given.valid is not None else trained

    def _on_both(self, ranker: Any, given: Given, before: TrainedRanker) -> TrainedRanker:
        """The forest grown anew on training and validation queries, with what these chose."""
        require(not ranker.warm_start, "refit_on_valid grows a forest anew, and warm_start goes on: choose one of them")
        data = given.dataset(ranker)
        valid = validation_data(ranker, KnownFeatures.of(data), given.columns, given.valid).documents
        assert valid is not None
        announce("training on both parts")
        chosen = {**before.findings.chosen, "n_trees": max(1, steps_of(before))}
        again = copy.copy(ranker)
        for name, value in chosen.items():
            setattr(again, name, value)
        again.early_stopping = None
        whole = self.train(again, Given(None, joined([data, valid]), columns=given.columns), TrainingRun())
        found = replace(whole.findings, chosen=before.findings.chosen, watched=before.findings.watched)
        return replace(whole, settings=before.settings, history=before.history, findings=found)

    def grow(self, ranker: Any, prepared: PreparedForest, run: TrainingRun) -> TrainedRanker:
        """The forest that is grown on prepared data."""
        growth = ForestGrowth(self, ranker, prepared.lists, prepared.findings)
        outcome = growth.outcome(ranker.to_continue(), run)
        return trained_ranker(ranker, outcome, prepared.features, prepared.scaling, prepared.clicks)


@dataclass(frozen=True, slots=True, eq=False)
class ForestGrowth:
    """The growth of one forest: the settings of a ranker applied to documents."""

    recipe: ForestRecipe
    settings: Any
    lists: ForestLists
    findings: TrainingFindings

    def outcome(self, earlier: TrainedRanker | None, run: TrainingRun) -> TrainingOutcome:
        """The trained forest; it goes on from the trees of an earlier one, if there is one."""
        settings, lists = self.settings, self.lists
        # Before a length is searched for, which takes a while.
        require(settings.early_stopping is None or lists.is_watched, NEEDS_VALIDATION)
        chosen: Chosen = sizing.chosen_settings(settings, self._shape())
        is_found = earlier is None and self._may_choose_length(chosen)
        if earlier is None:
            base_score = self._base_score()
            begin = self._start(base_score)
            if is_found:
                chosen = self._chosen_on_unseen(begin, chosen, run)
        else:
            base_score = forest_model(earlier).base_score
            begin = self._start(base_score)
            if "n_trees" in chosen:  # nobody said how many trees to have in the end: those there are may be enough
                chosen = {**chosen, "n_trees": max(chosen["n_trees"], forest_model(earlier).forest.n_trees)}
        growing = self._growing(begin, self.params(chosen), is_found)
        watches = lists.watches(settings.selected_metric, growing)

        def model_of(learned: Learned) -> ForestModel:
            n_trees = int(learned.model["n_trees"][0])
            are_several = isinstance(growing, FoldedForests)
            forest = growing.mean_after(n_trees) if are_several else growing.forest().truncated(n_trees)
            return ForestModel(forest, base_score)

        lesson = Lesson(
            learner=growing,
            model=model_of,
            watch=watches.first,
            others=watches.others,
            digests=lists.digests,
            earlier=None if earlier is None else self._trees_to_continue(earlier),
        )
        plan = loop_plan(settings, n_steps=value_of(settings, chosen, "n_trees"))
        if watches.first is not None and plan.patience is None and "n_trees" in chosen and not is_found:
            least = sizing.SLOW_PATIENCE if self._goes_slowly else 0
            plan = sizing.patient(plan, value_of(settings, chosen, "learning_rate"), least)
        learned, watched = follow(lesson, settings, plan, run, keeps_all=is_found)
        found = replace(self.findings, chosen=chosen, watched=watched)
        return TrainingOutcome(lesson.model(learned), learned.history, lists.digest(), found)

    def _growing(self, begin: BeginForest, params: BoostingParams, is_found: bool) -> Any:
        """The forest to grow; of few documents with validation data, the mean of it and of those without each fold."""
        lists, on_all = self.lists, begin(params)
        if not (is_found and lists.is_validated) or getattr(self.settings, "warm_start", False):
            return on_all
        folds = sizing.length_folds(lists.data.groups, self.settings.seed)
        return FoldedForests([on_all, *(begin(params, fold.train, watches=True) for fold in folds)])

    def shape_for_bags(self, run: TrainingRun) -> Chosen:
        """The settings of a shape that is far better, on queries not trained on, than the shape chosen by size.

        Only settings that are None are given; nothing if there is no such shape. Bags ask this once, for all of them.
        """
        by_size, shapes = sizing.chosen_settings(self.settings, self._shape()), self._shapes_to_try()
        is_little = sizing.is_little(self.lists.n_docs)
        if not is_little or not self._may_choose_length(by_size) or len(shapes) == 1:
            return {}
        first, other = candidates = self._candidates(shapes, self._start(self._base_score()), run)
        for n_trees, lead in sizing.LEADS_FOR_BAGS.items():
            if leader_of(candidates, n_trees, lead) is first:
                return {}
        shape = sizing.chosen_settings(self.settings, other.shape)
        return {name: value for name, value in shape.items() if name != "n_trees"}

    def rate_for_bags(self) -> Chosen:
        """The learning rate of bags that find their length, of little data; nothing if it is given, or the paper's."""
        by_size = sizing.chosen_settings(self.settings, self._shape())
        is_open = "learning_rate" in by_size and "n_trees" in by_size and not self._is_papers
        return {"learning_rate": sizing.RATE_IN_BAGS} if is_open and sizing.is_little(self.lists.n_docs) else {}

    def _base_score(self) -> float:
        # Training starts from initial scores alone: a constant added to them would be learned twice.
        return 0.0 if self.lists.starts_from_scores else self.recipe.base_score(self.settings, self.lists)

    def _start(self, base_score: float) -> BeginForest:
        forces = self.recipe.forces(self.settings, self.findings)
        return self.lists.start(weighed_by_position(forces, self.findings), base_score)

    def _shape(self) -> ForestShape:
        """The values of settings that are None. Where steps are watched, the best of many trees is found."""
        if self._is_papers:
            return sizing.PAPER
        shape = self._paced(sizing.shape_for(self.lists.n_docs))
        return replace(shape, n_trees=shape.most_trees) if self.lists.is_watched else shape

    def _paced(self, shape: ForestShape) -> ForestShape:
        return sizing.slow_shape(shape) if self._goes_slowly else shape

    @property
    def _goes_slowly(self) -> bool:
        """Whether validation data chooses the number of trees of a small forest, and nobody said how fast it learns."""
        are_open = self.settings.n_trees is None and self.settings.learning_rate is None and not self._is_papers
        if not (are_open and self.lists.is_validated and sizing.is_little(self.lists.n_docs)):
            return False
        return not sizing.are_pooled(self.lists.n_docs) or self._may_choose_length({"n_trees": None})

    @property
    def _is_papers(self) -> bool:
        return getattr(self.settings, "mode", None) == "paper"

    def _may_choose_length(self, chosen: Chosen) -> bool:
        """Whether held-out queries of the training data should choose the number of trees, and are able to.

        Of few documents they do so together with validation data, which are then few, too.
        """
        lists = self.lists
        if "n_trees" not in chosen or self._is_papers or not lists.can_be_folded:
            return False
        if lists.is_watched and (self.settings.early_stopping is not None or not sizing.are_pooled(lists.n_docs)):
            return False
        return lists.data.groups.n_queries >= sizing.LEAST_QUERIES and lists.n_docs <= sizing.MOST_DOCS

    def _shapes_to_try(self) -> tuple[ForestShape, ...]:
        settings, shapes = self.settings, sizing.shapes_to_try(self.lists.n_docs)
        are_open = settings.max_leaves is None and settings.growth is None and settings.max_depth is None
        # Symmetric trees do not split categories.
        return shapes if are_open and not self.lists.data.mapper.categorical.any() else shapes[:1]

    def _chosen_on_unseen(self, begin: BeginForest, by_size: Chosen, run: TrainingRun) -> Chosen:
        """The open settings of the shape and the number of trees that are best for queries not trained on."""
        shapes = tuple(map(self._paced, self._shapes_to_try()))
        leader = leader_of(self._candidates(shapes, begin, run))
        leader.grow(leader.shape.most_trees)
        if leader.best_length is None:
            return by_size
        return {**sizing.chosen_settings(self.settings, leader.shape), "n_trees": leader.best_length}

    def _candidates(self, shapes: Sequence[ForestShape], begin: BeginForest, run: TrainingRun) -> list[UnseenForests]:
        """Forests of each shape to try, to be grown on a part of the queries and measured on others."""
        return [
            UnseenForests.of(
                self.settings, shape, self.lists, begin, self.params(sizing.chosen_settings(self.settings, shape)), run
            )
            for shape in shapes
        ]

    def params(self, chosen: Chosen) -> BoostingParams:
        """How each tree is grown, by the settings and by what was chosen for those that are None."""
        settings, lists = self.settings, self.lists
        monotone = dict(settings.monotone or {})
        return BoostingParams(
            tree=TreeParams(
                max_leaves=value_of(settings, chosen, "max_leaves"),
                max_depth=settings.max_depth,
                min_docs_in_leaf=_least_docs(value_of(settings, chosen, "min_docs_in_leaf"), lists.data.groups.n_docs),
                l2=settings.l2,
                split_gain=settings.split_gain or ("least-squares" if self._is_papers else "newton"),
                learning_rate=value_of(settings, chosen, "learning_rate"),
                growth=value_of(settings, chosen, "growth") or "best-first",
                gain_noise=settings.gain_noise,
                split_feature_fraction=settings.split_feature_fraction,
            ),
            query_fraction=value_of(settings, chosen, "query_fraction"),
            feature_fraction=value_of(settings, chosen, "feature_fraction"),
            query_bootstrap=settings.query_bootstrap,
            monotone=dict(zip(feature_columns(monotone, lists.data.names), monotone.values(), strict=True)),
            seed=settings.seed,
        )

    def _trees_to_continue(self, earlier: TrainedRanker) -> Earlier:
        forest, n_trees = forest_model(earlier).forest, self.settings.n_trees
        require(
            n_trees is None or n_trees >= forest.n_trees,
            f"warm_start adds trees: n_trees must be {forest.n_trees} or more, got {n_trees}",
        )
        is_mean = 0 < len(earlier.history.values) < forest.n_trees
        require(not is_mean, "the mean of several forests cannot grow on: give warm_start from the beginning")
        return resumed_after(forest, earlier.history)


def value_of(settings: Any, chosen: Chosen, name: str) -> Any:
    """The value of a setting: the one given, or the one chosen where it is None."""
    value = getattr(settings, name)
    return chosen.get(name) if value is None else value


def _least_docs(setting: float, n_docs: int) -> int:
    """`min_docs_in_leaf` as a count: a fraction means that share of the training rows, rounded up."""
    if isinstance(setting, int | np.integer):
        return int(setting)
    require(
        0 < setting < 1,
        f"min_docs_in_leaf must be a whole number or a fraction of the rows between 0 and 1, got {setting!r}",
    )
    return max(1, int(np.ceil(setting * n_docs)))
