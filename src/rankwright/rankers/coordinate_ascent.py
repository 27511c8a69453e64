"""Coordinate ascent: a linear model that climbs the metric itself."""

from __future__ import annotations

from typing import ClassVar

from rankwright.arrays import Float32Array, thread_count
from rankwright.boosters import coordinate_ascent
from rankwright.boosters.coordinate_ascent import ClimbParams
from rankwright.boosters.measured_lists import MeasuredLists
from rankwright.rankers.weighted_sum_ranker import WeightedSumRanker
from rankwright.training.driver import Learner
from rankwright.training.spaces import Choice, Space


class CoordinateAscent(WeightedSumRanker):
    """Weights that climb any metric, one at a time (Metzler and Croft 2007).

    `metric` is what is climbed, any metric between 0 and 1. In a sweep each weight in turn, in random order, tries
    `n_doublings` steps up and as many down, the first of `first_step` (weights add up to 1 in size), each twice as far
    as the one before, and 0; it keeps the best. A climb ends with a sweep that gains less than `tolerance`; then the
    next of `restarts` begins, the first from equal weights, others from weights drawn at random. `n_sweeps` is the most
    there are, all climbs together. `slack` takes off the metric how far, as a share of all weights, they are from where
    they started: more of it keeps them closer.

    The weights kept are those after the sweep with the best value of `select` (default: `metric`) on the validation
    documents, or on the training ones where there are none. Queries count by their weight times the mean weight of
    their documents; those whose documents all have one label teach nothing and are left out. `scaling` decides how
    long a step is for each feature.
    """

    name: ClassVar[str] = "coordinate-ascent"
    budget: ClassVar[str | None] = "n_sweeps"
    space: ClassVar[Space] = {"slack": Choice((0.0, 0.01, 0.05)), "metric": Choice(("map", "ndcg@10"))}

    def __init__(
        self,
        *,
        metric: str = "map",
        restarts: int = 3,
        n_sweeps: int = 100,
        first_step: float = 0.001,
        n_doublings: int = 10,
        tolerance: float = 0.001,
        slack: float = 0.0,
        select: str | None = None,
        scaling: str | None = "zscore",
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.restarts = restarts
        self.n_sweeps = n_sweeps
        self.first_step = first_step
        self.n_doublings = n_doublings
        self.tolerance = tolerance
        self.slack = slack
        self.select = select
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _learner(self, features: Float32Array, lists: MeasuredLists) -> Learner:
        params = ClimbParams(
            restarts=self.restarts,
            first_step=self.first_step,
            n_doublings=self.n_doublings,
            tolerance=self.tolerance,
            slack=self.slack,
            seed=self.seed,
        )
        return coordinate_ascent.CoordinateAscent(features, lists, params, threads=thread_count(self.threads))
