"""BoltzRank (Volkovs and Zemel 2009): a distribution over rankings, learned from rankings drawn at random.

A ranking R of a query's m documents, r_i the rank of document i, has the energy

    E(R) = 2 / (m (m - 1)) Σ_{r_i > r_j} g(r_i - r_j) (φ(i) - φ(j) + ψ(i, j))

and the probability exp(-E(R)), normalised. φ is a document's own potential, linear in its features; ψ that of two, here
a sum of units v tanh(a·x_i - a·x_j), the same with its sign turned when i and j change places. With g(x) = x / (m + 1),
which makes the energies of long and short lists comparable, the double sum becomes a single one,

    E(R) = 2 m / ((m - 1) (m + 1)) Σ_i (r_i - (m + 1) / 2) s_i,    s_i = φ(i) + (1 / m) Σ_j ψ(i, j),

so the most probable ranking is exactly that by descending s, and no search is needed.

Instead of all rankings, a few are summed over, drawn anew in each epoch by sorting labels times a sharpness plus noise.
The loss is `mix` times the expected metric's distance from 1, plus 1 - `mix` times the divergence (KL) of the model's
distribution from that of the labels, which has the labels, centred and scaled, in place of s.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankwright.arrays import Arrays, Float32Array, Float64Array
from rankwright.boosters.climbing import ClimbingRecipe, MeasuredLists, WeightedSumRanker
from rankwright.boosters.model import Potentials, PotentialsModel
from rankwright.boosters.settings import BoltzRankSettings
from rankwright.data.groups import Groups
from rankwright.ranking.order import rank_checked
from rankwright.training.driver import RemembersArrays

SHARPNESS = (0.0, 1.0, 2.0, 4.0)  # of the samples in turn: from a random order to nearly that of the labels
LABEL_SCALE = 4.0  # times labels in standard deviations: the scores of the target distribution
MOMENTUM, SECOND_MOMENTUM, TINY = 0.9, 0.999, 1e-8  # of Adam


class BoltzRankLearner(RemembersArrays):
    """The training of BoltzRank: all weights in one array, and the state of Adam."""

    remembered: ClassVar[tuple[str, ...]] = ("weights", "first", "second")

    def __init__(
        self, features: Float32Array, lists: MeasuredLists, settings: BoltzRankSettings, threads: int = 1
    ) -> None:
        self.lists, self.settings, self.threads = lists, settings, threads
        self.features = features[lists.rows]
        self.n_features = features.shape[1]
        self.weights = self._start()
        self.first, self.second = np.zeros_like(self.weights), np.zeros_like(self.weights)
        self._target = _centred_labels(lists)

    def take_step(self, step: int) -> bool:
        """One epoch: draw rankings, and take one step down the slope of all queries' losses."""
        if self.lists.n_queries == 0:
            return False
        potentials = Potentials.of_flat(self.weights, self.n_features, self.settings.pair_units)
        scores, *units = potentials.scores(self.features, self.lists.groups, threads=self.threads)
        slopes = self.slopes(scores, step)
        gradient = potentials.gradient(self.features, self.lists.groups, units, slopes, self.threads)
        gradient += self.settings.l2 * self.weights
        self.first = MOMENTUM * self.first + (1 - MOMENTUM) * gradient
        self.second = SECOND_MOMENTUM * self.second + (1 - SECOND_MOMENTUM) * gradient**2
        first = self.first / (1 - MOMENTUM ** (step + 1))
        second = self.second / (1 - SECOND_MOMENTUM ** (step + 1))
        self.weights = self.weights - self.settings.learning_rate * first / (np.sqrt(second) + TINY)
        return True

    def slopes(self, scores: Float64Array, step: int) -> Float64Array:
        """The slopes of the loss in the scores, over the rankings drawn for this epoch."""
        ranks, values = self._samples(step)
        groups = self.lists.groups
        by_score, by_label = (self._probability(ranks, given) for given in (scores, self._target))
        mean = np.sum(by_score * values, axis=0)
        # A sample's energy E lowers its probability: d(1 - mean)/dE = p (value - mean), dKL/dE = target - p.
        of_energy = self.settings.mix * by_score * (values - mean) + (1 - self.settings.mix) * (by_label - by_score)
        of_energy *= self.lists.weights / self.lists.n_queries
        per_row = np.repeat(of_energy, groups.sizes, axis=1)
        slopes: Float64Array = np.einsum("sn,sn->n", per_row, ranks)
        return slopes

    def model(self) -> Arrays:
        """All weights, in one array."""
        return {"weights": self.weights}

    def _start(self) -> Float64Array:
        """The first weights: 0 for φ and for v; small random numbers for a, so that no two units are alike."""
        n_units = self.settings.pair_units
        drawn = np.random.default_rng([self.settings.seed, 0]).normal(size=n_units * self.n_features)
        return np.concatenate([np.zeros(self.n_features), drawn / np.sqrt(self.n_features), np.zeros(n_units)])

    def _samples(self, step: int) -> tuple[Float64Array, Float64Array]:
        """A row for each ranking drawn: each document's factor in the energy, and each query's metric."""
        n_samples, groups = self.settings.n_samples, self.lists.groups
        rng = np.random.default_rng([self.settings.seed, 1, step])
        sharpness = np.resize(SHARPNESS, n_samples)[:, None]
        keys = sharpness * self._target / LABEL_SCALE + rng.gumbel(size=(n_samples, groups.n_docs))
        stacked = Groups.of_sizes(np.tile(groups.sizes, n_samples))
        ranking = rank_checked(keys.reshape(-1), stacked, None, self.threads)
        values = self.lists.of_ranking(ranking, np.tile(self.lists.labels, n_samples), threads=self.threads)
        sizes = np.repeat(groups.sizes, groups.sizes).astype(np.float64)
        ranks = ranking.ranks().reshape(n_samples, -1) + 1.0
        share = 2 * sizes / ((sizes - 1) * (sizes + 1))  # every query here has two documents or more
        return share * (ranks - (sizes + 1) / 2), values.reshape(n_samples, -1)

    def _probability(self, ranks: Float64Array, scores: Float64Array) -> Float64Array:
        """The probability, under these scores, of each sample among those of its query."""
        energies = np.add.reduceat(ranks * scores, self.lists.groups.offsets[:-1], axis=1)
        likely = np.exp(energies.min(axis=0) - energies)
        probability: Float64Array = likely / likely.sum(axis=0)
        return probability


def _centred_labels(lists: MeasuredLists) -> Float64Array:
    """Each query's labels less their mean, in standard deviations, times `LABEL_SCALE`."""
    labels = lists.labels.astype(np.float64)
    centred = labels - lists.groups.means(labels)
    return np.asarray(LABEL_SCALE * centred / np.sqrt(lists.groups.means(centred**2)), np.float64)


class BoltzRank(WeightedSumRanker, BoltzRankSettings):
    """A document's own potential is linear in its features; `pair_units` adds as many units that compare it with each
    other document of its query. With them `predict` needs `qid`, because a score depends on the whole list. Each of
    `epochs` epochs draws `n_samples` rankings of every query and takes one step of Adam down a loss: `mix` times how
    far the expected `metric` is from 1, plus 1 - `mix` times the divergence of the model's distribution over these
    rankings from that of the labels. `l2` keeps weights small.

    The weights kept are those after the epoch with the best value of `select` (default: `metric`) on the validation
    documents, or on the training ones where there are none. `early_stopping` is the number of epochs without a better
    value after which to stop. Queries count by their weight times the mean weight of their documents; those whose
    documents all have one label teach nothing and are left out. `weights_` holds the weight of each feature, then those
    of the units.
    """

    model_kind = PotentialsModel

    @property
    def needs_qid(self) -> bool:  # type: ignore[override]  # for other kinds it is a constant of the class
        """Whether a document's score depends on the rest of its list, which is so with units that compare documents."""
        return bool(self.pair_units > 0)

    recipe = ClimbingRecipe(BoltzRankLearner)
