"""MART: boosted trees that fit each document's label by itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rankwright.objectives.objective import Objective
from rankwright.objectives.pointwise import LogisticError, SquaredError
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.forest_ranker import ForestRanker
from rankwright.trees.params import SplitGain
from rankwright.trees.settings import MARTSettings

LOSSES: Mapping[str, type[SquaredError] | type[LogisticError]] = {"squared": SquaredError, "logistic": LogisticError}


class MART(ForestRanker, MARTSettings):
    """Labels are regressed document by document, so lists and pairs play no part in training; `metric` and `select`
    still choose how many trees to keep where validation data is given.

    Attributes
    ----------
    forest_ : Forest
        The trained trees.
    n_trees_ : int
        How many there are: those up to the best step if validation data was given.
    base_score_ : float
        The best constant, which the trees' values are added to.
    """

    def _objective(self) -> Objective:
        return LOSSES[self.loss]()

    def _split_gain(self) -> SplitGain:
        return self.split_gain

    def _base_score(self, data: BinnedDataset) -> float:
        """The best constant: the mean of the judged labels, or for the logistic loss the log-odds of relevance."""
        if data.labels is None:
            return 0.0
        weights = np.ones(data.n_docs) if data.document_weights is None else data.document_weights.astype(np.float64)
        if data.query_weights is not None:
            weights = weights * np.repeat(data.query_weights, data.groups.sizes)
        counts = ~np.isnan(data.labels) & (weights > 0)
        if not counts.any():
            return 0.0
        judged, weights = data.labels[counts].astype(np.float64), weights[counts]
        if self.loss == "squared":
            return float(np.average(judged, weights=weights))
        share = float(np.average(judged > 0, weights=weights))
        return float(np.log(share / (1 - share))) if 0 < share < 1 else 0.0
