"""FRank: stumps that lower the fidelity loss of pairs."""

from __future__ import annotations

from typing import ClassVar

from rankwright.arrays import thread_count
from rankwright.boosters import frank
from rankwright.boosters.boosted_pairs import BoostedPairs
from rankwright.boosters.stumps import FeatureCodes, Finder
from rankwright.errors import require
from rankwright.rankers.stump_ranker import StumpRanker
from rankwright.training.spaces import Choice, Space


class FRank(StumpRanker):
    """Threshold weak rankers, added to lower the fidelity loss of pairs (Tsai, Liu, Qin, Chen and Ma 2007).

    Each of `n_rounds` rounds adds the stump, a feature and one of its `max_bins` thresholds, that gains most, with the
    paper's closed-form weight times `learning_rate`. Pairs are those of a query's documents with different labels, and
    count the weights of their two documents; the pairs of a query count its weight together, however many they are, as
    the paper normalises them, or with `equal_queries=False` every pair counts the same. A pair's loss is at most 1:
    hard pairs and outliers weigh less than in RankBoost. Documents without the feature stand below or above, whichever
    is better.

    `metric` is what early stopping and the choice of rounds look at, unless `select` names another. `early_stopping` is
    the number of rounds without a better value after which to stop. Nothing in training is random; `seed` draws only
    the `unjudged` documents that are taken as irrelevant, and the rows that bins of large data are made from.
    """

    name: ClassVar[str] = "frank"
    space: ClassVar[Space] = {"learning_rate": Choice((0.3, 1.0)), "max_bins": Choice((16, 64))}

    def __init__(
        self,
        *,
        n_rounds: int = 200,
        learning_rate: float = 1.0,
        max_bins: int = 64,
        equal_queries: bool = True,
        metric: str = "ndcg@10",
        select: str | None = None,
        early_stopping: int | None = None,
        scaling: str | None = None,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
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
        require(self.learning_rate > 0, f"learning_rate must lie above 0, got {self.learning_rate}")
        return frank.FRank(documents, pairs, self.learning_rate, thread_count(self.threads))
