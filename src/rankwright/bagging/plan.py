"""How many bags there are, and which queries each one draws.

What bag b draws depends only on the seed and on b, so bags can be trained in any order, at once or at another time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwright.arrays import IntArray
from rankwright.data.seeds import seed_number
from rankwright.errors import require

SAMPLE_STREAM = 0x6261  # added to the seed: these draws must not depend on those of a bag's training
SEED_STREAM = 0x6773


@dataclass(frozen=True, slots=True, eq=False)
class QuerySample:
    """How often a bag has each query."""

    counts: IntArray

    @property
    def queries(self) -> IntArray:
        """The queries the bag is trained on, ascending."""
        return np.flatnonzero(self.counts)

    @property
    def others(self) -> IntArray:
        """The queries it never sees, ascending: out of the bag."""
        return np.flatnonzero(self.counts == 0)

    @property
    def repeated(self) -> IntArray:
        """The queries of the bag, each as often as it was drawn."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @property
    def is_everything(self) -> bool:
        """Whether the bag has every query exactly once, as if nothing was drawn."""
        return bool((self.counts == 1).all())


@dataclass(frozen=True, slots=True, kw_only=True)
class BagPlan:
    """The number of bags, and how each draws its queries: with replacement (`bootstrap`) or without.

    With `overfit` a bag keeps all its steps; else validation data, or queries out of the bag, choose how many.
    """

    n_bags: int
    bag_fraction: float = 1.0
    bootstrap: bool = True
    overfit: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        require(self.n_bags >= 1, f"n_bags must be 1 or more, got {self.n_bags}")
        require(0 < self.bag_fraction <= 1, f"bag_fraction must lie above 0 and be at most 1, got {self.bag_fraction}")
        seed_number(self.seed)

    def sample(self, bag: int, n_queries: int) -> QuerySample:
        """The queries of bag number `bag`."""
        size = max(1, round(self.bag_fraction * n_queries))
        rng = np.random.default_rng([self.seed, SAMPLE_STREAM, bag])
        drawn = rng.choice(n_queries, size=size, replace=self.bootstrap)
        return QuerySample(np.bincount(drawn, minlength=n_queries))

    def seed_of(self, bag: int) -> int:
        """The seed of a bag's training; that of the first bag is the plan's own, as for a ranker without bags."""
        if bag == 0:
            return self.seed
        return int(np.random.default_rng([self.seed, SEED_STREAM, bag]).integers(2**31))
