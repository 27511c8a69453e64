"""RankSVM: weights that put pairs of different labels a margin apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays
from rankwright.errors import require
from rankwright.features.nystrom import FittedNystrom, fit_nystrom
from rankwright.linear.models import LinearModel, Model, mapped
from rankwright.linear.newton import NewtonLearner
from rankwright.linear.pair_hinge import SquaredPairHinge, margin_pairs
from rankwright.linear.rows import JudgedRows
from rankwright.rankers.linear_ranker import DEFAULT_SCALING, LinearRanker
from rankwright.training.driver import Learner
from rankwright.training.spaces import Choice, Real, Space


class RankSVM(LinearRanker):
    """A linear SVM on pairs (Herbrich, Graepel, Obermayer 2000; Joachims 2002), trained in the primal.

    Minimises ½ |w|² + C · Σ weight · max(0, 1 - w·(better - worse))² over all pairs of different labels of a query, by
    Newton's method with conjugate gradients (Chapelle and Keerthi 2010). Sums over pairs come from sorting the scores,
    O(n log n) for n documents, whatever the number of different labels: no pair is formed. `max_iter` bounds the Newton
    steps, which end where the gradient is 1e-4 of the first one. The model is the minimum: `select` on validation
    documents is watched, and chooses no earlier step.

    A pair's weight is that of its query times those of both documents. Two more may multiply it (Cao et al. 2006):
    `per_query` makes the pairs of every query count the same together, and `position_weights` has a pair count by what
    NDCG loses, in the mean, where two documents of its labels change places in a perfect ranking.

    `kernel` (rbf, quadratic, cubic) makes it a kernel machine through Nyström features of `landmarks` training
    documents; `gamma` is 1 over the number of features unless given.
    """

    name: ClassVar[str] = "ranksvm"
    chooses_steps: ClassVar[bool] = False
    budget: ClassVar[str | None] = "max_iter"
    space: ClassVar[Space] = {"C": Real(1e-5, 1.0, log=True), "per_query": Choice((True, False))}

    def __init__(
        self,
        *,
        C: float = 0.01,
        per_query: bool = True,
        position_weights: bool = False,
        kernel: str | None = None,
        landmarks: int = 300,
        gamma: float | None = None,
        max_iter: int = 50,
        select: str = "ndcg@10",
        scaling: str | None = DEFAULT_SCALING,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.C = C
        self.per_query = per_query
        self.position_weights = position_weights
        self.kernel = kernel
        self.landmarks = landmarks
        self.gamma = gamma
        self.max_iter = max_iter
        self.select = select
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _learner(self, rows: JudgedRows, threads: int) -> Learner:
        require(0 < self.C < np.inf, f"C must be above 0, got {self.C}")
        if self.kernel is None:
            return self._newton(rows, threads)
        nystrom = fit_nystrom(rows.features, self.kernel, n_landmarks=self.landmarks, gamma=self.gamma, seed=self.seed)
        return _OnNystromFeatures(
            self._newton(replace(rows, features=mapped(rows.features, nystrom)), threads), nystrom
        )

    def _newton(self, rows: JudgedRows, threads: int) -> NewtonLearner:
        pairs = margin_pairs(rows, per_query=self.per_query, position_weights=self.position_weights, threads=threads)
        return NewtonLearner(rows.features, SquaredPairHinge(pairs, self.C), l2=1.0, threads=threads)

    def _model_of(self, arrays: Mapping[str, NDArray[Any]]) -> Model:
        if self.kernel is None:
            return LinearModel(arrays["weights"])
        header = {"kernel": self.kernel, "gamma": float(arrays["gamma"][0])}
        return LinearModel(arrays["weights"], nystrom=FittedNystrom.of_parts(header, arrays))


class _OnNystromFeatures:
    """A learner whose model needs the kernel's map beside its weights."""

    def __init__(self, learner: NewtonLearner, nystrom: FittedNystrom) -> None:
        self.learner, self.nystrom = learner, nystrom
        self.take_step, self.memory, self.take_up = learner.take_step, learner.memory, learner.take_up

    def model(self) -> Arrays:
        return self.learner.model() | self.nystrom.learned | {"gamma": np.array([self.nystrom.gamma])}
