"""How many trees? Those that are best for queries that were not trained on, each by a forest of its own fold.

Folds are grown side by side, tree by tree, on the same bin codes. After each tree the metric is measured over all
queries, every one scored by the forest that never saw it; the length where it is best, with its neighbours, is chosen.
Then a forest of that length is grown on all queries, by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float64Array, IntArray, named
from rankwright.data.groups import Groups
from rankwright.data.splits import k_fold
from rankwright.trees.boosting import Boosting, n_trees_array

N_FOLDS = 3
LEAST_QUERIES = 20  # with fewer, chance would choose
MOST_DOCS = 300_000  # beyond it trees overfit late, and the search would cost much
LENGTH_FOLDER = "length"  # of a checkpoint, for the search
PATIENCE, LASTING = 100, 0.5  # stop after so many trees without a better mean, and after that share of all trees
LENGTH_STREAM = 0x6C65  # added to the seed: the folds must not depend on other draws


class FoldedBoosting:
    """A learner of several forests, each grown on the queries outside one fold; its scores are those of that fold."""

    def __init__(self, grown_on: Callable[[IntArray], Boosting], groups: Groups, seed: int) -> None:
        folds = k_fold(groups, N_FOLDS, seed=np.random.default_rng([seed, LENGTH_STREAM]))
        self.parts: Sequence[Boosting] = [grown_on(fold.train) for fold in folds]
        self.rows = [groups.rows_of(fold.test) for fold in folds]
        self.scores: Float64Array = np.empty(groups.n_docs)

    def take_step(self, step: int) -> bool:
        """Grow one more tree for each fold; False where none has anything left to learn."""
        return any([part.take_step(step) for part in self.parts])

    def unseen_scores(self) -> Float64Array:
        """The scores of all documents, each by the forest that never saw its query."""
        for part, rows in zip(self.parts, self.rows, strict=True):
            self.scores[rows] = part.scores[rows]
        return self.scores

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
            part.take_up(named(memory, f"{number}."))
