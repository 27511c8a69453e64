"""SVM-MAP: a structural SVM for mean average precision."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankwright.errors import require
from rankwright.linear.cutting_planes import CuttingPlanes, WorstAveragePrecision
from rankwright.linear.rows import JudgedRows
from rankwright.rankers.linear_ranker import DEFAULT_SCALING, LinearRanker
from rankwright.training.driver import Learner
from rankwright.training.spaces import Real, Space


class SVMMAP(LinearRanker):
    """A linear SVM whose cost is 1 - average precision (Yue, Finley, Radlinski, Joachims 2007), with one slack.

    Labels above `relevant_above` are relevant. Each step adds the most violated of all constraints, one for every
    ranking, found exactly by merging relevant and irrelevant documents greedily, and solves the quadratic programme of
    those found so far; it ends where none is violated by more than `tolerance`, or after `max_iter` steps. The model is
    that of the last step: `select` on validation documents is watched, and chooses no earlier one. Queries count by
    their weights; average precision is one figure of a whole list, so that weights of documents have no meaning and are
    refused.

    The extra `svm` brings the solver (Clarabel).
    """

    name: ClassVar[str] = "svmmap"
    chooses_steps: ClassVar[bool] = False
    budget: ClassVar[str | None] = "max_iter"
    takes_document_weights: ClassVar[bool] = False
    space: ClassVar[Space] = {"C": Real(0.1, 100.0, log=True)}

    def __init__(
        self,
        *,
        C: float = 10.0,
        relevant_above: float = 0.0,
        tolerance: float = 1e-3,
        max_iter: int = 200,
        select: str = "map",
        scaling: str | None = DEFAULT_SCALING,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.C = C
        self.relevant_above = relevant_above
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.select = select
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _learner(self, rows: JudgedRows, threads: int) -> Learner:
        require(0 < self.C < np.inf, f"C must be above 0, got {self.C}")
        require(self.tolerance > 0, f"tolerance must be above 0, got {self.tolerance}")
        return CuttingPlanes(
            rows.features,
            WorstAveragePrecision(rows, relevant_above=self.relevant_above, threads=threads),
            C=self.C,
            tolerance=self.tolerance,
            threads=threads,
            purpose=self.name,
        )
