"""AdaRank (Xu and Li 2007): boosting that gives more weight to queries that a metric rates badly.

P is a distribution over queries and E a metric's value for a query, from 0 to 1. Each round takes the weak ranker h of
the largest Σ P(q) E(q, h), gives it the weight α = ½ ln(Σ P(q) (1 + E(q, h)) / Σ P(q) (1 - E(q, h))), adds α h to the
model f, and sets P(q) to exp(-s E(q, f)), normalised. Weak rankers are single features, upwards or downwards, so that
E(q, h) is known before the first round: a round is one matrix product, and the model is linear.

In the paper s is 1, the values of P differ by a factor of e at most, and one strong feature is taken again and again,
so that the model is that feature alone. There are two ways out: `max_uses` is how often a feature can be chosen, and
`sharpness` is s: with a larger one, queries that the strong feature ranks badly outvote the others. With s = 3 to 5 and
any number of uses the figures come out that were published for MQ2007.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float32Array, Float64Array, IntArray
from rankwright.boosters.climbing import ClimbingRecipe, MeasuredLists, WeightedSumRanker
from rankwright.boosters.model import weighted_sum
from rankwright.boosters.settings import AdaRankSettings
from rankwright.container.checks import check_between, read_array

LARGEST_MEAN = 1 - 1e-6  # a weak ranker that is perfect for every query would get an infinite weight


class AdaRankLearner:
    """The training of AdaRank: the feature that each round took, and its weight (below 0 for downwards).

    With `downwards`, a feature that does better downwards before the first round is always used downwards.
    """

    def __init__(
        self, features: Float32Array, lists: MeasuredLists, settings: AdaRankSettings, threads: int = 1
    ) -> None:
        self.lists, self.max_uses, self.sharpness, self.threads = lists, settings.max_uses, settings.sharpness, threads
        self.features = features[lists.rows]
        self.signs = np.ones(features.shape[1])
        self.values = self._values_of_features(self.signs)
        if settings.downwards:
            other_way = self._values_of_features(-self.signs)
            better = np.einsum("hq,q->h", other_way - self.values, lists.weights) > 0
            self.signs[better], self.values[better] = -1.0, other_way[better]
        self.chosen: list[int] = []
        self.alphas: list[float] = []
        self.query_weights = lists.weights

    def take_step(self, step: int) -> bool:  # noqa: ARG002
        """Add the feature that does best with the current query weights; False where there is none to choose."""
        left = self._choosable()
        if self.lists.n_queries == 0 or len(left) == 0:
            return False
        share = self.query_weights / self.query_weights.sum()
        # einsum without a library behind it: the same bits however many threads multiply matrices.
        means = np.einsum("hq,q->h", self.values[left], share)
        best = int(np.argmax(means))
        mean = min(float(means[best]), LARGEST_MEAN)
        feature = int(left[best])
        self.chosen.append(feature)
        self.alphas.append(float(self.signs[feature]) * 0.5 * math.log((1 + mean) / (1 - mean)))
        self._weigh_queries()
        return True

    @property
    def n_taken(self) -> int:
        """How many rounds chose a feature."""
        return len(self.chosen)

    def model(self) -> Arrays:
        """The weight of each feature."""
        weights = np.zeros(self.features.shape[1])
        for feature, alpha in zip(self.chosen, self.alphas, strict=True):
            weights[feature] += alpha
        return {"weights": weights}

    def memory(self) -> Arrays:
        """The features chosen so far and their weights."""
        return {"chosen": np.array(self.chosen, np.int64), "alphas": np.array(self.alphas, np.float64)}

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Go on after the rounds of an earlier run."""
        chosen = read_array(memory, "chosen", np.int64, (None,))
        check_between("chosen", chosen, 0, self.features.shape[1] - 1)
        self.chosen, self.alphas = chosen.tolist(), read_array(memory, "alphas", np.float64, chosen.shape).tolist()
        self._weigh_queries()

    def _weigh_queries(self) -> None:
        reached = self.lists.of_scores(weighted_sum(self.features, self.model()["weights"]), threads=self.threads)
        self.query_weights = self.lists.weights * np.exp(-self.sharpness * reached)

    def _choosable(self) -> IntArray:
        """The features that are not the same for all documents and were not chosen too often."""
        differ = (self.features != self.features[:1]).any(axis=0)
        if self.max_uses is not None:
            differ &= np.bincount(np.array(self.chosen, np.int64), minlength=len(differ)) < self.max_uses
        return np.flatnonzero(differ)

    def _values_of_features(self, signs: Float64Array) -> Float64Array:
        """E: the metric's values with one feature alone: a row for each feature, a column for each query."""
        values = np.zeros((len(signs), self.lists.n_queries))
        for feature, sign in enumerate(signs.tolist()):
            scores = sign * self.features[:, feature].astype(np.float64)
            values[feature] = self.lists.of_scores(scores, threads=self.threads)
        return values


class AdaRank(WeightedSumRanker, AdaRankSettings):
    """`metric` is what is boosted: `map`, `ndcg@10`, any metric between 0 and 1. Each of `n_rounds` rounds takes the
    feature that does best with the current query weights; queries that the sum so far ranks badly weigh more in the
    next round. Weak rankers are single features: with `downwards`, a feature whose low values are better ranks the
    other way. A feature is chosen `max_uses` times at most; None is the paper's rule, which with its `sharpness` of 1
    tends to take one feature again and again. `scaling` decides how features add up; it does not change how a feature
    ranks alone, unless it scales each query by itself.

    The rounds kept are those up to the best value of `select` (default: `metric`) on the validation documents, or on
    the training ones where there are none. `early_stopping` is the number of rounds without a better value after which
    to stop. A query starts with its own weight times the mean weight of its documents. Queries whose
    documents all have one label teach nothing and are left out. Nothing in training is random; `seed` draws only the
    `unjudged` documents that are taken as irrelevant.
    """

    recipe = ClimbingRecipe(AdaRankLearner)
