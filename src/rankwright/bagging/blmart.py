"""BL-MART: bagged LambdaMART."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from rankwright.bagging.bagged_forest import BaggedForest
from rankwright.objectives.objective import Objective
from rankwright.rankers.forest_ranker import ForestRanker
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.trees.params import SplitGain


class BLMART(BaggedForest):
    """The mean of LambdaMARTs, each on a sample of queries (Ganjisaffar, Caruana, Lopes 2011; slides 3).

    Each of `n_bags` bags draws `bag_fraction` of the queries, with replacement where `bootstrap` says so, and inside it
    each tree draws again: `query_fraction` of the bag's queries and `feature_fraction` of the features. `overfit=False`
    keeps of each bag the trees up to the best step on its out-of-bag queries, or on `valid`; `overfit=True` keeps them
    all, since averaging takes overfitting away again. The other settings are those of LambdaMART.
    """

    name: ClassVar[str] = "bl-mart"

    def __init__(
        self,
        *,
        n_bags: int = 20,
        bag_fraction: float = 1.0,
        bootstrap: bool = True,
        overfit: bool = False,
        n_trees: int = 300,
        max_leaves: int = 31,
        max_depth: int | None = None,
        min_docs_in_leaf: float = 20,
        learning_rate: float = 0.1,
        query_fraction: float = 0.5,
        feature_fraction: float = 0.5,
        max_bins: int = 255,
        l2: float = 0.0,
        metric: str = "ndcg@10",
        objective: str | Objective | None = None,
        select: str | None = None,
        truncation: int | None = None,
        sigma: float | None = None,
        split_gain: SplitGain | None = None,
        mode: Literal["default", "paper"] = "default",
        early_stopping: int | None = None,
        monotone: Mapping[int | str, int] | Sequence[tuple[int | str, int]] | None = None,
        categorical: Sequence[int | str] | None = None,
        scaling: str | None = None,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
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
        self.objective = objective
        self.select = select
        self.truncation = truncation
        self.sigma = sigma
        self.split_gain = split_gain
        self.mode = mode
        self.early_stopping = early_stopping
        self.monotone = monotone
        self.categorical = categorical
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _member(self) -> type[ForestRanker]:
        return LambdaMART

    def _storable_settings(self) -> dict[str, Any]:
        # LambdaMART knows how a file holds an objective of the user's own.
        return super()._storable_settings() | {"objective": self.single()._storable_settings()["objective"]}
