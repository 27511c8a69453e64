"""FRank (Tsai, Liu, Qin, Chen and Ma 2007): an additive model of stumps that lowers the fidelity loss of pairs.

With P the logistic function of a pair's difference of scores, and 1 as its target, the fidelity loss is 1 - √P: unlike
cross entropy it is never above 1, so an outlier cannot dominate a query; it falls to 0 for a pair in the right order.
A stump h, 0 or 1 for every document, is added with the weight α. A pair's difference changes by α · (h(better) -
h(worse)), which is α, 0 or -α; with the weights W = D · √P · (1 - P) of pairs, twice the slope of their losses, the
step that balances the pairs h orders rightly against those it orders wrongly is α = ½ ln(Σ_right W / Σ_wrong W).

W is not a product of two factors, so kernels go through all pairs, without storing them. A document's potential is the
weight of the pairs in which it is the better less that of those in which it is the worse; the sum over the documents
that a stump puts above is Σ_right W - Σ_wrong W, which is how steeply the loss falls along it. The steepest stump of
each feature is found, and for the eight steepest of these both sums. The stump whose square roots of the two sums
differ most is added, because it gains most from its step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.boosters.boosted_pairs import STUMPS_AT_A_TIME, BoostedPairs
from rankwright.boosters.settings import FRankSettings
from rankwright.boosters.stump_ranker import StumpRanker, StumpRecipe
from rankwright.boosters.stumps import FeatureCodes, Finder, Stump, above_by_code, as_leaf, best_stumps

SMOOTHING = 1e-4  # added to both sums, so that a stump without mistakes gets a finite weight
NOTHING_LEFT = 1e-9  # a step this small is rounding


def frank_finder(settings: FRankSettings, documents: FeatureCodes, pairs: BoostedPairs, threads: int) -> Finder:
    """The way to the next stump."""
    return FRankFinder(documents, pairs, settings.learning_rate, threads)


class FRank(StumpRanker, FRankSettings):
    """Each of `n_rounds` rounds adds the stump, a feature and one of its `max_bins` thresholds, that gains most, with
    the paper's closed-form weight times `learning_rate`. Two documents of a query with different labels are a pair,
    weighted by both documents' weights. The query's weight is shared by its pairs, however many they are, as in the
    paper; with `equal_queries=False` every pair counts the same. A pair's loss is at most 1: hard pairs and outliers
    weigh less than in RankBoost. Documents without the feature are put below or above, whichever is better.

    `metric` is what early stopping and the choice of rounds look at, unless `select` names another. `early_stopping` is
    the number of rounds without a better value after which to stop. Nothing in training is random; `seed` draws only
    the `unjudged` documents that are taken as irrelevant, and the rows that bins of large data are made from.
    """

    recipe = StumpRecipe(frank_finder)


@dataclass(frozen=True, slots=True, eq=False)
class FRankFinder:
    """Finds the stump that lowers the loss most; its weight is `learning_rate` times the balancing step."""

    documents: FeatureCodes
    pairs: BoostedPairs
    learning_rate: float = 1.0
    threads: int = 1

    def next_stump(self, scores: Float64Array) -> Stump | None:
        """The stump that lowers the loss most; None where none tells pairs apart."""
        documents = self.documents
        potentials = self.pairs.fidelity_potentials(scores, threads=self.threads)
        steepest = best_stumps(documents, potentials, threads=self.threads)
        features = np.argsort(-np.abs(steepest.sums), kind="stable")[:STUMPS_AT_A_TIME]
        above = np.zeros(documents.n_docs, np.uint8)
        for bit, feature in enumerate(features.tolist()):
            by_code = above_by_code(
                int(documents.n_bins[feature]), int(steepest.bins[feature]), bool(steepest.missing_above[feature])
            )
            above |= by_code[documents.codes[feature]].astype(np.uint8) << np.uint8(bit)
        right, wrong = self.pairs.fidelity_agreement(scores, above, threads=self.threads)
        apart = np.abs(np.sqrt(right + SMOOTHING) - np.sqrt(wrong + SMOOTHING))[: len(features)]
        best = int(np.argmax(apart))
        ratio = (right[best] + SMOOTHING) / (wrong[best] + SMOOTHING)
        weight = as_leaf(self.learning_rate * 0.5 * math.log(ratio))
        if abs(weight) <= NOTHING_LEFT:
            return None
        feature = int(features[best])
        place, side = int(steepest.bins[feature]), bool(steepest.missing_above[feature])
        return Stump(feature, place, side, weight, float(apart[best]) ** 2)
