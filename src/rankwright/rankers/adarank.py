"""AdaRank: boosting that looks at the metric itself."""

from __future__ import annotations

from typing import ClassVar

from rankwright.arrays import Float32Array, thread_count
from rankwright.boosters import adarank
from rankwright.boosters.measured_lists import MeasuredLists
from rankwright.errors import require
from rankwright.rankers.weighted_sum_ranker import WeightedSumRanker
from rankwright.training.driver import Learner
from rankwright.training.spaces import Choice, Space


class AdaRank(WeightedSumRanker):
    """Single features added up, round after round, for queries that the metric says are ranked badly (Xu and Li 2007).

    `metric` is what is boosted: `map`, `ndcg@10`, any metric between 0 and 1. Each of `n_rounds` rounds takes the
    feature that does best on the queries as they weigh now, and queries that the sum so far ranks badly weigh more in
    the next. Weak rankers are features as they are: `downwards` lets a feature rank the other way where that does
    better by itself. A feature is chosen `max_uses` times at most; None is the paper's rule, which tends to take one
    feature again and again. `scaling` decides how features add up; it changes the order of none of them alone, unless
    it scales queries apart.

    The rounds kept are those up to the best value of `select` (default: `metric`) on the validation documents, or on
    the training ones where there are none. `early_stopping` is the number of rounds without a better value after which
    to stop. A query's weight is where its weight starts; that of documents counts as their mean. Queries whose
    documents all have one label teach nothing and are left out. Nothing in training is random; `seed` draws only the
    `unjudged` documents that are taken as irrelevant.
    """

    name: ClassVar[str] = "adarank"
    budget: ClassVar[str | None] = "n_rounds"
    space: ClassVar[Space] = {"metric": Choice(("map", "ndcg@10")), "max_uses": Choice((1, 4))}

    def __init__(
        self,
        *,
        metric: str = "map",
        n_rounds: int = 200,
        max_uses: int | None = 1,
        downwards: bool = True,
        select: str | None = None,
        early_stopping: int | None = None,
        scaling: str | None = "zscore",
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.n_rounds = n_rounds
        self.max_uses = max_uses
        self.downwards = downwards
        self.select = select
        self.early_stopping = early_stopping
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _learner(self, features: Float32Array, lists: MeasuredLists) -> Learner:
        require(self.max_uses is None or self.max_uses >= 1, f"max_uses must be 1 or more, got {self.max_uses}")
        return adarank.AdaRank(
            features,
            lists,
            downwards=self.downwards,
            max_uses=self.max_uses,
            threads=thread_count(self.threads),
        )
