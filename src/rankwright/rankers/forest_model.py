"""What rankers whose model is a forest share: scoring, importances, the model file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rankwright.arrays import BoolArray, Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.rankers.ranker import Ranker
from rankwright.trees.forest import IMPORTANCES, Forest
from rankwright.trees.forest_arrays import forest_from_arrays, forest_to_arrays


class ForestModel(Ranker):
    """A ranker whose model is a forest, however it was grown."""

    importance_kinds: ClassVar[tuple[str, ...]] = tuple(IMPORTANCES)

    forest_: Forest
    base_score_: float

    def _scores(self, data: RankingDataset) -> Float64Array:
        return self.base_score_ + self.forest_.predict(data.features, threads=self.threads)

    def staged_predict(self, X: Any, qid: Any = None) -> Iterator[Float64Array]:
        """The scores after the first tree, after the second, and so on."""
        data = self._documents(X, qid)
        for _, scores in self.forest_.staged_predict(data.features, threads=self.threads):
            yield data.in_source_order(self.base_score_ + scores)

    def used_features(self) -> BoolArray:
        """Which features the trees split on."""
        return self.importances("count") > 0

    def facts(self) -> dict[str, Any]:
        """How many trees and leaves there are and how deep they go, and how many features they split on."""
        check_is_fitted(self)
        leaves = self.forest_.n_leaves_of_trees()
        return {
            "trees": self.forest_.n_trees,
            "leaves": int(leaves.sum()),
            "most_leaves": int(leaves.max(initial=0)),
            "depth": int(self.forest_.depth_of_trees().max(initial=0)),
            "features_used": int(self.used_features().sum()),
            "base_score": self.base_score_,
        }

    def _importances(self, kind: str) -> Float64Array:
        """What each feature's splits gained in all (`gain`), or how many there are (`count`)."""
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

    @property
    def n_steps_(self) -> int:
        """How many trees there are."""
        return self.n_trees_

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {"base_score": self.base_score_}, forest_to_arrays(self.forest_)

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.base_score_ = float(header["base_score"])
        self.forest_ = forest_from_arrays(arrays)
        if self.forest_.n_features != self.n_features_in_:
            raise InputError(f"the trees are of {self.forest_.n_features} features, the model of {self.n_features_in_}")
