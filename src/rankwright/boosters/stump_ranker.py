"""What is shared by rankers made of stumps: bins, rounds, and a forest of stumps as the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from rankwright.arrays import thread_count
from rankwright.boosters.boosted_pairs import BoostedPairs, boosted_pairs
from rankwright.boosters.settings import StumpSettings
from rankwright.boosters.stumps import FeatureCodes, Finder, Stump, StumpRounds
from rankwright.data.dataset import RankingDataset
from rankwright.data.keys import row_hashes
from rankwright.mart.forest_views import (
    base_score_view,
    feature_importances_view,
    forest_view,
    n_trees_view,
    staged_predict,
)
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.recipe import LessonRecipe, PreparedData, watches_for
from rankwright.rankers.views import View
from rankwright.training.digest import digests_of
from rankwright.training.driver import Learned, Lesson
from rankwright.trees.bins.binned import bins_of
from rankwright.trees.bins.binning import BinMapper, bin_columns, codes_by_row
from rankwright.trees.forests.forest import Forest, forest_of
from rankwright.trees.forests.tree import Tree
from rankwright.trees.model import ForestModel


@dataclass(frozen=True, slots=True)
class StumpRecipe(LessonRecipe):
    """One stump in each round, which a finder chooses and weighs: `finder(settings, documents, pairs, threads)`."""

    finder: Callable[[Any, FeatureCodes, BoostedPairs, int], Finder]

    def lesson(self, prepared: PreparedData, settings: Any) -> Lesson:
        """The lesson that adds stumps."""
        threads, data, valid = thread_count(settings.threads), prepared.data, prepared.valid
        pairs = boosted_pairs(data, equal_queries=settings.equal_queries, name=settings.name)
        hashes = row_hashes(data.features, threads)
        mapper = bins_of(data, hashes, settings.max_bins, seed=settings.seed, threads=threads)
        documents = codes_of(data, mapper, threads)
        watched = None if valid is None else codes_of(valid, mapper, threads)
        rounds = StumpRounds(self.finder(settings, documents, pairs, threads), documents, watched)

        def model_of(learned: Learned) -> ForestModel:
            stumps = rounds.stumps[: int(learned.model["n_stumps"][0])]
            return ForestModel(forest_of_stumps(stumps, mapper, documents), 0.0)

        watches = watches_for(settings, valid, prepared.parts, lambda: rounds.watched_scores)
        digests = partial(digests_of, data, valid)
        return Lesson(learner=rounds, model=model_of, watch=watches.first, others=watches.others, digests=digests)


class StumpRanker(Ranker, StumpSettings):
    """A ranker whose model is a forest of stumps."""

    model_kind = ForestModel
    forest_, base_score_, n_trees_ = forest_view, base_score_view, n_trees_view
    feature_importances_ = feature_importances_view
    staged_predict = staged_predict
    n_rounds_ = View[int](
        lambda trained: trained.model.n_steps, "How many rounds the model keeps: with validation data, up to the best."
    )


def codes_of(data: RankingDataset, mapper: BinMapper, threads: int) -> FeatureCodes:
    """The documents' codes with a row for each feature, as boosters read them."""
    by_row = codes_by_row(bin_columns(data.features, mapper, threads=threads), mapper.n_features)
    return FeatureCodes(np.ascontiguousarray(by_row.T, np.uint8), mapper.n_bins)


def forest_of_stumps(stumps: Sequence[Stump], mapper: BinMapper, documents: FeatureCodes) -> Forest:
    """The forest whose trees are the stumps, with the number of documents that reach each leaf."""
    return forest_of([_tree_of(stump, mapper, documents) for stump in stumps], mapper)


def _tree_of(stump: Stump, mapper: BinMapper, documents: FeatureCodes) -> Tree:
    said = np.zeros(documents.n_docs)
    stump.add_to(said, documents)
    n_above = int(np.count_nonzero(said))
    threshold = mapper.thresholds(np.array([stump.feature]), np.array([stump.bin]))[0]
    nodes: Mapping[str, Any] = {
        "feature": np.array([stump.feature, -1, -1], np.int32),
        "bin": np.array([stump.bin, 0, 0], np.int32),
        "threshold": np.array([threshold, 0, 0], np.float32),
        "left": np.array([1, -1, -1], np.int32),
        "right": np.array([2, -1, -1], np.int32),
        "missing_left": np.array([not stump.missing_above, False, False]),
        "value": np.array([0, 0, stump.weight], np.float32),
        "gain": np.array([stump.worth, 0, 0], np.float64),
        "count": np.array([documents.n_docs, documents.n_docs - n_above, n_above], np.int64),
        "categories": np.zeros((3, 0), np.uint32),
    }
    return Tree(**nodes)
