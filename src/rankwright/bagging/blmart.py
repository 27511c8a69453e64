"""BL-MART and BagBoo: bags of LambdaMART and of MART."""

from __future__ import annotations

from typing import ClassVar

from rankwright.bagging.bag_models import BaggedForestModel, n_bags_view, oob_score_view, oob_scores_view
from rankwright.bagging.forest_bags import ForestBagRecipe, bag, single, trees_of_bags_view, with_forest
from rankwright.bagging.settings import BagBooSettings, BLMARTSettings
from rankwright.debiasing.stage import debiasing_view, plot_bias, position_ratios_view
from rankwright.mart.forest_ranker import ForestRanker
from rankwright.mart.lambdamart import LambdaMART
from rankwright.mart.mart import MART


class BLMART(ForestRanker, BLMARTSettings):
    """Each of `n_bags` bags draws `bag_fraction` of the queries, and inside it each tree draws again: `query_fraction`
    of the bag's queries and `feature_fraction` of the features. The settings of a bag's trees are LambdaMART's.

    Attributes
    ----------
    forest_ : Forest
        The trees of all bags as one forest, whose scores are the mean of the bags' scores.
    n_bags_ : int
        How many bags there are.
    trees_of_bags_ : array of int64
        How many trees each bag has.
    oob_scores_ : array of float64
        For each training document, in the caller's row order, the mean score by the bags that never saw its query; NaN
        where all did. It is not part of the model file.
    oob_score_ : float or None
        The value of `select` for these scores: an honest estimate that costs no data.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=30, seed=0)
    >>> ranker = rw.BLMART(n_bags=3, n_trees=5, max_leaves=7).fit(data)
    >>> ranker.n_bags_
    3
    """

    recipe = ForestBagRecipe(LambdaMART)
    model_kind = BaggedForestModel
    validates_itself: ClassVar[bool] = True
    takes_positions: ClassVar[bool] = True
    n_bags_, oob_score_, oob_scores_, trees_of_bags_ = n_bags_view, oob_score_view, oob_scores_view, trees_of_bags_view
    debiasing_, position_ratios_, plot_bias = debiasing_view, position_ratios_view, plot_bias
    bag, single, with_forest = bag, single, with_forest


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
