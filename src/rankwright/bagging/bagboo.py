"""BagBoo: bagged regression trees, boosted for a while."""

from __future__ import annotations

from typing import ClassVar

from rankwright.bagging.bag_models import BaggedForestModel
from rankwright.bagging.bags import n_bags_view, oob_score_view, oob_scores_view
from rankwright.bagging.forest_bags import ForestBagRecipe, bag, single, trees_of_bags_view, with_forest
from rankwright.bagging.settings import BagBooSettings
from rankwright.mart.forest_ranker import ForestRanker
from rankwright.mart.mart import MART


class BagBoo(ForestRanker, BagBooSettings):
    """Like BL-MART, but with MART in the bags: there are more bags, with fewer trees in each, and all trees are kept.

    Attributes
    ----------
    forest_ : Forest
        The trees of all bags as one forest, whose scores are the mean of the bags' scores.
    n_bags_ : int
        How many bags there are.
    oob_score_ : float or None
        The value of `select` for training documents, each scored by the bags that never saw its query.
    """

    recipe = ForestBagRecipe(MART)
    model_kind = BaggedForestModel
    validates_itself: ClassVar[bool] = True
    n_bags_, oob_score_, oob_scores_, trees_of_bags_ = n_bags_view, oob_score_view, oob_scores_view, trees_of_bags_view
    bag, single, with_forest = bag, single, with_forest
