"""The base class of rankers made of stumps: bins, rounds, and a forest of stumps as the model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from rankwright.arrays import thread_count
from rankwright.boosters.boosted_pairs import BoostedPairs, boosted_pairs
from rankwright.boosters.settings import StumpSettings
from rankwright.boosters.stumps import FeatureCodes, Finder, Stump, StumpRounds
from rankwright.data.dataset import RankingDataset
from rankwright.data.keys import row_hashes
from rankwright.training.digest import digests_of
from rankwright.training.driver import Learned, Lesson
from rankwright.trees.bins.binned import bins_of
from rankwright.trees.bins.binning import BinMapper, bin_columns, codes_by_row
from rankwright.trees.forest_face import ForestFace
from rankwright.trees.forests.forest import Forest, forest_of
from rankwright.trees.forests.tree import Tree
from rankwright.trees.model import ForestModel


class StumpRanker(ForestFace, StumpSettings):
    """A ranker that adds one stump in each round. Subclasses decide which stump, and its weight."""

    model_kind = ForestModel

    @abstractmethod
    def _finder(self, documents: FeatureCodes, pairs: BoostedPairs) -> Finder: ...

    def _lesson(self, data: RankingDataset, valid: RankingDataset | None) -> Lesson:
        threads = thread_count(self.threads)
        pairs = boosted_pairs(data, equal_queries=self.equal_queries, name=self.name)
        mapper = bins_of(data, row_hashes(data.features, threads), self.max_bins, seed=self.seed, threads=threads)
        documents = codes_of(data, mapper, threads)
        watched = None if valid is None else codes_of(valid, mapper, threads)
        rounds = StumpRounds(self._finder(documents, pairs), documents, watched)

        def model_of(learned: Learned) -> ForestModel:
            stumps = rounds.stumps[: int(learned.model["n_stumps"][0])]
            return ForestModel(forest_of_stumps(stumps, mapper, documents), 0.0)

        return Lesson(
            learner=rounds,
            model=model_of,
            watch=self._watch(valid, lambda: rounds.watched_scores),
            digests=partial(digests_of, data, valid),
        )

    @property
    def n_rounds_(self) -> int:
        """How many rounds the model keeps: with validation data, those up to the best."""
        return self.forest_.n_trees


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
