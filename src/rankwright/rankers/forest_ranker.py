"""What rankers made of boosted trees share: their training."""

from __future__ import annotations

import copy
import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from rankwright.arrays import IntArray, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.errors import require
from rankwright.formats.blocks import errors_name_file
from rankwright.formats.data_file import DataFile, as_data_file
from rankwright.objectives.objective import Objective
from rankwright.rankers.forest_model import ForestModel
from rankwright.rankers.inputs import check_features, remember_features, validation_data, with_something_to_learn
from rankwright.training.loop import History, Listener, LoopPlan
from rankwright.training.spaces import Real, Space, Whole
from rankwright.trees.binned import BinnedDataset, bin_dataset, feature_numbers
from rankwright.trees.binning import BinMapper
from rankwright.trees.boosting import BoostingParams
from rankwright.trees.fitting import ForestPlan, GrownForest, binned_digest, fit_forest
from rankwright.trees.forest import Forest
from rankwright.trees.from_file import bin_file
from rankwright.trees.params import SplitGain, TreeParams


class ForestRanker(ForestModel):
    """A ranker whose model is a forest; where documents should move says its objective."""

    takes_initial_scores: ClassVar[bool] = True
    budget: ClassVar[str | None] = "n_trees"
    space: ClassVar[Space] = {
        "max_leaves": Whole(4, 64, log=True),
        "min_docs_in_leaf": Whole(5, 200, log=True),
        "learning_rate": Real(0.02, 0.3, log=True),
        "query_fraction": Real(0.3, 1.0),
        "feature_fraction": Real(0.1, 1.0),
    }

    @abstractmethod
    def _objective(self) -> Objective: ...

    @abstractmethod
    def _split_gain(self) -> SplitGain: ...

    def _base_score(self, data: BinnedDataset) -> float:  # noqa: ARG002
        return 0.0

    def _learn(
        self,
        data: RankingDataset,
        valid: RankingDataset | None,
        listeners: Sequence[Listener],
        checkpoint: str | os.PathLike[str] | None,
    ) -> None:
        require(
            not self.categorical or self.scaling is None,
            "categories cannot be scaled: leave out scaling or categorical",
        )
        binned = bin_dataset(data, **self._binning())
        watched = None if valid is None else bin_dataset(valid, binned.mapper, threads=self.threads)
        self._grow(binned, watched, listeners, checkpoint)

    def _learn_from_file(
        self, file: DataFile, valid: Any, listeners: Sequence[Listener], checkpoint: str | os.PathLike[str] | None
    ) -> None:
        # Codes straight from the file: the same as those of `_learn`, without its feature matrix in memory. Scaling is
        # fitted on that matrix.
        if self._scaling_name() is not None:
            return super()._learn_from_file(file, valid, listeners, checkpoint)
        self.scaling_ = None
        binned = bin_file(file, **self._binning())
        with_something_to_learn(binned.documents)
        remember_features(self, binned.n_features, binned.feature_names)
        self._grow(self._some_judged(binned), self._binned_valid(valid, binned.mapper), listeners, checkpoint)
        return None

    def _binned_valid(self, valid: Any, mapper: BinMapper) -> BinnedDataset | None:
        """What `fit` was given to validate on, with the bins of the training data."""
        file = as_data_file(valid)
        if file is None:
            data = validation_data(self, valid)
            return None if data is None else bin_dataset(data, mapper, threads=self.threads)
        binned = bin_file(file, mapper, threads=self.threads)
        with errors_name_file(file.name):
            check_features(self, binned.n_features, binned.feature_names)
        return binned

    def _some_judged(self, data: BinnedDataset) -> BinnedDataset:
        return replace(data, documents=self._with_some_judged(data.documents))

    def _binning(self) -> dict[str, Any]:
        return {
            "max_bins": self.max_bins,
            "categorical": tuple(self.categorical or ()),
            "seed": self.seed,
            "threads": self.threads,
        }

    def fit_binned(
        self,
        data: BinnedDataset,
        valid: BinnedDataset | None = None,
        *,
        queries: IntArray | None = None,
        watch_others: bool = False,
        listeners: Sequence[Listener] = (),
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """This ranker, trained on data that is binned already, by `bin_file` for one; `valid` has the same bins.

        How the bins were made is the data's own: `max_bins` and `categorical` have no say here. `queries`, numbers in
        ascending order, are those to train on, without a copy of their codes; with `watch_others` the rest of the
        queries take the place of `valid`.
        """
        require(self.scaling is None, "scaling needs the features themselves, not their bins: leave it out here")
        remember_features(self, data.n_features, data.feature_names)
        self.scaling_ = self.compressed_from_ = None
        self._grow(self._some_judged(data), valid, listeners, checkpoint, queries=queries, watch_others=watch_others)
        return self

    def with_forest(self, forest: Forest) -> ForestRanker:
        """A trained ranker like this one but for its trees, of whose training it knows nothing."""
        other = copy.copy(self)
        other.forest_, other.history_ = forest, History()
        return other

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
        earlier = self._earlier()
        if earlier is None:
            # Initial scores are all there is to start from: a constant beside them would be learned twice.
            self.base_score_ = self._base_score(data) if data.initial_scores is None else 0.0
        grown = fit_forest(
            data,
            self._objective(),
            self._plan(data),
            valid=valid,
            queries=queries,
            watch_others=watch_others,
            base_score=self.base_score_,
            earlier=earlier,
            checkpoint=None if checkpoint is None else Path(checkpoint),
            settings=self._lasting_settings(),
            listeners=listeners,
            threads=thread_count(self.threads),
        )
        if grown.history.interrupted and grown.forest.n_trees == 0:
            raise KeyboardInterrupt  # nothing was trained that could be kept
        self.forest_, self.history_ = grown.best(), grown.history
        self.data_digest_ = binned_digest(data)

    def _plan(self, data: BinnedDataset) -> ForestPlan:
        monotone = dict(self.monotone or {})
        tree = TreeParams(
            max_leaves=self.max_leaves,
            max_depth=self.max_depth,
            min_docs_in_leaf=_least_docs(self.min_docs_in_leaf, data.n_docs),
            l2=self.l2,
            split_gain=self._split_gain(),
            learning_rate=self.learning_rate,
        )
        boosting = BoostingParams(
            tree=tree,
            query_fraction=self.query_fraction,
            feature_fraction=self.feature_fraction,
            monotone=dict(zip(feature_numbers(data.names, monotone), monotone.values(), strict=True)),
            seed=self.seed,
        )
        return ForestPlan(boosting, LoopPlan(self.n_trees, self.early_stopping), self._selected())

    def _storable_settings(self) -> dict[str, Any]:
        # Files know no numbers as keys: pairs of feature and direction say the same.
        settings = super()._storable_settings()
        pairs = None if self.monotone is None else [list(pair) for pair in dict(self.monotone).items()]
        return settings | {"monotone": pairs}

    def _earlier(self) -> GrownForest | None:
        """The trees to go on from, where `warm_start` asks for it and there are any."""
        if not self.warm_start or not hasattr(self, "forest_"):
            return None
        require(
            self.n_trees >= self.forest_.n_trees,
            f"warm_start adds trees: n_trees must be {self.forest_.n_trees} or more, got {self.n_trees}",
        )
        return GrownForest(self.forest_, self.history_)


def _least_docs(setting: float, n_docs: int) -> int:
    """`min_docs_in_leaf` as a count: a fraction is one of the training rows, rounded up."""
    if isinstance(setting, int | np.integer) and not isinstance(setting, bool):
        return int(setting)
    require(
        isinstance(setting, float | np.floating) and 0 < setting < 1,
        f"min_docs_in_leaf must be a whole number or a fraction of the rows between 0 and 1, got {setting!r}",
    )
    return max(1, int(np.ceil(setting * n_docs)))
