"""A forest that a crew grows, as the driver of training sees it: a learner like any other."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays
from rankwright.trees.boosting import n_trees_array
from rankwright.trees.distributed.members import ForestTask, GrowthReply, grow_next_tree
from rankwright.trees.forests.arrays import forest_from_arrays, forest_to_arrays
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.merging import merge_forests

logger = logging.getLogger(__name__)


class Workers(Protocol):
    """What a remote forest needs of its crew."""

    def together(self, function: Any, task: Any) -> list[Any]:
        """Call a function with the same task in all workers."""

    def meet(self) -> None:
        """Bring the workers back to where they were after the last finished tree of each forest."""

    def empty_forest(self) -> Forest:
        """A forest without trees."""


class RemoteBoosting:
    """A forest in training; its trees are here, and the scores of its documents are with the workers."""

    def __init__(self, workers: Workers, task: ForestTask) -> None:
        self.task, self._workers = task, workers
        self.trees: list[Forest] = []  # of one tree each
        self._in_step = False  # whether the workers may have more trees than are here, since a step was interrupted

    @property
    def n_taken(self) -> int:
        """How many steps the trees come from."""
        return len(self.trees)

    def model(self) -> Arrays:
        """The number of trees: trees never change."""
        return n_trees_array(len(self.trees))

    def model_after(self, n_steps: int) -> Arrays:
        """The model after that many steps."""
        return n_trees_array(n_steps)

    def memory(self) -> Arrays:
        """The trees so far."""
        return forest_to_arrays(self.forest())

    def forest(self) -> Forest:
        """The trees so far as one forest."""
        if not self.trees:
            return self._workers.empty_forest()
        return merge_forests(self.trees, np.ones(len(self.trees)))

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue after the trees of another run."""
        forest = forest_from_arrays(memory)
        self.trees += [forest.part(number, number + 1) for number in range(forest.n_trees)]
        self._workers.meet()

    def settle(self) -> None:
        """Have the workers forget the tree of a step that was interrupted."""
        if self._in_step:
            self._workers.meet()
            self._in_step = False

    def take_step(self, step: int) -> bool:
        """Have the workers grow tree number `step`; False where there is nothing left to learn."""
        self.settle()
        self._in_step = True
        replies: list[GrowthReply] = self._workers.together(grow_next_tree, (self.task.name, step))
        sent = max(reply.bytes_sent for reply in replies)
        logger.debug("tree %d: %d workers sent %d bytes each, at most", step, len(replies), sent)
        if not replies[0].grew:
            self._in_step = False
            return False
        assert replies[0].tree is not None
        self.trees.append(forest_from_arrays(replies[0].tree))
        self._in_step = False
        return True
