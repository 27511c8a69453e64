"""What an objective of pairs tells the kernel, apart from arrays."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class PairSettings:
    """How pairs are made and weighed. The kernel reads these fields by name; whoever makes one checks them."""

    loss: str = "logistic"  # or hinge, spring
    shape: float = 1.0  # σ of the logistic loss, the margin of the others
    delta: str = "constant"  # or discounted-gain, average-precision, reciprocal-rank, expected-reciprocal-rank
    truncation: int = 0  # only pairs with a document among so many top ranks; 0: all
    sampled: int = 0  # partners drawn for each document, in queries where that is fewer than all; 0: all
    pair_equal_labels: bool = False  # with target ½
    certainty: float = inf  # the target is logistic(certainty · label difference)
    query_norm: bool = False  # scale a query's forces by log2(1 + S) / S, S the sum of their sizes
    gap_norm: bool = False  # divide a pair's force by 0.01 + its score gap, where not all scores are equal
    shuffle_ties: bool = False  # equal scores rank in random order, else in row order
