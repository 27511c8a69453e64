"""RankSVM-Struct: Joachims's ranking SVM, trained by cutting planes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankwright.errors import require
from rankwright.linear.cutting_planes import CuttingPlanes, SwappedPairs
from rankwright.linear.pair_hinge import margin_pairs
from rankwright.linear.rows import JudgedRows
from rankwright.rankers.linear_ranker import DEFAULT_SCALING, LinearRanker
from rankwright.training.driver import Learner
from rankwright.training.spaces import Real, Space


class RankSVMStruct(LinearRanker):
    """A linear SVM whose cost is the share of swapped pairs (Joachims 2006), with one slack variable.

    Minimises ½ |w|² + C · Σ weight · max(0, 1 - w·(better - worse)) over all pairs of different labels, where weights
    add up to 1. Each step adds the most violated of all constraints, found exactly by sorting scores, and solves the
    quadratic programme of those found so far; it ends where none is violated by more than `tolerance`, or after
    `max_iter` steps. The model is that of the last step: `select` on validation documents is watched, and chooses no
    earlier one. With `per_query` all pairs of a query weigh the same together, otherwise each pair does; weights of
    queries and documents multiply as in RankSVM.

    The extra `svm` brings the solver (Clarabel).
    """

    name: ClassVar[str] = "ranksvm-struct"
    chooses_steps: ClassVar[bool] = False
    budget: ClassVar[str | None] = "max_iter"
    space: ClassVar[Space] = {"C": Real(0.1, 100.0, log=True)}

    def __init__(
        self,
        *,
        C: float = 10.0,
        per_query: bool = True,
        tolerance: float = 1e-3,
        max_iter: int = 200,
        select: str = "ndcg@10",
        scaling: str | None = DEFAULT_SCALING,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.C = C
        self.per_query = per_query
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
        pairs = margin_pairs(rows, per_query=self.per_query, position_weights=False, threads=threads)
        return CuttingPlanes(
            rows.features,
            SwappedPairs(pairs),
            C=self.C,
            tolerance=self.tolerance,
            threads=threads,
            purpose=self.name,
        )
