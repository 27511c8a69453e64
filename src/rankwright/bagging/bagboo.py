"""BagBoo: bagged regression trees, boosted for a while."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from rankwright.bagging.bagged_forest import BaggedForest
from rankwright.rankers.forest_ranker import ForestRanker
from rankwright.rankers.mart import MART
from rankwright.trees.params import SplitGain


class BagBoo(BaggedForest):
    """The mean of many short runs of boosted regression trees (Pavlov, Gorodilov, Brunk 2010): pointwise.

    What BL-MART is to LambdaMART, with MART in the bags: more bags, fewer trees in each, all of them kept. The other
    settings are those of BL-MART and of MART.
    """

    name: ClassVar[str] = "bagboo"

    def __init__(
        self,
        *,
        loss: Literal["squared", "logistic"] = "squared",
        n_bags: int = 50,
        bag_fraction: float = 1.0,
        bootstrap: bool = True,
        overfit: bool = True,
        n_trees: int = 30,
        max_leaves: int = 31,
        max_depth: int | None = None,
        min_docs_in_leaf: float = 20,
        learning_rate: float = 0.1,
        query_fraction: float = 1.0,
        feature_fraction: float = 0.5,
        max_bins: int = 255,
        l2: float = 0.0,
        metric: str = "ndcg@10",
        select: str | None = None,
        split_gain: SplitGain = "newton",
        early_stopping: int | None = None,
        monotone: Mapping[int | str, int] | Sequence[tuple[int | str, int]] | None = None,
        categorical: Sequence[int | str] | None = None,
        scaling: str | None = None,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.loss = loss
        self.n_bags = n_bags
        self.bag_fraction = bag_fraction
        self.bootstrap = bootstrap
        self.overfit = overfit
        self.n_trees = n_trees
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.min_docs_in_leaf = min_docs_in_leaf
        self.learning_rate = learning_rate
        self.query_fraction = query_fraction
        self.feature_fraction = feature_fraction
        self.max_bins = max_bins
        self.l2 = l2
        self.metric = metric
        self.select = select
        self.split_gain = split_gain
        self.early_stopping = early_stopping
        self.monotone = monotone
        self.categorical = categorical
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _member(self) -> type[ForestRanker]:
        return MART
