"""BoltzRank: a distribution over rankings."""

from __future__ import annotations

from typing import ClassVar

from rankwright.arrays import Float32Array, Float64Array, thread_count
from rankwright.boosters import boltzrank
from rankwright.boosters.boltzrank import BoltzParams, Potentials
from rankwright.boosters.measured_lists import MeasuredLists
from rankwright.data.dataset import RankingDataset
from rankwright.rankers.weighted_sum_ranker import WeightedSumRanker
from rankwright.training.driver import Learner
from rankwright.training.spaces import Choice, Space


class BoltzRank(WeightedSumRanker):
    """Potentials of documents, and of pairs of them, that make good rankings probable (Volkovs and Zemel 2009).

    A document's own potential is linear in its features; `pair_units` adds as many units that compare it with each
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

    name: ClassVar[str] = "boltzrank"
    budget: ClassVar[str | None] = "epochs"
    space: ClassVar[Space] = {"mix": Choice((0.2, 0.8)), "pair_units": Choice((0, 4))}

    def __init__(
        self,
        *,
        metric: str = "ndcg@10",
        pair_units: int = 0,
        epochs: int = 100,
        n_samples: int = 20,
        mix: float = 0.5,
        learning_rate: float = 0.05,
        l2: float = 0.0,
        select: str | None = None,
        early_stopping: int | None = None,
        scaling: str | None = "zscore",
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.pair_units = pair_units
        self.epochs = epochs
        self.n_samples = n_samples
        self.mix = mix
        self.learning_rate = learning_rate
        self.l2 = l2
        self.select = select
        self.early_stopping = early_stopping
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    @property
    def needs_qid(self) -> bool:  # type: ignore[override]  # of other kinds it is known before they have settings
        """Whether a document's score depends on the rest of its list: where units compare it with the others."""
        return bool(self.pair_units > 0)

    def _learner(self, features: Float32Array, lists: MeasuredLists) -> Learner:
        params = BoltzParams(
            pair_units=self.pair_units,
            n_samples=self.n_samples,
            mix=self.mix,
            learning_rate=self.learning_rate,
            l2=self.l2,
            seed=self.seed,
        )
        return boltzrank.BoltzRank(features, lists, params, threads=thread_count(self.threads))

    def _potentials(self, weights: Float64Array) -> Potentials:
        return Potentials.of_flat(weights, self.n_features_in_, self.pair_units)

    def _scores_by(self, weights: Float64Array, data: RankingDataset) -> Float64Array:
        return self._potentials(weights).scores(data.features, data.groups, threads=thread_count(self.threads))

    def _n_weights(self) -> int:
        return int(self.n_features_in_ * (1 + self.pair_units) + self.pair_units)

    def _importances(self, kind: str) -> Float64Array:  # noqa: ARG002
        """The sizes of the weights that look at each feature, added up."""
        potentials = self._potentials(self.weights_)
        sizes: Float64Array = abs(potentials.own) + (abs(potentials.units) * abs(potentials.of_units)[:, None]).sum(0)
        return sizes
