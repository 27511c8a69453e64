"""Searches that know all their configurations before the first trial: a whole grid, or a random sample."""

from __future__ import annotations

import numpy as np

from rankwright.errors import SettingError
from rankwright.tuning.configurations import Configuration, drawn, grid_members, grid_size, is_finite
from rankwright.tuning.strategies.search_task import Search, SearchTask
from rankwright.tuning.trials import Trial


def grid(task: SearchTask) -> Search:
    """Every configuration of a grid, in one batch."""
    size = grid_size(task.space)
    if task.plan.trials is not None and task.plan.trials != size:
        raise SettingError(
            f"a grid tries all of its {size} configurations; for {task.plan.trials} of them take strategy random"
        )
    yield [Trial(settings) for settings in grid_members(task.space)]


def random(task: SearchTask) -> Search:
    """Random configurations of the space; in a grid none is drawn twice."""
    yield [Trial(settings) for settings in sample(task, task.number_of_trials())]


def sample(task: SearchTask, n: int) -> list[Configuration]:
    """`n` configurations, or all of a smaller grid; a larger `n` only adds further ones."""
    if is_finite(task.space):
        members = list(grid_members(task.space))
        order = np.random.default_rng(task.plan.seed).permutation(grid_size(task.space))
        return [members[number] for number in order[:n].tolist()]
    return [drawn(task.space, np.random.default_rng([task.plan.seed, number])) for number in range(n)]
