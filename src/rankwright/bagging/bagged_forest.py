"""The face of bags of boosted trees: one binned matrix for all of them, and one forest as the result."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from rankwright.arrays import Float64Array, IntArray, thread_count
from rankwright.bagging.bagged import Bagged
from rankwright.bagging.bags import TrainedBags
from rankwright.bagging.forest_bags import ForestWork
from rankwright.bagging.model import BaggedForestModel
from rankwright.bagging.settings import OF_BAGS
from rankwright.bagging.shard_bags import ShardWork, bin_shards
from rankwright.errors import require
from rankwright.formats.data_file import DataFile
from rankwright.formats.shards import Shards
from rankwright.rankers.inputs import remember_features
from rankwright.rankers.ranker import TrainingRun
from rankwright.training.loop import History
from rankwright.trees.binned_ranker import BinnedLists, BinnedRanker
from rankwright.trees.bins.binned import binned_digest
from rankwright.trees.forest_ranker import ForestRanker
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.merging import merge_forests
from rankwright.trees.model import ForestModel

# Done to the data once, before any bag sees it.
DONE_BEFORE = {"scaling": None, "unjudged": None, "categorical": None}
LEARNED = ("scaling_", "compressed_from_", "data_digest_", "n_features_in_", "feature_names_in_")


class BaggedForest(Bagged, BinnedRanker):
    """The mean of boosted forests, each grown on its own sample of queries: one forest, whose trees stand bag by bag.

    `oob_scores_` has, in the caller's row order, the mean score of each training document by the bags that never saw
    its query (NaN where all did), and `oob_score_` what `select` makes of them; scores are not part of the model file.
    """

    validates_itself: ClassVar[bool] = True
    model_kind = BaggedForestModel
    model_: BaggedForestModel
    oob_scores_: Float64Array | None  # None where what is out of the bag is not read

    @property
    @abstractmethod
    def member_kind(self) -> type[ForestRanker]:
        """The kind of ranker in a bag."""

    def single(self, **changes: Any) -> ForestRanker:
        """Make the ranker that a bag is, untrained: what bagging is compared with.

        Parameters
        ----------
        **changes
            Settings that are to differ from those of this ranker.

        Returns
        -------
        ForestRanker
            A ranker with this one's settings, but for those of bags.
        """
        settings = {name: value for name, value in self.get_params(deep=False).items() if name not in OF_BAGS}
        return self.member_kind(**(settings | changes))

    def with_forest(self, forest: Forest, base_score: float | None = None) -> ForestRanker:
        """Make what a bag is, trained, with these trees; they stand in no bags. See `BinnedRanker.with_forest`."""
        other = self.single()
        for name in LEARNED:
            if hasattr(self, name):
                setattr(other, name, getattr(self, name))
        other.model_ = ForestModel(forest, self.base_score_ if base_score is None else base_score)
        other.history_ = History()
        return other

    def bag(self, number: int) -> Forest:
        """Give the trees of one bag.

        Parameters
        ----------
        number : int
            Which bag, from 0.

        Returns
        -------
        Forest
            The trees as the bag would score alone, but for its base score.
        """
        return self.model_.bag(number)

    @property
    def trees_of_bags_(self) -> IntArray:
        """How many trees each bag has."""
        return self.model_.trees_of_bags

    def _grow(self, lists: BinnedLists, run: TrainingRun) -> None:
        data, valid = lists.data, lists.valid
        by_themselves = lists.queries is None and not lists.watch_others
        require(by_themselves, "bags draw their queries themselves: leave out queries")
        self._check_overfit()
        work = ForestWork(self.single(**DONE_BEFORE), data, valid, self._plan(), self._threads_of_a_bag())
        watched = None if valid is None else valid.documents
        trained = self._train(data.documents, watched, work, lists.digests(), run)
        self.oob_scores_ = data.documents.in_source_order(trained.out_of_bag.scores())
        score = trained.out_of_bag.measure(self.selected_metric, threads=thread_count(self.threads))
        self.model_ = _mean_of(trained, score)

    def _learn_from_file(self, file: DataFile, valid: Any, run: TrainingRun) -> None:
        if not isinstance(file, Shards):
            super()._learn_from_file(file, valid, run)
            return
        self._check_overfit()
        whole_data = self.scaling is not None or self.unjudged is not None
        require(
            not whole_data,
            "scaling and unjudged need the whole data, but shards are read one at a time: leave them out",
        )
        require(
            self.overfit or valid is not None,
            "bags over shards cannot stop on queries they did not draw: give valid, or set overfit",
        )
        self.scaling_ = None
        data = bin_shards(file, self._engine, **self.binning())
        remember_features(self, data.mapper.n_features, data.feature_names)
        watched = self._binned_valid(valid, data.mapper)
        work = ShardWork(self.single(**DONE_BEFORE), data, watched, self._plan(), self._threads_of_a_bag())
        digests = data.digest, None if watched is None else binned_digest(watched)
        trained = self._train(data.documents, None if watched is None else watched.documents, work, digests, run)
        self.oob_scores_ = None
        self.model_ = _mean_of(trained, None)

    def _check_overfit(self) -> None:
        require(
            not self.overfit or self.early_stopping is None,
            "overfit keeps every tree and early_stopping does not: choose one of them",
        )


def _mean_of(trained: TrainedBags, oob_score: float | None) -> BaggedForestModel:
    """The forests of all bags as one, and what it reached on queries out of the bag."""
    members = [member for member in trained.members if isinstance(member, ForestRanker)]
    forest = _mean_forest([member.forest_ for member in members])
    base_score = float(np.mean([member.base_score_ for member in members]))
    trees_of_bags = np.array([member.n_trees_ for member in members], np.int64)
    return BaggedForestModel(ForestModel(forest, base_score), trees_of_bags, oob_score)


def _mean_forest(forests: Sequence[Forest]) -> Forest:
    grown = [forest for forest in forests if forest.n_trees]
    if not grown:
        return forests[0]
    return merge_forests(grown, np.full(len(grown), 1 / len(forests)))
