"""The fitted attributes and methods of every ranker whose model is a forest, however it was made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankwright.arrays import Float64Array
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.trained import TrainedRanker
from rankwright.rankers.views import View
from rankwright.trees.forests.forest import Forest
from rankwright.trees.model import forest_model


def _shares_of_gain(trained: TrainedRanker) -> Float64Array:
    gains = trained.model.importances("gain")
    total = float(gains.sum())
    return gains / total if total > 0 else gains


forest = View[Forest](lambda trained: forest_model(trained).forest, "The trained trees.")
base_score = View[float](
    lambda trained: float(forest_model(trained).base_score), "What the trees' values are added to."
)
n_trees = View[int](
    lambda trained: forest_model(trained).forest.n_trees,
    "How many trees the model has: those up to the best step if validation data was given.",
)
feature_importances = View[Float64Array](_shares_of_gain, "The importances by gain, as shares of 1.")


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
    data, model = trained.seen_by_model(given, self.threads), forest_model(trained)
    for _, scores in model.forest.staged_predict(data.features, threads=self.threads):
        yield data.in_source_order(model.base_score + scores)
