"""The attributes and methods of every ranker whose model is a forest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankwright.arrays import Float64Array
from rankwright.rankers.ranker import Ranker
from rankwright.trees.forests.forest import Forest


class ForestFace(Ranker):
    """A ranker whose model has a forest and a base score, however they were made."""

    @property
    def forest_(self) -> Forest:
        """The trained trees."""
        forest: Forest = self.model_.forest  # type: ignore[attr-defined]  # models of these rankers have one
        return forest

    @property
    def base_score_(self) -> float:
        """What the trees' values are added to."""
        return float(self.model_.base_score)  # type: ignore[attr-defined]

    def staged_predict(self, X: Any, qid: Any = None) -> Iterator[Float64Array]:
        """Score documents tree by tree.

        Parameters
        ----------
        X, qid
            As for `predict`.

        Yields
        ------
        array of float64
            The scores after the first tree, after the second, and so on.
        """
        data = self.seen_by_model(self._documents(X, qid))
        for _, scores in self.forest_.staged_predict(data.features, threads=self.threads):
            yield data.in_source_order(self.base_score_ + scores)

    @property
    def feature_importances_(self) -> Float64Array:
        """The importances by gain, as shares of 1."""
        gains = self.importances("gain")
        total = float(gains.sum())
        return gains / total if total > 0 else gains

    @property
    def n_trees_(self) -> int:
        """How many trees the model has: those up to the best step if validation data was given."""
        return self.forest_.n_trees
