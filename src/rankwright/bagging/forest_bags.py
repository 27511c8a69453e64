"""Bags of boosted trees: all share one binned matrix, and the result is one forest with the trees in order of bags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from rankwright.arrays import IntArray, thread_count
from rankwright.bagging.bag_members import ForestMembers, choosing_part
from rankwright.bagging.bag_models import BaggedForestModel
from rankwright.bagging.bag_training import TrainedBags, bag_plan, threads_of_a_bag, train_bags
from rankwright.bagging.binned_shards import bin_shards
from rankwright.bagging.settings import OF_BAGS
from rankwright.errors import require
from rankwright.formats.shards import Shards
from rankwright.mart.forest_ranker import ForestRanker
from rankwright.mart.lists import BinnedLists
from rankwright.mart.recipe import ForestGrowth, ForestRecipe
from rankwright.mart.sources import PreparedForest, binned_validation, prepared_here
from rankwright.rankers.known_features import KnownFeatures
from rankwright.rankers.recipe import Given, TrainingOutcome, TrainingRun, trained_ranker
from rankwright.rankers.trained import TrainedRanker, TrainingFindings
from rankwright.rankers.views import View
from rankwright.training.loop import History
from rankwright.trees.bins.fingerprints import binned_digest
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.merging import merge_forests
from rankwright.trees.model import ForestModel, forest_model

# Done to the data once, before any bag sees it.
DONE_BEFORE = {"scaling": None, "unjudged": None, "categorical": None}


@dataclass(frozen=True, slots=True)
class ForestBagRecipe:
    """The mean of boosted forests of one kind, each grown on its own sample of queries."""

    kind: type[ForestRanker]  # of a bag's member

    @property
    def member(self) -> ForestRecipe:
        """The recipe of a member."""
        assert isinstance(self.kind.recipe, ForestRecipe)
        return self.kind.recipe

    def learns_alone(self, ranker: Any, found: TrainingFindings) -> bool:
        """Whether its members learn from each label by itself."""
        return self.member.learns_alone(ranker, found)

    @property
    def debiases(self) -> bool:
        """Whether position bias is corrected first."""
        return self.member.debiases

    def train(self, ranker: Any, given: Given, run: TrainingRun) -> TrainedRanker:
        """The forest of all bags, of data in memory, in a file or in shards."""
        _check_overfit(ranker)
        if isinstance(given.file, Shards):
            return self._train_on_shards(ranker, given.file, given, run)
        return self.grow(ranker, prepared_here(ranker, given, run), run)

    def grow(self, ranker: Any, prepared: PreparedForest, run: TrainingRun) -> TrainedRanker:
        """The forest of all bags, of prepared data."""
        lists, found = prepared.lists, prepared.findings
        assert isinstance(lists, BinnedLists)
        by_themselves = lists.queries is None and not lists.watch_others
        require(by_themselves, "bags draw their queries themselves: leave out queries")
        _check_overfit(ranker)
        # Members are not told that labels were corrected, only that they were weighed.
        told = TrainingFindings(propensity_weights=found.propensity_weights, weighs_positions=found.weighs_positions)
        data, valid = lists.data, lists.valid
        growth = ForestGrowth(self.member, ranker.single(**DONE_BEFORE), lists, told)
        shape = growth.shape_for_bags(run)  # once, for all bags
        if not ranker.overfit:
            shape = {**shape, **growth.rate_for_bags()}
        choosing, single = choosing_part(valid, lists.parts), ranker.single(**DONE_BEFORE, **shape)
        members = ForestMembers(single, data, valid, choosing, bag_plan(ranker), threads_of_a_bag(ranker), told)
        watched = None if valid is None else valid.documents
        digests = lists.digests()
        bags = train_bags(ranker, data.documents, watched, members, digests, run, lists.parts)
        score = bags.out_of_bag.measure(ranker.selected_metric, threads=thread_count(ranker.threads))
        oob_scores = data.documents.in_source_order(bags.out_of_bag.scores())
        chosen = _chosen(ranker, bags, shape)
        found = replace(found, chosen=chosen, watched=bags.watched, oob_scores=oob_scores)
        outcome = TrainingOutcome(_mean_of(bags, score), bags.history, digests[0], found)
        return trained_ranker(ranker, outcome, prepared.features, prepared.scaling, prepared.clicks)

    def _train_on_shards(self, ranker: Any, shards: Shards, given: Given, run: TrainingRun) -> TrainedRanker:
        told = "scaling and unjudged need the whole data, but shards are read one at a time: leave them out"
        require(ranker.scaling is None and ranker.unjudged is None, told)
        told = "bags over shards cannot stop on queries they did not draw: give valid, or set overfit"
        require(ranker.overfit or given.valid is not None, told)
        data = bin_shards(shards, ranker.engine, **ranker.binning())
        known = KnownFeatures.of_shards(data.mapper.n_features, data.feature_names, data.feature_origin)
        watched, parts = binned_validation(ranker, known, given, data.mapper)
        single, choosing = ranker.single(**DONE_BEFORE), choosing_part(watched, parts)
        members = ForestMembers(single, data, watched, choosing, bag_plan(ranker), threads_of_a_bag(ranker))
        digests = data.digest, None if watched is None else binned_digest(watched)
        documents = None if watched is None else watched.documents
        bags = train_bags(ranker, data.documents, documents, members, digests, run, parts)
        found = TrainingFindings(chosen=_chosen(ranker, bags), watched=bags.watched)
        return trained_ranker(ranker, TrainingOutcome(_mean_of(bags, None), bags.history, data.digest, found), known)


def _check_overfit(ranker: Any) -> None:
    told = "overfit keeps every tree and early_stopping does not: choose one of them"
    require(not ranker.overfit or ranker.early_stopping is None, told)


def _chosen(ranker: Any, bags: TrainedBags, shape: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """The values chosen for settings that are None: once for all bags, or the same by every bag."""
    first, *others = [member.findings.chosen for member in bags.members]
    alike = {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}
    chosen = {**shape, **alike}
    return {name: chosen[name] for name in ranker.get_params(deep=False) if name in chosen}  # files keep no order


def _mean_of(bags: TrainedBags, oob_score: float | None) -> BaggedForestModel:
    """The forests of all bags as one, with its value on queries out of the bag."""
    models = [forest_model(member) for member in bags.members]
    forests, base_score = [model.forest for model in models], float(np.mean([model.base_score for model in models]))
    trees_of_bags = np.array([forest.n_trees for forest in forests], np.int64)
    grown = [forest for forest in forests if forest.n_trees]
    mean = merge_forests(grown, np.full(len(grown), 1 / len(forests))) if grown else forests[0]
    return BaggedForestModel(mean, base_score, trees_of_bags, oob_score)


# What rankers have that are bags of forests.


def _model_of(trained: TrainedRanker) -> BaggedForestModel:
    assert isinstance(trained.model, BaggedForestModel)
    return trained.model


trees_of_bags_view = View[IntArray](lambda trained: _model_of(trained).trees_of_bags, "How many trees each bag has.")


def bag(self: ForestRanker, number: int) -> Forest:
    """Give the trees of one bag.

    Parameters
    ----------
    number : int
        Which bag, from 0.

    Returns
    -------
    Forest
        The trees with which the bag would score alone, without its base score.
    """
    return _model_of(self.trained_).bag(number)


def single(self: ForestRanker, **changes: Any) -> ForestRanker:
    """Make an untrained ranker of the kind in a bag, to compare bagging with.

    Parameters
    ----------
    **changes
        Settings to change from those of this ranker.

    Returns
    -------
    ForestRanker
        A ranker with this one's settings, except those of bags.
    """
    assert isinstance(self.recipe, ForestBagRecipe)
    settings = {name: value for name, value in self.get_params(deep=False).items() if name not in OF_BAGS}
    return self.recipe.kind(**(settings | changes))


def with_forest(self: ForestRanker, forest: Forest, base_score: float | None = None) -> ForestRanker:
    """Make a trained ranker of the kind in a bag, with these trees.

    Parameters
    ----------
    forest : Forest
        The trees.
    base_score : float, optional
        What they are added to; None keeps the current base score.

    Returns
    -------
    ForestRanker
        The other ranker.
    """
    other, before = single(self), self.trained_
    other.trained_ = replace(
        before,
        ranker=other.name,
        settings=other.stored_settings(),
        model=ForestModel(forest, self.base_score_ if base_score is None else base_score),
        history=History(),
        findings=TrainingFindings(seen_queries=before.findings.seen_queries),
    )
    return other
