"""RankNet: a net that learns target probabilities of pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

from rankwright.arrays import Float32Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import pairs_from_labels
from rankwright.errors import InputError, require
from rankwright.features.nystrom import FittedNystrom, fit_nystrom
from rankwright.nets.gradient_net import GradientNet
from rankwright.nets.settings import RankNetSettings
from rankwright.objectives.families import ranknet
from rankwright.objectives.objective import Objective
from rankwright.trees.debiased import DebiasedRanker


class RankNet(DebiasedRanker, GradientNet, RankNetSettings):
    """Pairs come from labels, or are given as `Preferences` with target probabilities and weights. The mode chooses the
    settings that are None (`rankwright.nets.params.RECIPES`).

    Attributes
    ----------
    net_ : PlainNet or torch.nn.Module
        The trained net, with the weights of its `layers`; the trained copy of your module if there was one.
    n_epochs_ : int
        How many epochs it was trained for.
    history_ : History
        What was watched after each epoch.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=30, seed=0)
    >>> ranker = rw.RankNet(hidden=(8,), epochs=5).fit(data)
    >>> ranker.predict(data).shape == (data.n_docs,)
    True
    """

    def _objective(self) -> Objective:
        in_kernel = self.ties == 0.5
        objective = ranknet(
            sigma=self.sigma,
            pair_equal_labels=in_kernel,
            certainty=inf if self.certainty is None or self._writes_pairs() else self.certainty,
        )
        return self._weighed_by_position(objective)

    def _writes_pairs(self) -> bool:
        """Whether pairs must be written out, because the objective itself knows no target but ½ for ties."""
        return self.ties is not None and self.ties != 0.5

    def _training_data(self, data: RankingDataset) -> RankingDataset:
        if not self._writes_pairs():
            return data
        if data.labels is None or data.preferences is not None:
            raise InputError(
                "ties shapes pairs made from labels, but this dataset has preferences, which are its pairs"
            )
        certainty = inf if self.certainty is None else self.certainty
        return replace(
            data, preferences=pairs_from_labels(data.labels, data.groups, ties=self.ties, certainty=certainty)
        )

    def _nystrom(self, scaled_features: Callable[[], Float32Array]) -> FittedNystrom | None:
        if self.kernel is None:
            return None
        require(
            self.module is None and self.hidden is not None and not tuple(self.hidden),
            "kernel makes a linear net: set hidden=() and no module",
        )
        return fit_nystrom(scaled_features(), self.kernel, n_landmarks=self.landmarks, gamma=self.gamma, seed=self.seed)

    def _penalty(self) -> float:
        return 0.0 if self.kernel is None else float(self.rkhs_penalty)
