"""Searches that know all their configurations before the first trial: a whole grid, or a random sample."""

from __future__ import annotations

import numpy as np

from rankwright.errors import SettingError
from rankwright.tuning.configurations import Configuration, drawn, grid_members, grid_size, is_finite
from rankwright.tuning.strategies.plan import Search, SearchPlan
from rankwright.tuning.trials import Trial


def grid(plan: SearchPlan) -> Search:
    """Every configuration of a grid, in one batch."""
    size = grid_size(plan.space)
    if plan.trials is not None and plan.trials != size:
        raise SettingError(
            f"a grid tries all of its {size} configurations; for {plan.trials} of them take strategy random"
        )
    yield [Trial(settings) for settings in grid_members(plan.space)]


def random(plan: SearchPlan) -> Search:
    """Random configurations of the space; in a grid none is drawn twice."""
    yield [Trial(settings) for settings in sample(plan, plan.number_of_trials())]


def sample(plan: SearchPlan, n: int) -> list[Configuration]:
    """`n` configurations, or all of a smaller grid; a larger `n` only adds further ones."""
    if is_finite(plan.space):
        members = list(grid_members(plan.space))
        order = np.random.default_rng(plan.seed).permutation(grid_size(plan.space))
        return [members[number] for number in order[:n].tolist()]
    return [drawn(plan.space, np.random.default_rng([plan.seed, number])) for number in range(n)]
