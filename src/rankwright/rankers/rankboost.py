"""RankBoost: AdaBoost over pairs of documents."""

from __future__ import annotations

from typing import ClassVar

from rankwright.arrays import thread_count
from rankwright.boosters import rankboost
from rankwright.boosters.boosted_pairs import BoostedPairs
from rankwright.boosters.stumps import FeatureCodes, Finder
from rankwright.rankers.stump_ranker import StumpRanker
from rankwright.training.spaces import Choice, Space


class RankBoost(StumpRanker):
    """Threshold weak rankers, weighed by how they order pairs (Freund, Iyer, Schapire and Singer 2003).

    Each of `n_rounds` rounds adds the stump, a feature and one of its `max_bins` thresholds, that orders most of the
    weight of all pairs; pairs that stand wrong weigh more in the next round. Every pair of a query's documents with
    different labels counts the same at the start, times the weights of its query and of its two documents; with
    `equal_queries` those of a query count 1 together, however many they are. Documents without the feature stand below
    or above, whichever orders pairs better (the paper's q_def).

    `metric` is what early stopping and the choice of rounds look at, unless `select` names another. `early_stopping` is
    the number of rounds without a better value after which to stop. Nothing in training is random; `seed` draws only
    the `unjudged` documents that are taken as irrelevant, and the rows that bins of large data are made from.
    """

    name: ClassVar[str] = "rankboost"
    space: ClassVar[Space] = {"max_bins": Choice((16, 64)), "equal_queries": Choice((False, True))}

    def __init__(
        self,
        *,
        n_rounds: int = 500,
        max_bins: int = 64,
        equal_queries: bool = False,
        metric: str = "ndcg@10",
        select: str | None = None,
        early_stopping: int | None = None,
        scaling: str | None = None,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.max_bins = max_bins
        self.equal_queries = equal_queries
        self.metric = metric
        self.select = select
        self.early_stopping = early_stopping
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _finder(self, documents: FeatureCodes, pairs: BoostedPairs) -> Finder:
        return rankboost.RankBoost(documents, pairs, thread_count(self.threads))
