"""What rankers made of trees share: training by boosting, scoring, importances, the model file."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rankwright.arrays import Float64Array, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.errors import SettingError, require
from rankwright.objectives.objective import Objective
from rankwright.rankers.door import scoring_data
from rankwright.rankers.ranker import Ranker
from rankwright.training.loop import History, Listener, LoopPlan
from rankwright.trees.binned import BinnedDataset, bin_dataset
from rankwright.trees.boosting import BoostingParams
from rankwright.trees.fitting import ForestPlan, GrownForest, StartScores, data_digest, fit_forest
from rankwright.trees.forest import Forest
from rankwright.trees.forest_arrays import forest_from_arrays, forest_to_arrays
from rankwright.trees.params import SplitGain, TreeParams


class ForestRanker(Ranker):
    """A ranker whose model is a forest; where documents should move says its objective."""

    forest_: Forest
    history_: History
    base_score_: float
    data_digest_: str

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
        names = self._feature_numbers(data.names)
        categorical = [names(feature) for feature in self.categorical or ()]
        binned = bin_dataset(
            data, max_bins=self.max_bins, categorical=categorical, seed=self.seed, threads=self.threads
        )
        watched = None if valid is None else bin_dataset(valid, binned.mapper, threads=self.threads)
        self._boost(binned, watched, listeners, checkpoint)

    def fit_binned(
        self,
        data: BinnedDataset,
        valid: BinnedDataset | None = None,
        *,
        listeners: Sequence[Listener] = (),
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """This ranker, trained on data that is binned already: no float matrix is needed."""
        self.n_features_in_ = data.n_features
        judged = replace(data, documents=self._with_some_judged(data.documents))
        self._boost(judged, valid, listeners, checkpoint)
        return self

    def _boost(
        self,
        data: BinnedDataset,
        valid: BinnedDataset | None,
        listeners: Sequence[Listener],
        checkpoint: str | os.PathLike[str] | None,
    ) -> None:
        self.base_score_ = self._base_score(data)
        grown = fit_forest(
            data,
            self._objective(),
            self._plan(data),
            valid=valid,
            start=StartScores(self.base_score_),
            earlier=self._earlier(),
            checkpoint=None if checkpoint is None else Path(checkpoint),
            settings=self._lasting_settings(),
            listeners=listeners,
            threads=thread_count(self.threads),
        )
        if grown.history.interrupted and grown.forest.n_trees == 0:
            raise KeyboardInterrupt  # nothing was trained that could be kept
        self.forest_, self.history_ = grown.best(), grown.history
        self.data_digest_ = data_digest(data)

    def _plan(self, data: BinnedDataset) -> ForestPlan:
        numbers = self._feature_numbers(data.names)
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
            monotone={numbers(feature): sign for feature, sign in dict(self.monotone or {}).items()},
            seed=self.seed,
        )
        return ForestPlan(boosting, LoopPlan(self.n_trees, self.early_stopping), self._selected())

    def _storable_settings(self) -> dict[str, Any]:
        # Files know no numbers as keys: pairs of feature and direction say the same.
        settings = super()._storable_settings()
        pairs = None if self.monotone is None else [list(pair) for pair in dict(self.monotone).items()]
        return settings | {"monotone": pairs}

    def _lasting_settings(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued; the number of trees may grow."""
        settings = {"ranker": self.name} | self._storable_settings()
        return {name: value for name, value in settings.items() if name not in ("n_trees", "warm_start")}

    def _earlier(self) -> GrownForest | None:
        """The trees to go on from, where `warm_start` asks for it and there are any."""
        if not self.warm_start or not hasattr(self, "forest_"):
            return None
        require(
            self.n_trees >= self.forest_.n_trees,
            f"warm_start adds trees: n_trees must be {self.forest_.n_trees} or more, got {self.n_trees}",
        )
        return GrownForest(self.forest_, self.history_)

    def _feature_numbers(self, names: Sequence[str]) -> Any:
        number_of = {name: number for number, name in enumerate(names)}

        def number(feature: int | str) -> int:
            if isinstance(feature, str):
                if feature not in number_of:
                    raise SettingError(f"there is no feature named {feature!r}")
                return number_of[feature]
            return int(feature)

        return number

    def _selected(self) -> str:
        return str(self.select or self.metric)

    def _scores(self, data: RankingDataset) -> Float64Array:
        return self.base_score_ + self.forest_.predict(data.features, threads=self.threads)

    def staged_predict(self, X: Any, qid: Any = None) -> Iterator[Float64Array]:
        """The scores after the first tree, after the second, and so on."""
        check_is_fitted(self)
        data = scoring_data(self, X, qid)
        for _, scores in self.forest_.staged_predict(data.features, threads=self.threads):
            yield data.in_source_order(self.base_score_ + scores)

    def importances(self, kind: str = "gain") -> Float64Array:
        """What each feature's splits gained in all (`gain`), or how many there are (`count`)."""
        check_is_fitted(self)
        return self.forest_.importance(kind)

    @property
    def feature_importances_(self) -> Float64Array:
        """The importances by gain, as shares of 1."""
        gains = self.importances("gain")
        total = float(gains.sum())
        return gains / total if total > 0 else gains

    @property
    def n_trees_(self) -> int:
        """How many trees the model has: those up to the best step where validation data was given."""
        return self.forest_.n_trees

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header = {
            "base_score": self.base_score_,
            "history": self.history_.to_dict(),
            "training_data": self.data_digest_,
        }
        return header, forest_to_arrays(self.forest_)

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.base_score_ = float(header["base_score"])
        self.history_ = History.from_dict(header["history"])
        self.data_digest_ = str(header["training_data"])
        self.forest_ = forest_from_arrays(arrays)


def _least_docs(setting: float, n_docs: int) -> int:
    """`min_docs_in_leaf` as a count: a fraction is one of the training rows, rounded up."""
    if isinstance(setting, int | np.integer) and not isinstance(setting, bool):
        return int(setting)
    require(
        isinstance(setting, float | np.floating) and 0 < setting < 1,
        f"min_docs_in_leaf must be a whole number or a fraction of the rows between 0 and 1, got {setting!r}",
    )
    return max(1, int(np.ceil(setting * n_docs)))
