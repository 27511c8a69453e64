"""The trained model of boosted trees: a forest and its base score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.container.checks import read_number
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.explanations.contributions import Contributions, PairContributions, Question
from rankwright.explanations.counterfactuals import values_beside
from rankwright.rankers.model import Model, State, StoredModel
from rankwright.rankers.trained import TrainedRanker
from rankwright.trees.forests.arrays import forest_from_arrays, forest_to_arrays
from rankwright.trees.forests.explaining import known_covers
from rankwright.trees.forests.forest import IMPORTANCES, Forest


@dataclass(frozen=True, slots=True, eq=False)
class ForestModel(Model):
    """A forest, however it was grown; scores start from `base_score`."""

    importance_kinds: ClassVar[tuple[str, ...]] = tuple(IMPORTANCES)
    takes_sparse: ClassVar[bool] = True

    forest: Forest
    base_score: float

    def scores(self, data: RankingDataset, *, threads: int) -> Float64Array:
        """The base score plus what the trees add up to."""
        return self.base_score + self.forest.predict(data.features, threads=threads)

    @property
    def n_steps(self) -> int:
        """How many trees there are."""
        return self.forest.n_trees

    def facts(self) -> dict[str, Any]:
        """How many trees and leaves there are and how deep they go, and how many features they split on."""
        leaves = self.forest.n_leaves_of_trees()
        return {
            "trees": self.forest.n_trees,
            "leaves": int(leaves.sum()),
            "most_leaves": int(leaves.max(initial=0)),
            "depth": int(self.forest.depth_of_trees().max(initial=0)),
            "features_used": int(self.used_features(self.forest.n_features).sum()),
            "base_score": self.base_score,
        }

    def importances(self, kind: str) -> Float64Array:
        """What each feature's splits gained in all (`gain`), or how many there are (`count`)."""
        return self.forest.importance(kind)

    def importances_of_steps(self, kind: str) -> Float64Array:
        """The importances that each tree adds, a row for each."""
        return self.forest.importance_of_trees(kind)

    def used_features(self, n_features: int) -> BoolArray:  # noqa: ARG002
        """Which features the trees split on."""
        return self.importances("count") > 0

    def contributions(self, data: RankingDataset, question: Question) -> Contributions:
        """What each feature adds to each score by the trees' splits: exact Shapley values."""
        others = question.background
        if others is not None:
            question.refuse_cover_beside_background()
            values = self.forest.explained(None).against(data.features, others.features, threads=question.threads)
            base = float(np.mean(self.scores(others, threads=question.threads)))
            return Contributions(values, base, f"Shapley values against {others.n_docs} background documents")
        cover = question.cover or self._first_cover()
        explained = self.forest.explained(cover)
        values = explained.contributions(data.features, threads=question.threads)
        return Contributions(values, self.base_score + explained.base, f"Shapley values, cover by {cover}")

    def pair_contributions(self, data: RankingDataset, pairs: IntArray, question: Question) -> PairContributions:
        """Exact Shapley values of the difference: a feature that is not known has the other document's value."""
        explained, values = self.forest.explained(None), np.zeros((len(pairs), data.n_features))
        for other in np.unique(pairs[:, 1]).tolist():
            own = pairs[:, 1] == other
            first, second = data.features[pairs[own, 0]], data.features[[other]]
            values[own] = explained.against(first, second, threads=question.threads)
        return PairContributions(values, values.sum(axis=1), "Shapley values of the difference between the two")

    def interactions(self, data: RankingDataset, question: Question) -> Float64Array:
        """What pairs of features add by acting together."""
        if question.background is not None:
            raise InputError("interactions are counted by a cover: leave out background")
        explained = self.forest.explained(question.cover or self._first_cover())
        return explained.interactions(data.features, threads=question.threads)

    def _first_cover(self) -> str:
        known = known_covers(self.forest)
        if not known:
            raise InputError(
                "the model tells neither how many documents reached its nodes nor their curvature: explain it against "
                "a background sample"
            )
        return known[0]

    def values_that_matter(self) -> dict[int, Float32Array]:
        """For each feature that is split, the values on both sides of its thresholds, or its categories."""
        forest, found = self.forest, {}
        for feature in np.flatnonzero(self.used_features(forest.n_features)).tolist():
            own = forest.feature == feature
            found[feature] = np.concatenate([values_beside(forest.threshold[own]), forest.categories_of(feature)])
        return found

    def categorical_features(self, n_features: int) -> BoolArray:  # noqa: ARG002
        """Which features are split by categories."""
        return np.diff(self.forest.category_offsets) > 0

    def state(self) -> State:
        """The base score, and the forest's arrays."""
        return {"base_score": self.base_score}, forest_to_arrays(self.forest)

    @classmethod
    def restored(cls, stored: StoredModel) -> Self:
        """The model that `state` described."""
        return cls(*forest_of_file(stored))


def forest_of_file(stored: StoredModel) -> tuple[Forest, float]:
    """The forest and the base score that a file describes."""
    forest = forest_from_arrays(stored.arrays)
    if forest.n_features != stored.n_features:
        raise InputError(f"the trees are of {forest.n_features} features, the model of {stored.n_features}")
    return forest, read_number(stored.header, "base_score")


def forest_model(trained: TrainedRanker) -> ForestModel:
    """The model of a trained ranker whose model is known to be a forest."""
    assert isinstance(trained.model, ForestModel)
    return trained.model


def steps_of(trained: TrainedRanker) -> int:
    """How many trees were grown one after another: all, unless the forest is the mean of several."""
    step = trained.history.best_step
    return forest_model(trained).forest.n_trees if step is None else step + 1
