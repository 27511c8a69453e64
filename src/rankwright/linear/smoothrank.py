"""SmoothRank: maximises a smooth NDCG that becomes sharper step by step."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import Arrays, Float64Array
from rankwright.errors import SettingError
from rankwright.linear.descent import least_cost
from rankwright.linear.linear_ranker import JudgedRows, LinearRanker, LinearRecipe
from rankwright.linear.linear_regression import ridge
from rankwright.linear.model import linear_scores, sum_rows
from rankwright.linear.settings import SmoothRankSettings
from rankwright.linear_algebra import inner
from rankwright.metrics.list_metrics import NDCG
from rankwright.metrics.metric_table import parse_metric
from rankwright.ranking.gains import EXPONENTIAL, LOG2, ideal_gains
from rankwright.training.driver import RemembersArrays

MOST_ITERATIONS = 30  # of the minimiser, at one softness: the next begins where this one ends
REGRESSION_L2 = 1e-3  # of the regression at the start: enough to settle the weights of equal features


class SmoothLearner(RemembersArrays):
    """Weights that maximise the mean smooth NDCG minus ½ · l2 · |weights - start|²; a step halves the softness σ."""

    remembered: ClassVar[tuple[str, ...]] = ("weights",)  # the rest follows from the step and the data

    def __init__(self, settings: SmoothRankSettings, rows: JudgedRows, threads: int) -> None:
        aim = parse_metric(settings.metric).metric
        if not isinstance(aim, NDCG):
            raise SettingError(f"smoothrank follows ndcg or ndcg@k, got metric {settings.metric!r}")
        self.rows, self.sigma, self.l2, self.threads = rows, settings.sigma, settings.l2, threads
        self.gains = EXPONENTIAL(rows.labels, threads)
        deepest = int(rows.groups.sizes.max(initial=0))
        self.discounts = LOG2.table(deepest if aim.cutoff is None else min(aim.cutoff, deepest))
        ideal = ideal_gains(self.gains, rows.groups, self.discounts, threads)
        total = float(rows.query_weights.sum()) or 1.0
        self.factors = np.divide(rows.query_weights, total * ideal, out=np.zeros_like(ideal), where=ideal > 0)
        self.start, _ = ridge(rows, rows.labels.astype(np.float64), l2=REGRESSION_L2, threads=threads)
        self.weights = self.start.copy()

    def cost(self, weights: Float64Array, sigma: float) -> tuple[float, Float64Array]:
        """What is minimised, and its derivatives."""
        scores = linear_scores(self.rows.features, weights, threads=self.threads)
        gradient, value = np.empty(len(scores)), np.empty(self.rows.groups.n_queries)
        offsets, factors = self.rows.groups.offsets, self.factors
        kernels.smooth_gains(scores, offsets, self.gains, self.discounts, factors, sigma, gradient, value, self.threads)
        moved = weights - self.start
        return (
            0.5 * self.l2 * inner(moved, moved) - float(value.sum()),
            self.l2 * moved - sum_rows(self.rows.features, gradient, threads=self.threads),
        )

    def take_step(self, step: int) -> bool:
        """Minimise at the step's softness, from where the last one ended."""
        sigma = self.sigma * 0.5**step
        self.weights = least_cost(lambda weights: self.cost(weights, sigma), self.weights, most_steps=MOST_ITERATIONS)
        return True

    def model(self) -> Arrays:
        """The weights."""
        return {"weights": self.weights.copy()}


class SmoothRank(LinearRanker, SmoothRankSettings):
    """Every document has a share in every rank of the list: if its score is d away from that of the document there, the
    share is proportional to exp(-d²/σ). That makes NDCG smooth. Training starts from a regression of the labels and
    maximises the mean smooth NDCG of `metric` (ndcg or ndcg@k) minus ½ · `l2` · |w - start|², first at `sigma`, then,
    step by step, at half the σ before, `max_iter` times; `select` on validation documents chooses the step, and so how
    sharp NDCG is. Queries count by their weights; NDCG is one figure of a whole list, so that weights of documents have
    no meaning and are refused. A step takes time in proportion to documents times ranks.
    """

    takes_document_weights: ClassVar[bool] = False

    recipe = LinearRecipe(SmoothLearner)
