"""Structural SVMs with one slack variable, trained by cutting planes (Joachims, Finley, Yu 2009): RankSVM-Struct for
pairs, SVM-MAP for mean average precision.

Minimise ½ |w|² + C · ξ, where ξ is the cost of the worst ranking of all queries together. Of the constraints, one for
every joint ranking, only the most violated ones are looked at: each step finds one by an oracle, adds it, and solves
the problem of those found so far, whose dual has a variable for each.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import ClassVar, TypeAlias

import numpy as np

from rankwright import kernels
from rankwright.arrays import Arrays, Float64Array
from rankwright.errors import MissingExtraError
from rankwright.linear.linear_ranker import JudgedRows, LinearRanker, LinearRecipe
from rankwright.linear.model import linear_scores, sum_rows
from rankwright.linear.ranksvm import SummedPairs, margin_pairs
from rankwright.linear.settings import RankSVMStructSettings, StructuralSVMSettings, SVMMAPSettings
from rankwright.linear_algebra import inner, times
from rankwright.training.driver import RemembersArrays

SMALLEST_CURVATURE = 1e-10  # added to the dual's, as a share of the largest: repeated planes would leave none


# Finds the joint ranking that breaks the constraints most at given scores: the coefficient of each document's features
# in Ψ(right) - Ψ(found), and the cost of the ranking found.
Oracle: TypeAlias = Callable[[Float64Array], tuple[Float64Array, float]]


class CuttingPlanes(RemembersArrays):
    """Weights, and the constraints w·plane ≥ loss - ξ found so far."""

    remembered: ClassVar[tuple[str, ...]] = ("weights", "planes", "losses")
    grown: ClassVar[tuple[str, ...]] = ("planes", "losses")

    def __init__(self, settings: StructuralSVMSettings, rows: JudgedRows, oracle: Oracle, threads: int) -> None:
        if find_spec("clarabel") is None:
            raise MissingExtraError(f"ranker {settings.name}", "clarabel", "svm")
        self.features, self.settings, self.oracle, self.threads = rows.features, settings, oracle, threads
        n = self.features.shape[1]
        self.weights, self.planes, self.losses = np.zeros(n), np.zeros((0, n)), np.zeros(0)

    def take_step(self, step: int) -> bool:  # noqa: ARG002
        """Add a constraint; False where none is broken by more than the tolerance."""
        coefficients, loss = self.oracle(linear_scores(self.features, self.weights, threads=self.threads))
        plane = sum_rows(self.features, coefficients, threads=self.threads)
        slack = float((self.losses - times(self.planes, self.weights)).max(initial=0.0))
        if loss - inner(plane, self.weights) <= slack + self.settings.tolerance:
            return False
        self.planes, self.losses = np.vstack([self.planes, plane]), np.append(self.losses, loss)
        self.weights = times(self.planes.T, solve_dual(self.planes, self.losses, self.settings.C))
        return True

    def model(self) -> Arrays:
        """The weights."""
        return {"weights": self.weights.copy()}


def solve_dual(planes: Float64Array, losses: Float64Array, C: float) -> Float64Array:
    """The α ≥ 0 with Σ α ≤ C that maximise α·losses - ½ |α·planes|²; α·planes are the weights."""
    import clarabel
    from scipy import sparse

    n = len(losses)
    products = np.einsum("if,jf->ij", planes, planes)
    largest = float(np.diag(products).max(initial=0.0)) or 1.0
    # In units where the dual's curvature is at most 1, so that the solver's tolerances mean something.
    curvature = sparse.csc_matrix(np.triu(products / largest + SMALLEST_CURVATURE * np.eye(n)))
    bounds = sparse.csc_matrix(np.vstack([np.ones((1, n)), -np.eye(n)]))
    limits = np.concatenate([[C * largest], np.zeros(n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    cones = [clarabel.NonnegativeConeT(n + 1)]
    found = clarabel.DefaultSolver(curvature, -losses, bounds, limits, cones, settings).solve()
    alphas: Float64Array = np.maximum(np.array(found.x), 0.0) / largest
    return alphas * min(1.0, C / max(float(alphas.sum()), np.finfo(float).tiny))


def pair_planes(settings: RankSVMStructSettings, rows: JudgedRows, threads: int) -> CuttingPlanes:
    """The learner of the most violated orders of pairs."""
    pairs = margin_pairs(rows, per_query=settings.per_query, position_weights=False, threads=threads)
    return CuttingPlanes(settings, rows, SwappedPairs(pairs), threads)


class RankSVMStruct(LinearRanker, RankSVMStructSettings):
    """Minimises ½ |w|² + C · Σ weight · max(0, 1 - w·(better - worse)) over all pairs of different labels, where
    weights add up to 1. Each step adds the most violated of all constraints, found exactly by sorting scores, and
    solves the quadratic programme of those found so far; it ends where none is violated by more than `tolerance`, or
    after `max_iter` steps. The model is that of the last step: `select` on validation documents is measured after each
    step, but does not choose an earlier one. With `per_query` the pairs of every query have the same total weight,
    otherwise each pair has the same weight; weights of queries and documents multiply as in RankSVM.

    The extra `svm` brings the solver (Clarabel).
    """

    chooses_steps: ClassVar[bool] = False

    recipe = LinearRecipe(pair_planes)


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


def precision_planes(settings: SVMMAPSettings, rows: JudgedRows, threads: int) -> CuttingPlanes:
    """The learner of the most violated rankings."""
    oracle = WorstAveragePrecision(rows, relevant_above=settings.relevant_above, threads=threads)
    return CuttingPlanes(settings, rows, oracle, threads)


class SVMMAP(LinearRanker, SVMMAPSettings):
    """Labels above `relevant_above` are relevant. Each step adds the most violated of all constraints, one for every
    ranking, found exactly by merging relevant and irrelevant documents greedily, and solves the quadratic programme of
    those found so far; it ends where none is violated by more than `tolerance`, or after `max_iter` steps. The model is
    that of the last step: `select` on validation documents is measured after each step, but does not choose an earlier
    one. Queries count by their weights; average precision is one figure of a whole list, so that weights of documents
    have no meaning and are refused.

    The extra `svm` brings the solver (Clarabel).
    """

    chooses_steps: ClassVar[bool] = False
    takes_document_weights: ClassVar[bool] = False

    recipe = LinearRecipe(precision_planes)


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
        return coefficients * np.repeat(self.shares, self.groups.sizes), inner(self.shares, loss)
