"""What bags of boosted trees share: one binned matrix for all of them, and one forest as the result."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float64Array, IntArray, thread_count
from rankwright.bagging.bag_maker import BagFiles, BagMaker, BagWork
from rankwright.bagging.bagged import Bagged
from rankwright.bagging.bags import TrainedBags, train_bags
from rankwright.bagging.forest_bags import ForestWork
from rankwright.bagging.plan import BagPlan
from rankwright.bagging.shard_bags import ShardWork, bin_shards
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, require
from rankwright.formats.data_file import DataFile
from rankwright.formats.shards import Shards
from rankwright.objectives.objective import Objective
from rankwright.rankers.forest_ranker import ForestRanker
from rankwright.rankers.inputs import remember_features
from rankwright.training.digest import run_identity
from rankwright.training.loop import History, Listener
from rankwright.trees.binned import BinnedDataset
from rankwright.trees.fitting import binned_digest
from rankwright.trees.forest import Forest
from rankwright.trees.merging import merge_forests
from rankwright.trees.params import SplitGain

# Settings of the bags, not of a bag's trees.
OF_BAGS = ("n_bags", "bag_fraction", "bootstrap", "overfit")
LEARNED_OF_BAGS = ("n_bags_", "trees_of_bags_", "oob_scores_", "oob_score_")
# Done to the data once, before any bag sees it.
DONE_BEFORE = {"scaling": None, "unjudged": None, "categorical": None}


class BaggedForest(Bagged, ForestRanker):
    """The mean of boosted forests, each grown on its own sample of queries: one forest, whose trees stand bag by bag.

    `oob_scores_` has, in the caller's row order, the mean score of each training document by the bags that never saw
    its query (NaN where all did), and `oob_score_` what `select` makes of them; scores are not part of the model file.
    """

    budget: ClassVar[str | None] = "n_bags"
    validates_itself: ClassVar[bool] = True

    n_bags_: int
    trees_of_bags_: IntArray  # how many trees each bag has
    oob_scores_: Float64Array | None  # None where what is out of the bag is not read
    oob_score_: float | None

    @abstractmethod
    def _member(self) -> type[ForestRanker]: ...

    def single(self, **changes: Any) -> ForestRanker:
        """The ranker that a bag is, with this one's settings: what bagging is compared with."""
        settings = {name: value for name, value in self.get_params(deep=False).items() if name not in OF_BAGS}
        return self._member()(**(settings | changes))

    def with_forest(self, forest: Forest) -> ForestRanker:
        """What a bag is, trained, with these trees: they stand in no bags."""
        other = self.single()
        for name, value in vars(self).items():
            if name.endswith("_") and name not in LEARNED_OF_BAGS:
                setattr(other, name, value)
        other.forest_, other.history_ = forest, History()
        return other

    def _prepared(self, **changes: Any) -> ForestRanker:
        """A bag's ranker, for data that is ready to be trained on."""
        return self.single(**(DONE_BEFORE | changes))

    def _objective(self) -> Objective:
        return self.single()._objective()

    def _split_gain(self) -> SplitGain:
        return self.single()._split_gain()

    def _bags(self) -> BagPlan:
        require(
            not self.overfit or self.early_stopping is None,
            "overfit keeps every tree: leave out early_stopping, or overfit",
        )
        return BagPlan(**{name: getattr(self, name) for name in OF_BAGS}, seed=self.seed)

    def _grow(
        self,
        data: BinnedDataset,
        valid: BinnedDataset | None,
        listeners: Sequence[Listener],
        checkpoint: str | os.PathLike[str] | None,
        *,
        queries: IntArray | None = None,
        watch_others: bool = False,
    ) -> None:
        require(queries is None and not watch_others, "bags draw their queries themselves: leave out queries")
        work = ForestWork(self._prepared(), data, valid, self._bags(), self._threads_of_a_bag())
        self.data_digest_ = binned_digest(data)
        trained = self._train_bags(data.documents, valid, work, listeners, checkpoint)
        self.oob_scores_ = data.documents.in_source_order(trained.out_of_bag.scores())
        self.oob_score_ = trained.out_of_bag.measure(self._selected(), threads=thread_count(self.threads))

    def _learn_from_file(
        self, file: DataFile, valid: Any, listeners: Sequence[Listener], checkpoint: str | os.PathLike[str] | None
    ) -> None:
        if not isinstance(file, Shards):
            return super()._learn_from_file(file, valid, listeners, checkpoint)
        whole_data = self.scaling is not None or self.unjudged is not None
        require(not whole_data, "scaling and unjudged need the whole data, which is not read of shards: leave them out")
        require(
            self.overfit or valid is not None,
            "a bag over shards does not read what it did not draw: give valid, or overfit",
        )
        self.scaling_ = None
        data = bin_shards(file, self._engine, **self._binning())
        remember_features(self, data.mapper.n_features, data.feature_names)
        watched = self._binned_valid(valid, data.mapper)
        work = ShardWork(self._prepared(), data, watched, self._bags(), self._threads_of_a_bag())
        self.data_digest_ = data.digest
        self._train_bags(data.documents, watched, work, listeners, checkpoint)
        self.oob_scores_ = self.oob_score_ = None
        return None

    def _threads_of_a_bag(self) -> int:
        threads = thread_count(self.threads)
        return threads // min(threads, self.n_bags) if self._engine is None else self._engine.threads

    def _train_bags(
        self,
        documents: RankingDataset,
        valid: BinnedDataset | None,
        work: BagWork,
        listeners: Sequence[Listener],
        checkpoint: str | os.PathLike[str] | None,
    ) -> TrainedBags:
        """Train the bags, and make one forest of them."""
        watched_digest = None if valid is None else binned_digest(valid)
        identity = run_identity(self.data_digest_, watched_digest, self._lasting_settings())
        watched, threads = None if valid is None else valid.documents, thread_count(self.threads)
        trained = train_bags(
            BagMaker(documents, watched, work, self._bags(), self._selected()),
            BagFiles(None if checkpoint is None else Path(checkpoint), identity),
            engine=self._engine,
            listeners=listeners,
            workers=min(threads, self.n_bags),
            threads=threads,
        )
        if not trained.members:
            raise KeyboardInterrupt  # nothing was trained that could be kept
        members = [member for member in trained.members if isinstance(member, ForestRanker)]
        self.base_score_ = float(np.mean([member.base_score_ for member in members]))
        self.forest_, self.history_ = _mean_forest([member.forest_ for member in members]), trained.history
        self.n_bags_ = len(members)
        self.trees_of_bags_ = np.array([member.n_trees_ for member in members], np.int64)
        return trained

    @property
    def n_steps_(self) -> int:
        """How many bags there are."""
        return self.n_bags_

    def bag(self, number: int) -> Forest:
        """The trees of one bag, as it would score alone but for its base score."""
        require(0 <= number < self.n_bags_, f"bags are numbered from 0 to {self.n_bags_ - 1}, got {number}")
        last = int(self.trees_of_bags_[: number + 1].sum())
        return self.forest_.part(last - int(self.trees_of_bags_[number]), last).scaled(self.n_bags_)

    def facts(self) -> dict[str, Any]:
        """How many bags there are, what they reach on queries out of the bag, and what their trees are."""
        facts = super().facts()
        own: dict[str, Any] = {"bags": self.n_bags_, "fewest_trees_of_a_bag": int(self.trees_of_bags_.min())}
        if self.oob_score_ is not None:
            own["out_of_bag_score"] = self.oob_score_
        return own | facts

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header, arrays = super()._state()
        return header | {"trees_of_bags": self.trees_of_bags_.tolist(), "out_of_bag": self.oob_score_}, arrays

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super()._restore(header, arrays)
        self.trees_of_bags_ = np.array(header["trees_of_bags"], np.int64)
        self.n_bags_ = len(self.trees_of_bags_)
        self.oob_score_ = header["out_of_bag"]
        if self.n_bags_ == 0 or self.trees_of_bags_.sum() != self.forest_.n_trees:
            raise InputError(f"the bags have {self.trees_of_bags_.sum()} trees, the forest {self.forest_.n_trees}")


def _mean_forest(forests: Sequence[Forest]) -> Forest:
    grown = [forest for forest in forests if forest.n_trees]
    if not grown:
        return forests[0]
    return merge_forests(grown, np.full(len(grown), 1 / len(forests)))
