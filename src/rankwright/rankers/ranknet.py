"""RankNet: a net that learns target probabilities of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from typing import Any, ClassVar, Literal

from rankwright.arrays import Float32Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import pairs_from_labels
from rankwright.errors import InputError, require
from rankwright.features.nystrom import FittedNystrom, fit_nystrom
from rankwright.objectives.objective import Objective
from rankwright.objectives.registry import ranknet
from rankwright.rankers.gradient_net import GradientNet


class RankNet(GradientNet):
    """A net trained on pairs of documents by cross entropy (Burges et al. 2005, Eq. 3).

    Pairs come from labels, or are given as `Preferences` with target probabilities and weights. `ties` is the target of
    pairs of equal labels, ½ in section 5.2 (another value: that the one that comes first in the data ranks higher);
    None leaves them out. `certainty` c makes the target of other pairs logistic(c · label difference); None makes it 1.

    `hidden` has the width of each hidden layer, `()` is the linear net. What is None is as the mode says
    (`rankwright.nets.params.RECIPES`): `mode="paper"` is the recipe of section 5.1, ten tanh units that start from 0
    and [-0.1, 0.1], one query at a time, learning rate 0.001, halved when the mean error of an epoch rises, no scaling,
    until every pair stands right. `metric` is what early stopping and the choice of the epoch look at, unless `select`
    names another. `early_stopping` is the number of epochs without a better value after which to stop. `scaling` is
    fitted on the training data (`"none"`: features as they are); missing values count as the mean, or 0 without
    scaling. `weight_decay` is that of AdamW, or of SGD.

    `kernel` (rbf, quadratic, cubic) makes it a kernel machine (Eq. 17-18): a linear net, `hidden=()`, on Nyström
    features of `landmarks` training documents, with `rkhs_penalty` · |f|² added to the cost of all queries together.

    `module` is a `torch.nn.Module` of your own that maps documents to scores; fitting trains a copy of it.
    """

    name: ClassVar[str] = "ranknet"

    def __init__(
        self,
        *,
        module: Any = None,
        hidden: Sequence[int] | None = None,
        activation: str | None = None,
        epochs: int = 100,
        learning_rate: float | None = None,
        optimizer: str | None = None,
        weight_decay: float = 0.0,
        dropout: float | None = None,
        batch_queries: int | None = None,
        scaling: str | None = None,
        metric: str = "ndcg@10",
        select: str | None = None,
        mode: Literal["default", "paper"] = "default",
        early_stopping: int | None = None,
        sigma: float = 1.0,
        ties: float | None = None,
        certainty: float | None = None,
        kernel: str | None = None,
        landmarks: int = 300,
        gamma: float | None = None,
        rkhs_penalty: float = 1.0,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.module = module
        self.hidden = hidden
        self.activation = activation
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.batch_queries = batch_queries
        self.scaling = scaling
        self.metric = metric
        self.select = select
        self.mode = mode
        self.early_stopping = early_stopping
        self.sigma = sigma
        self.ties = ties
        self.certainty = certainty
        self.kernel = kernel
        self.landmarks = landmarks
        self.gamma = gamma
        self.rkhs_penalty = rkhs_penalty
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads
        self.device = device

    def _objective(self) -> Objective:
        in_kernel = self.ties == 0.5
        return ranknet(
            sigma=self.sigma,
            pair_equal_labels=in_kernel,
            certainty=inf if self.certainty is None or self._writes_pairs() else self.certainty,
        )

    def _writes_pairs(self) -> bool:
        """Whether pairs must be written out: the objective itself knows of ties only that neither is better."""
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
