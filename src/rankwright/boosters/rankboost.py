"""RankBoost (Freund, Iyer, Schapire and Singer 2003): AdaBoost over pairs of documents, which are never formed.

D is a distribution over pairs. A weak ranker h, 0 or 1 for every document, is worth r = Σ D(worse, better) ·
(h(better) - h(worse)); it gets the weight α = ½ ln((1 + r) / (1 - r)), and D is multiplied by exp(α (h(worse) -
h(better))) and normalised. With the potential π of a document, the weight of the pairs in which it is the better less
that of those in which it is the worse, r is the sum of π over the documents that h puts above: a histogram of π by bins
finds the best threshold of a feature.

After some rounds D(worse, better) is its first value times exp(H(worse) - H(better)), a product of one factor for each
document. So potentials need sums over labels, not over pairs: with a query's documents sorted by label they take two
passes, whether labels have two values (the paper's bipartite case) or many.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.boosters.boosted_pairs import BoostedPairs
from rankwright.boosters.settings import RankBoostSettings
from rankwright.boosters.stump_ranker import StumpRanker, StumpRecipe
from rankwright.boosters.stumps import FeatureCodes, Finder, Stump, as_leaf, best_stumps

NOTHING_LEFT = 1e-9  # a weak ranker worth so little is rounding
LARGEST_WORTH = 1 - 1e-6  # a weak ranker that orders all pairs right would get an infinite weight


def rankboost_finder(settings: RankBoostSettings, documents: FeatureCodes, pairs: BoostedPairs, threads: int) -> Finder:  # noqa: ARG001
    """The way to the next stump."""
    return RankBoostFinder(documents, pairs, threads)


class RankBoost(StumpRanker, RankBoostSettings):
    """Each of `n_rounds` rounds adds the stump, a feature and one of its `max_bins` thresholds, that orders most of the
    weight of all pairs; pairs in the wrong order weigh more in the next round. Every two documents of a query with
    different labels are a pair, whose first weight is the product of the weights of its query and its two documents;
    with `equal_queries` the pairs of a query count 1 together, however many they are. Documents without the feature are
    put below or above, whichever orders pairs better (the paper's q_def).

    `metric` is what early stopping and the choice of rounds look at, unless `select` names another. `early_stopping` is
    the number of rounds without a better value after which to stop. Nothing in training is random; `seed` draws only
    the `unjudged` documents that are taken as irrelevant, and the rows that bins of large data are made from.
    """

    recipe = StumpRecipe(rankboost_finder)


@dataclass(frozen=True, slots=True, eq=False)
class RankBoostFinder:
    """Finds the stump of the largest |r|."""

    documents: FeatureCodes
    pairs: BoostedPairs
    threads: int = 1

    def next_stump(self, scores: Float64Array) -> Stump | None:
        """The stump that orders most of the weight of all pairs; None where no stump orders any."""
        potentials, totals = self.pairs.potentials(scores, threads=self.threads)
        total = float(totals.sum())
        if total <= 0:
            return None
        best = best_stumps(self.documents, potentials, threads=self.threads)
        feature = int(np.argmax(np.abs(best.sums)))
        worth = float(best.sums[feature]) / total
        if abs(worth) <= NOTHING_LEFT:
            return None
        worth = max(-LARGEST_WORTH, min(LARGEST_WORTH, worth))
        weight = as_leaf(0.5 * math.log((1 + worth) / (1 - worth)))
        return Stump(feature, int(best.bins[feature]), bool(best.missing_above[feature]), weight, abs(worth))
