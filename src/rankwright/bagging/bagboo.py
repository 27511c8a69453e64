"""BagBoo: bagged regression trees, boosted for a while."""

from __future__ import annotations

from rankwright.bagging.bagged_forest import BaggedForest
from rankwright.bagging.settings import BagBooSettings
from rankwright.trees.mart import MART


class BagBoo(BaggedForest, BagBooSettings):
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

    member_kind = MART
