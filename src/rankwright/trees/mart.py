"""MART: boosted trees that fit each document's label by itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rankwright.objectives.objective import Objective
from rankwright.objectives.pointwise import LogisticError, SquaredError
from rankwright.trees.binned_ranker import BinnedLists
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

    def _base_score(self, lists: BinnedLists) -> float:
        """The best constant: the mean of the judged labels, or for the logistic loss the log-odds of relevance."""
        share = lists.label_sums(relevant=self.loss != "squared").mean
        if share is None or self.loss == "squared":
            return share or 0.0
        return float(np.log(share / (1 - share))) if 0 < share < 1 else 0.0
