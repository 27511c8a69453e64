"""RankSVM-Struct: Joachims's ranking SVM, trained by cutting planes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.linear.cutting_planes import CuttingPlanes
from rankwright.linear.linear_ranker import LinearRanker, LinearRecipe
from rankwright.linear.pair_hinge import SummedPairs, margin_pairs
from rankwright.linear.rows import JudgedRows
from rankwright.linear.settings import RankSVMStructSettings
from rankwright.training.driver import Learner


def cutting_planes(settings: RankSVMStructSettings, rows: JudgedRows, threads: int) -> Learner:
    """The learner of the most violated orders of pairs."""
    pairs = margin_pairs(rows, per_query=settings.per_query, position_weights=False, threads=threads)
    return CuttingPlanes(
        rows.features,
        SwappedPairs(pairs),
        C=settings.C,
        tolerance=settings.tolerance,
        threads=threads,
        purpose=settings.name,
    )


class RankSVMStruct(LinearRanker, RankSVMStructSettings):
    """Minimises ½ |w|² + C · Σ weight · max(0, 1 - w·(better - worse)) over all pairs of different labels, where
    weights add up to 1. Each step adds the most violated of all constraints, found exactly by sorting scores, and
    solves the quadratic programme of those found so far; it ends where none is violated by more than `tolerance`, or
    after `max_iter` steps. The model is that of the last step: `select` on validation documents is watched, and chooses
    no earlier one. With `per_query` the pairs of every query have the same total weight, otherwise each pair has the
    same weight; weights of queries and documents multiply as in RankSVM.

    The extra `svm` brings the solver (Clarabel).
    """

    chooses_steps: ClassVar[bool] = False

    recipe = LinearRecipe(cutting_planes)


class SwappedPairs:
    """The oracle of Joachims's ranking SVM (2006): the cost is the weight of pairs in the wrong order.

    A joint ranking is a choice, for every pair, of whether it is swapped; the most violated one swaps those whose
    scores are less than 1 apart.
    """

    def __init__(self, pairs: SummedPairs) -> None:
        zeros = np.zeros(len(pairs.levels))
        total = float(pairs.active(zeros, zeros).weight_below.sum())
        self.pairs, self.scale = pairs, 1.0 / total if total > 0 else 0.0

    def __call__(self, scores: Float64Array) -> tuple[Float64Array, float]:
        """The share of pairs that are swapped, by weight, and their differences' coefficients."""
        found = self.pairs.active(scores, scores)
        return self.scale * (found.weight_below - found.weight_above), self.scale * float(found.weight_below.sum())
