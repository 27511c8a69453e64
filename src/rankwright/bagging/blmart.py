"""BL-MART: bagged LambdaMART."""

from __future__ import annotations

from typing import Any

from rankwright.bagging.bagged_forest import BaggedForest
from rankwright.bagging.settings import BLMARTSettings
from rankwright.trees.debiased import DebiasedRanker
from rankwright.trees.forest_ranker import ForestRanker
from rankwright.trees.lambdamart import LambdaMART


class BLMART(DebiasedRanker, BaggedForest, BLMARTSettings):
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

    member_kind = LambdaMART

    def single(self, **changes: Any) -> ForestRanker:
        """Make an untrained LambdaMART with the settings of a bag's. See `BaggedForest.single`."""
        member = super().single(**changes)
        assert isinstance(member, LambdaMART)
        member._weighs_positions = self._weighs_positions  # which was measured once, on the features of all bags
        member._has_clicks = self.propensity_weights_ is not None  # weights do not tell where they come from
        return member
