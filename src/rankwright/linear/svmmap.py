"""SVM-MAP: a structural SVM for mean average precision."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float64Array
from rankwright.linear.cutting_planes import CuttingPlanes
from rankwright.linear.linear_ranker import LinearRanker, LinearRecipe
from rankwright.linear.rows import JudgedRows
from rankwright.linear.settings import SVMMAPSettings
from rankwright.training.driver import Learner


def cutting_planes(settings: SVMMAPSettings, rows: JudgedRows, threads: int) -> Learner:
    """The learner of the most violated rankings."""
    return CuttingPlanes(
        rows.features,
        WorstAveragePrecision(rows, relevant_above=settings.relevant_above, threads=threads),
        C=settings.C,
        tolerance=settings.tolerance,
        threads=threads,
        purpose=settings.name,
    )


class SVMMAP(LinearRanker, SVMMAPSettings):
    """Labels above `relevant_above` are relevant. Each step adds the most violated of all constraints, one for every
    ranking, found exactly by merging relevant and irrelevant documents greedily, and solves the quadratic programme of
    those found so far; it ends where none is violated by more than `tolerance`, or after `max_iter` steps. The model is
    that of the last step: `select` on validation documents is watched, and chooses no earlier one. Queries count by
    their weights; average precision is one figure of a whole list, so that weights of documents have no meaning and are
    refused.

    The extra `svm` brings the solver (Clarabel).
    """

    chooses_steps: ClassVar[bool] = False
    takes_document_weights: ClassVar[bool] = False

    recipe = LinearRecipe(cutting_planes)


class WorstAveragePrecision:
    """The oracle of SVM-MAP: the cost is 1 - average precision, its mean over queries by their weights."""

    def __init__(self, rows: JudgedRows, *, relevant_above: float, threads: int) -> None:
        self.groups, self.threads = rows.groups, threads
        self.relevant = (rows.labels > relevant_above).astype(np.uint8)
        n_relevant = np.bincount(rows.groups.query_of_row, weights=self.relevant, minlength=rows.groups.n_queries)
        tells = (n_relevant > 0) & (n_relevant < rows.groups.sizes)
        weights = np.where(tells, rows.query_weights, 0.0)
        self.shares = weights / weights.sum() if weights.any() else weights

    def __call__(self, scores: Float64Array) -> tuple[Float64Array, float]:
        """The worst joint ranking, found for each query by itself."""
        coefficients, loss = np.empty(len(scores)), np.empty(self.groups.n_queries)
        kernels.map_violations(scores, self.groups.offsets, self.relevant, coefficients, loss, self.threads)
        return coefficients * np.repeat(self.shares, self.groups.sizes), float(self.shares @ loss)
