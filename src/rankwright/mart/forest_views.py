"""The fitted attributes and methods of every ranker whose model is a forest, however it was made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankwright.arrays import Float64Array
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.trained import TrainedRanker
from rankwright.rankers.views import View
from rankwright.trees.forests.forest import Forest


def forest_of(trained: TrainedRanker) -> Forest:
    """The trained trees."""
    forest: Forest = trained.model.forest  # type: ignore[attr-defined]  # models of these rankers have one
    return forest


def base_score_of(trained: TrainedRanker) -> float:
    """What the trees' values are added to."""
    return float(trained.model.base_score)  # type: ignore[attr-defined]


def _shares_of_gain(trained: TrainedRanker) -> Float64Array:
    gains = trained.model.importances("gain")
    total = float(gains.sum())
    return gains / total if total > 0 else gains


forest_view = View[Forest](forest_of, "The trained trees.")
base_score_view = View[float](base_score_of, "What the trees' values are added to.")
n_trees_view = View[int](
    lambda trained: forest_of(trained).n_trees,
    "How many trees the model has: those up to the best step if validation data was given.",
)
feature_importances_view = View[Float64Array](_shares_of_gain, "The importances by gain, as shares of 1.")


def staged_predict(self: Ranker, X: Any, qid: Any = None) -> Iterator[Float64Array]:
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
    given = self.documents_to_score(X, qid)
    trained = self.trained_
    data, base_score = trained.seen_by_model(given, self.threads), base_score_of(trained)
    for _, scores in forest_of(trained).staged_predict(data.features, threads=self.threads):
        yield data.in_source_order(base_score + scores)
