"""The ranker class for bags of boosted trees: all share one binned matrix, and the result is one forest."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from rankwright.arrays import Float64Array, IntArray, thread_count
from rankwright.bagging.bagged import Bagged
from rankwright.bagging.bags import TrainedBags
from rankwright.bagging.forest_bags import ForestWork, choosing_part
from rankwright.bagging.model import BaggedForestModel
from rankwright.bagging.settings import OF_BAGS
from rankwright.bagging.shard_bags import BinnedShards, ShardWork, bin_shards
from rankwright.errors import require
from rankwright.formats.data_file import DataFile
from rankwright.formats.shards import Shards
from rankwright.rankers.inputs import remember_names
from rankwright.rankers.learning import TrainingRun
from rankwright.training.loop import History
from rankwright.trees.binned_ranker import BinnedLists, BinnedRanker
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.bins.fingerprints import binned_digest, earlier_digest
from rankwright.trees.forest_ranker import ForestRanker
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.merging import merge_forests
from rankwright.trees.model import ForestModel

# Done to the data once, before any bag sees it.
DONE_BEFORE = {"scaling": None, "unjudged": None, "categorical": None}
LEARNED = (
    "scaling_", "compressed_from_", "data_digest_", "seen_queries_", "categories_", "n_features_in_",
    "feature_names_in_",
)  # fmt: skip


class BaggedForest(Bagged, BinnedRanker):
    """The mean of boosted forests, each grown on its own sample of queries: one forest with the trees in order of bags.

    `oob_scores_` has, in the caller's row order, the mean score of each training document by the bags that never saw
    its query (NaN where all did), and `oob_score_` is the value of `select` for them. The scores are not saved.
    """

    validates_itself: ClassVar[bool] = True
    model_kind = BaggedForestModel
    model_: BaggedForestModel
    oob_scores_: Float64Array | None  # None where queries out of the bag are not read

    @property
    @abstractmethod
    def member_kind(self) -> type[ForestRanker]:
        """The kind of ranker in a bag."""

    def single(self, **changes: Any) -> ForestRanker:
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
        settings = {name: value for name, value in self.get_params(deep=False).items() if name not in OF_BAGS}
        return self.member_kind(**(settings | changes))

    def with_forest(self, forest: Forest, base_score: float | None = None) -> ForestRanker:
        """Make a trained ranker of the kind in a bag, with these trees. See `BinnedRanker.with_forest`."""
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
            The trees with which the bag would score alone, without its base score.
        """
        return self.model_.bag(number)

    @property
    def trees_of_bags_(self) -> IntArray:
        """How many trees each bag has."""
        return self.model_.trees_of_bags

    def _learns_alone(self) -> bool:
        return self.single()._learns_alone()

    def _grow(self, lists: BinnedLists, run: TrainingRun) -> None:
        data, valid = lists.data, lists.valid
        by_themselves = lists.queries is None and not lists.watch_others
        require(by_themselves, "bags draw their queries themselves: leave out queries")
        self._check_overfit()
        choosing = choosing_part(valid, self.watched_parts_)
        shape = self.single(**DONE_BEFORE).shape_on_unseen(lists, run)  # once, for all bags
        member = self.single(**DONE_BEFORE, **shape)
        work = ForestWork(member, data, valid, choosing, self._plan(), self._threads_of_a_bag())
        watched = None if valid is None else valid.documents
        trained = self._train(data.documents, watched, work, lists.digests(), run, lists.earlier_digests)
        self.oob_scores_ = data.documents.in_source_order(trained.out_of_bag.scores())
        score = trained.out_of_bag.measure(self.selected_metric, threads=thread_count(self.threads))
        self.chosen_ = self._chosen(trained, shape)
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
        remember_names(self, data.mapper.n_features, data.feature_names)
        watched = self._binned_valid(valid, data.mapper)
        choosing = choosing_part(watched, self.watched_parts_)
        work = ShardWork(self.single(**DONE_BEFORE), data, watched, choosing, self._plan(), self._threads_of_a_bag())
        digests = data.digest, None if watched is None else binned_digest(watched)
        earlier = None if watched is None else partial(_earlier_digests, data, watched)
        documents = None if watched is None else watched.documents
        trained = self._train(data.documents, documents, work, digests, run, earlier)
        self.oob_scores_ = None
        self.chosen_ = self._chosen(trained)
        self.model_ = _mean_of(trained, None)

    def _chosen(self, trained: TrainedBags, shape: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
        """What was chosen for settings that are None: for all bags at once, or by every bag alike."""
        first, *others = [member.chosen_ for member in trained.members]
        alike = {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}
        chosen = {**shape, **alike}
        return {name: chosen[name] for name in self.get_params(deep=False) if name in chosen}  # files keep no order

    def _check_overfit(self) -> None:
        require(
            not self.overfit or self.early_stopping is None,
            "overfit keeps every tree and early_stopping does not: choose one of them",
        )


def _earlier_digests(data: BinnedShards, watched: BinnedDataset) -> tuple[str, str | None]:
    """The fingerprints as earlier versions made them: that of shards is the same."""
    return data.digest, earlier_digest(watched)


def _mean_of(trained: TrainedBags, oob_score: float | None) -> BaggedForestModel:
    """The forests of all bags as one, with its value on queries out of the bag."""
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
