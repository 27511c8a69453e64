"""How many trees? As many as are best for queries that were not trained on.

Little data is cut into folds, and a forest is grown without each of them, side by side, tree by tree, on the same bin
codes. After each tree the metric is measured over all queries, every one scored by the forest that never saw it; the
length where it is best, together with its neighbours, is chosen. Of much data one part is held out, which is enough.
Then a forest of that length is grown on all queries, by the caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, arrays_with_prefix
from rankwright.data.groups import Groups
from rankwright.data.splits import Fold, k_fold
from rankwright.trees.boosting import n_trees_array

N_FOLDS, MOST_DOCS_IN_FOLDS = 3, 300_000
N_PARTS, MOST_DOCS = 5, 5_000_000  # of more data one part is held out; beyond the limit the search would cost too much
LEAST_QUERIES = 20  # with fewer, chance would choose
PATIENCE, LASTING = 100, 0.5  # stop after so many trees without a better mean, and after that share of all trees
LENGTH_STREAM = 0x6C65  # added to the seed: the folds must not depend on other draws


def length_folds(groups: Groups, seed: int) -> list[Fold]:
    """The folds that are grown without: all of little data, one of much."""
    rng = np.random.default_rng([seed, LENGTH_STREAM])
    if groups.n_docs <= MOST_DOCS_IN_FOLDS:
        return k_fold(groups, N_FOLDS, seed=rng)
    return k_fold(groups, N_PARTS, seed=rng)[:1]


class GrowingForest(Protocol):
    """A forest that grows tree by tree, here or by workers."""

    @property
    def n_taken(self) -> int:
        """How many steps the trees come from."""

    def take_step(self, step: int) -> bool:
        """Grow one more tree; False where there is nothing left to learn."""

    def memory(self) -> Arrays:
        """The trees so far."""

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue after the trees of another run."""


Growing = TypeVar("Growing", bound=GrowingForest)


class FoldedForests(Generic[Growing]):
    """A learner of several forests, each grown on the queries outside one fold."""

    def __init__(self, parts: Sequence[Growing]) -> None:
        self.parts = parts

    def take_step(self, step: int) -> bool:
        """Grow one more tree for each fold; False where none has anything left to learn."""
        return any([part.take_step(step) for part in self.parts])

    def model(self) -> Arrays:
        """The number of trees so far."""
        return n_trees_array(max(part.n_taken for part in self.parts))

    def model_after(self, n_steps: int) -> Arrays:
        """That number of trees."""
        return n_trees_array(n_steps)

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
