"""Settings of boosted trees that nobody gave: by the size of the data.

The values come from five-fold cross-validation over eleven sets of 75 to 30,000 queries
(`benchmarks/quality/rankers.py`, docs/defaults.md): slow, small, randomised trees for little data, larger ones for
much. Symmetric trees are as good on most little data and far better where features act together, so both are tried on
queries that are held out.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any

from rankwright.trees.params import Growth


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestShape:
    """How a forest is grown: its trees, their number, and what is drawn for each.

    `n_trees` is the length where nothing chooses one, `most_trees` the longest that is looked at where something does.
    """

    n_trees: int
    most_trees: int
    max_leaves: int
    min_docs_in_leaf: int
    learning_rate: float
    query_fraction: float
    feature_fraction: float
    growth: Growth = "best-first"


# Ganjisaffar's slides leave these open; they are what their formula was always tried with here.
PAPER = ForestShape(
    n_trees=500,
    most_trees=500,
    max_leaves=31,
    min_docs_in_leaf=20,
    learning_rate=0.1,
    query_fraction=1.0,
    feature_fraction=1.0,
)
# Little data asks for slow, small, randomised trees; much data can tell what larger ones find from noise.
SMALL = ForestShape(
    n_trees=150,
    most_trees=2000,
    max_leaves=7,
    min_docs_in_leaf=50,
    learning_rate=0.05,
    query_fraction=0.5,
    feature_fraction=0.5,
)
MIDDLE = replace(SMALL, n_trees=300, max_leaves=15)
LARGE = replace(SMALL, n_trees=500, max_leaves=31)
# By the number of training documents that a shape is for, at most.
BY_SIZE: tuple[tuple[float, ForestShape], ...] = ((150_000, SMALL), (1_000_000, MIDDLE), (inf, LARGE))
# The other shape for little data, where held-out queries can choose.
SYMMETRIC = ForestShape(
    n_trees=150,
    most_trees=2000,
    max_leaves=64,
    min_docs_in_leaf=10,
    learning_rate=0.05,
    query_fraction=1.0,
    feature_fraction=1.0,
    growth="symmetric",
)
# The mean of bags of small trees is as good or better where a single forest of theirs is a little worse, so symmetric
# ones must lead by this share of the metric to be taken for bags.
LEAD_IN_BAGS = 0.02
LEAVES_OF_LITTLE = 40  # a leaf needs no more than this part of the documents, so that a few hundred can be split


def shape_for(n_docs: int) -> ForestShape:
    """The shape for so many training documents."""
    return _with_leaves_for(n_docs, next(shape for most, shape in BY_SIZE if n_docs <= most))


def shapes_to_try(n_docs: int) -> tuple[ForestShape, ...]:
    """The shapes among which held-out queries choose; the first is that of `shape_for`."""
    first = shape_for(n_docs)
    is_little = first.max_leaves == SMALL.max_leaves
    return (first, _with_leaves_for(n_docs, SYMMETRIC)) if is_little else (first,)


def _with_leaves_for(n_docs: int, shape: ForestShape) -> ForestShape:
    return replace(shape, min_docs_in_leaf=min(shape.min_docs_in_leaf, max(1, n_docs // LEAVES_OF_LITTLE)))


def chosen_settings(given: Any, shape: ForestShape) -> dict[str, Any]:
    """The shape's value of each setting that is None in `given`."""
    return {name: value for name, value in asdict(shape).items() if getattr(given, name, value) is None}
