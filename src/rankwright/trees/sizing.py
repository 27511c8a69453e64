"""How large a forest is that nobody gave a size: its shape by the size of the data, its length by held-out queries.

The shapes come from five-fold cross-validation over eleven sets of 75 to 30,000 queries
(`benchmarks/quality/rankers.py`, docs/defaults.md): slow, small, randomised trees for little data, larger ones for
much. Symmetric trees are as good on most little data and far better where features act together, so both are tried on
queries that are held out.

A forest has as many trees as are best for queries that were not trained on. Little data is cut into folds, and a forest
is grown without each of them, side by side, tree by tree, on the same bin codes. After each tree the metric is measured
over all queries, every one scored by the forest that never saw it; the length where it is best, together with its
neighbours, is chosen. Where there are two shapes, they race, and after a few dozen trees the better one goes on alone.
Of much data one part is held out, which is enough. Then a forest of that length is grown on all queries, by the caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float64Array, arrays_with_prefix
from rankwright.data.groups import Groups
from rankwright.data.splits import Fold, k_fold
from rankwright.training.loop import LoopPlan
from rankwright.trees.boosting import n_trees_array
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.merging import merge_forests
from rankwright.trees.params import Growth

N_FOLDS, MOST_DOCS_IN_FOLDS = 3, 300_000
N_PARTS, MOST_DOCS = 5, 5_000_000  # of more data one part is held out; beyond the limit the search would cost too much
LEAST_QUERIES = 20  # with fewer, chance would choose
PATIENCE, LASTING = 60, 1 / 3  # stop after so many trees without a better mean, and after that share of all trees
LEAST_GAIN = 0.0002  # a mean that is better by less than this share is no reason to go on
RACE = 64  # after so many trees of each shape, the one that is ahead goes on alone
PACE = 0.05  # the learning rate that these numbers of trees are for
# With validation data small forests go slowly, which is better on queries of neither part
# (benchmarks/quality/validation_data.py). One forest alone is grown of as many documents as this or more, which leaves
# time to look far ahead. Of fewer there are few validation queries, too: they choose together with folds of the
# training queries, and the mean of the forests that were grown for it is better than one.
SLOW_RATE, MOST_SLOW_TREES, SLOW_PATIENCE, LEAST_ALONE_DOCS = 0.03, 3000, 300, 20_000
TREES_IN_ALL_FOLDS = 300  # later ones change little, and are judged by one fold
LENGTH_STREAM = 0x6C65  # added to the seed: the folds must not depend on other draws


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestShape:
    """How a forest is grown: its trees, their number, and what is drawn for each.

    `n_trees` is the length where nothing chooses one, `most_trees` the longest that is looked at where something does.
    To be taken in place of another shape, this one must be better by the share `lead`; below 0 it may be worse.
    """

    n_trees: int
    most_trees: int = 2000
    max_leaves: int
    min_docs_in_leaf: int
    learning_rate: float = 0.05
    query_fraction: float = 1.0
    feature_fraction: float = 1.0
    growth: Growth = "best-first"
    lead: float = 0.0


# Ganjisaffar's slides leave these open; they are what their formula was always tried with here.
PAPER = ForestShape(n_trees=500, most_trees=500, max_leaves=31, min_docs_in_leaf=20, learning_rate=0.1)
# Little data asks for slow, small, randomised trees; much data can tell what larger ones find from noise.
SMALL = ForestShape(n_trees=150, max_leaves=7, min_docs_in_leaf=50, query_fraction=0.5, feature_fraction=0.5)
MIDDLE = replace(SMALL, n_trees=300, max_leaves=15)
LARGE = replace(SMALL, n_trees=500, max_leaves=31)
# By the number of training documents that a shape is for, at most.
BY_SIZE: tuple[tuple[float, ForestShape], ...] = ((150_000, SMALL), (1_000_000, MIDDLE), (inf, LARGE))
# The other shape for little data, where held-out queries can choose. Symmetric trees take ten times the space of small
# ones, so they must lead to be taken.
SYMMETRIC = ForestShape(n_trees=150, max_leaves=64, min_docs_in_leaf=10, growth="symmetric", lead=0.005)
# The other shape for more data: in the end better than the middle one, with half as many trees, though not from the
# start, so it is taken unless it is clearly behind.
FAST_SYMMETRIC = replace(MIDDLE, max_leaves=64, learning_rate=0.1, growth="symmetric", lead=-0.005)
# The mean of bags of small trees is as good or better where a single forest of theirs is a little worse. If symmetric
# trees do not have the first lead after half of the race, they are not grown on.
LEADS_FOR_BAGS = {RACE // 2: 0.01, RACE: 0.045}
# The mean of bags is as good with half as many trees that each learn twice as much.
RATE_IN_BAGS = 0.1
LEAVES_OF_LITTLE = 40  # a leaf needs no more than this part of the documents, so that a few hundred can be split


def shape_for(n_docs: int) -> ForestShape:
    """The shape for so many training documents."""
    return _with_leaves_for(n_docs, next(shape for most, shape in BY_SIZE if n_docs <= most))


def shapes_to_try(n_docs: int) -> tuple[ForestShape, ...]:
    """The shapes among which held-out queries choose; the first is that of `shape_for`."""
    first = shape_for(n_docs)
    other = {SMALL.max_leaves: SYMMETRIC, MIDDLE.max_leaves: FAST_SYMMETRIC}.get(first.max_leaves)
    return (first,) if other is None else (first, _with_leaves_for(n_docs, other))


def is_little(n_docs: int) -> bool:
    """Whether small trees are for so many documents."""
    return shape_for(n_docs).max_leaves == SMALL.max_leaves


def _with_leaves_for(n_docs: int, shape: ForestShape) -> ForestShape:
    return replace(shape, min_docs_in_leaf=min(shape.min_docs_in_leaf, max(1, n_docs // LEAVES_OF_LITTLE)))


def chosen_settings(given: Any, shape: ForestShape) -> dict[str, Any]:
    """The shape's value of each setting that is None in `given`."""
    return {name: value for name, value in asdict(shape).items() if getattr(given, name, value) is None}


def paced(n_trees: int, learning_rate: float) -> int:
    """The number of trees with which a slower learning rate is as far as the usual one with `n_trees`."""
    return max(n_trees, round(n_trees * PACE / learning_rate))


def are_pooled(n_docs: int) -> bool:
    """Whether validation data chooses together with folds of so many training documents."""
    return n_docs < LEAST_ALONE_DOCS


def slow_shape(shape: ForestShape) -> ForestShape:
    """The shape grown slowly, for where validation data chooses the number of trees."""
    return replace(shape, learning_rate=SLOW_RATE, most_trees=MOST_SLOW_TREES)


def patient(plan: LoopPlan, learning_rate: float, least: int = 0) -> LoopPlan:
    """The plan with the patience of a search for the best number of trees, or with `least` if that is more."""
    patience = max(least, paced(PATIENCE, learning_rate))
    return replace(plan, patience=patience, lasting=LASTING, least_gain=LEAST_GAIN)


def length_folds(groups: Groups, seed: int) -> list[Fold]:
    """The folds that are grown without: all of little data, one of much."""
    rng = np.random.default_rng([seed, LENGTH_STREAM])
    if groups.n_docs <= MOST_DOCS_IN_FOLDS:
        return k_fold(groups, N_FOLDS, seed=rng)
    return k_fold(groups, N_PARTS, seed=rng)[:1]


@dataclass(frozen=True, slots=True, eq=False)
class FoldedForests:
    """A learner of several forests, each grown on all queries or on those outside one fold, here or by workers."""

    parts: Sequence[Any]
    n_in_all: float = inf  # trees of each; the first forest alone goes on

    def take_step(self, step: int) -> bool:
        """Grow one more tree for each fold, later on for the first alone; False where nothing is left to learn."""
        growing = self.parts if step < self.n_in_all else self.parts[:1]
        return any([part.take_step(step) for part in growing])

    def model(self) -> Arrays:
        """The number of trees so far."""
        return n_trees_array(max(part.n_taken for part in self.parts))

    def model_after(self, n_steps: int) -> Arrays:
        """That number of trees."""
        return n_trees_array(n_steps)

    @property
    def watched_scores(self) -> Float64Array:
        """The mean of the forests' scores of documents that all of them watch."""
        return mean_of_watched(self.parts)

    def mean_after(self, n_steps: int) -> Forest:
        """The mean of the forests with so many trees each."""
        return merge_forests([part.forest().truncated(n_steps) for part in self.parts])

    def memory(self) -> Arrays:
        """The trees of each fold."""
        return {
            f"{number}.{name}": values
            for number, part in enumerate(self.parts)
            for name, values in part.memory().items()
        }

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue after the trees of another run."""
        for number, part in enumerate(self.parts):
            part.take_up(arrays_with_prefix(memory, f"{number}."))


def mean_of_watched(forests: Sequence[Any]) -> Float64Array:
    """The mean of several forests' scores of the documents that they watch."""
    total: Float64Array = sum(forest.watched_scores for forest in forests)
    return total / len(forests)
