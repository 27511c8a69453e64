"""RankSVM: weights that put pairs of different labels a margin apart."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankwright.arrays import Arrays, Float32Array
from rankwright.data.dataset import RankingDataset
from rankwright.errors import require
from rankwright.features.missing import filled
from rankwright.features.nystrom import FittedNystrom, fit_nystrom
from rankwright.linear.linear_ranker import LinearRanker, LinearRecipe
from rankwright.linear.model import RankSVMModel
from rankwright.linear.newton import NewtonLearner
from rankwright.linear.pair_hinge import SquaredListedPairs, SquaredPairHinge, listed_pairs, margin_pairs
from rankwright.linear.rows import JudgedRows
from rankwright.linear.scorers import mapped
from rankwright.linear.settings import RankSVMSettings
from rankwright.training.driver import Learner


def by_labels(settings: RankSVMSettings, rows: JudgedRows, threads: int) -> Learner:
    """The learner of pairs of different labels."""
    weighed = {"per_query": settings.per_query, "position_weights": settings.position_weights}
    pairs = margin_pairs(rows, **weighed, threads=threads)
    return _newton(settings, rows.features, SquaredPairHinge(pairs, settings.C), threads)


def by_preferences(settings: RankSVMSettings, data: RankingDataset, threads: int) -> Learner:
    """The learner of given pairs."""
    require(not settings.position_weights, "position_weights look at labels, and this dataset has preferences")
    pairs = listed_pairs(data, settings.C, per_query=settings.per_query)
    return _newton(settings, filled(data.features), pairs, threads)


def _newton(
    settings: RankSVMSettings, features: Float32Array, cost: SquaredPairHinge | SquaredListedPairs, threads: int
) -> Learner:
    if settings.kernel is None:
        return NewtonLearner(features, cost, l2=1.0, threads=threads)
    nystrom = fit_nystrom(
        features, settings.kernel, n_landmarks=settings.landmarks, gamma=settings.gamma, seed=settings.seed
    )
    return _OnNystromFeatures(NewtonLearner(mapped(features, nystrom), cost, l2=1.0, threads=threads), nystrom)


class RankSVM(LinearRanker, RankSVMSettings):
    """Minimises ½ |w|² + C · Σ weight · max(0, 1 - w·(better - worse))² over all pairs of different labels of a query,
    by Newton's method with conjugate gradients (Chapelle and Keerthi 2010). Sums over pairs come from sorting the
    scores, O(n log n) for n documents, whatever the number of different labels: no pair is formed. `max_iter` bounds
    the Newton steps, which end where the gradient is 1e-4 of the first one. The model is the minimum: `select` on
    validation documents is watched, and chooses no earlier step.

    Preferences take the place of the pairs of labels: each is a pair of its own, as much as it is likely the one way,
    and the other way the rest.

    A pair's weight is that of its query times those of both documents. Two more may multiply it (Cao et al. 2006):
    `per_query` makes the pairs of every query count the same together, and `position_weights` weighs a pair by what
    NDCG loses on average when two documents of its labels change places in a perfect ranking.

    `kernel` (rbf, quadratic, cubic) makes it a kernel machine through Nyström features of `landmarks` training
    documents; `gamma` is 1 over the number of features unless given.
    """

    model_kind = RankSVMModel
    chooses_steps: ClassVar[bool] = False

    recipe = LinearRecipe(by_labels, on_preferences=by_preferences)


class _OnNystromFeatures:
    """A learner whose model needs the kernel's map beside its weights."""

    def __init__(self, learner: NewtonLearner, nystrom: FittedNystrom) -> None:
        self.learner, self.nystrom = learner, nystrom
        self.take_step, self.memory, self.take_up = learner.take_step, learner.memory, learner.take_up

    def model(self) -> Arrays:
        return self.learner.model() | self.nystrom.learned | {"gamma": np.array([self.nystrom.gamma])}
