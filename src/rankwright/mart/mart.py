"""MART: boosted trees that fit each document's label by itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rankwright.mart.forest_ranker import ForestRanker
from rankwright.mart.lists import ForestLists
from rankwright.mart.recipe import ForestRecipe
from rankwright.mart.settings import MARTSettings, PointwiseForestSettings
from rankwright.objectives.objective import Objective
from rankwright.objectives.pairless import LogisticError, SquaredError
from rankwright.rankers.trained import TrainingFindings

LOSSES: Mapping[str, type[SquaredError] | type[LogisticError]] = {"squared": SquaredError, "logistic": LogisticError}


def pointwise_forces(settings: PointwiseForestSettings, found: TrainingFindings) -> Objective:  # noqa: ARG001
    """The pull of each document's own label."""
    return LOSSES[settings.loss]()


def best_constant(settings: PointwiseForestSettings, lists: ForestLists) -> float:
    """The mean of the judged labels, or for the logistic loss the log-odds of relevance."""
    share = lists.label_sums(relevant=settings.loss != "squared").mean
    if share is None or settings.loss == "squared":
        return share or 0.0
    return float(np.log(share / (1 - share))) if 0 < share < 1 else 0.0


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

    recipe = ForestRecipe(forces=pointwise_forces, base_score=best_constant)
