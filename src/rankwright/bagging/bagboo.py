"""BagBoo: bagged regression trees, boosted for a while."""

from __future__ import annotations

from rankwright.bagging.bagged_forest import BaggedForest
from rankwright.bagging.settings import BagBooSettings
from rankwright.trees.mart import MART


class BagBoo(BaggedForest, BagBooSettings):
    """What BL-MART is to LambdaMART, with MART in the bags: more bags, fewer trees in each, all of them kept.

    Attributes
    ----------
    forest_ : Forest
        The trees of all bags as one forest, whose scores are the mean of the bags' scores.
    n_bags_ : int
        How many bags there are.
    oob_score_ : float or None
        What `select` makes of the training documents' scores by bags that never saw their queries.
    """

    member_kind = MART
