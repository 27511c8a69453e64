"""RankBoost (Freund, Iyer, Schapire and Singer 2003): AdaBoost over pairs of documents, without the pairs.

D is a distribution over pairs. A weak ranker h, 0 or 1 for every document, is worth r = Σ D(worse, better) ·
(h(better) - h(worse)); it gets the weight α = ½ ln((1 + r) / (1 - r)), and D is multiplied by exp(α (h(worse) -
h(better))) and normalised. With the potential π of a document, the weight of the pairs in which it is the better less
that of those in which it is the worse, r is the sum of π over the documents that h puts above: a histogram of π by bins
finds the best threshold of a feature.

After some rounds D(worse, better) is its start times exp(H(worse) - H(better)), a product of two factors, one for each
document. So potentials need sums over labels, not over pairs: with a query's documents sorted by label they take two
passes, whether labels have two values (the paper's bipartite case) or many.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float64Array
from rankwright.boosters.label_pairs import LabelPairs
from rankwright.boosters.stumps import FeatureCodes, Stump, StumpRounds, as_leaf, best_stumps

NOTHING_LEFT = 1e-9  # a weak ranker worth no more than rounding
LARGEST_WORTH = 1 - 1e-6  # a weak ranker that orders all pairs rightly would count infinitely


class RankBoost:
    """RankBoost in the making."""

    def __init__(
        self, documents: FeatureCodes, pairs: LabelPairs, watched: FeatureCodes | None = None, *, threads: int = 1
    ) -> None:
        self.rounds, self.pairs, self.threads = StumpRounds(documents, watched), pairs, threads

    @property
    def n_rounds(self) -> int:
        """How many rounds have been taken."""
        return len(self.rounds.stumps)

    @property
    def watched_scores(self) -> Float64Array:
        """What the stumps say now of the documents that are watched."""
        return self.rounds.watched_scores

    def take_step(self, step: int) -> bool:  # noqa: ARG002
        """Add the stump of the largest |r|; False where none tells pairs apart."""
        potentials, totals = self.pairs.potentials(self.rounds.scores, threads=self.threads)
        total = float(totals.sum())
        if total <= 0:
            return False
        best = best_stumps(self.rounds.documents, potentials, threads=self.threads)
        feature = int(np.argmax(np.abs(best.sums)))
        worth = float(best.sums[feature]) / total
        if abs(worth) <= NOTHING_LEFT:
            return False
        worth = max(-LARGEST_WORTH, min(LARGEST_WORTH, worth))
        weight = as_leaf(0.5 * math.log((1 + worth) / (1 - worth)))
        self.rounds.add(Stump(feature, int(best.bins[feature]), bool(best.missing_above[feature]), weight, abs(worth)))
        return True

    def to_arrays(self) -> Mapping[str, NDArray[Any]]:
        """The stumps so far."""
        return self.rounds.to_arrays()

    def take_up(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue after the stumps that were written down."""
        self.rounds.take_up(arrays)
