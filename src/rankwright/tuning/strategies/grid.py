"""Grid search: every configuration of a space of lists."""

from __future__ import annotations

from rankwright.errors import SettingError
from rankwright.tuning.configurations import grid_members, grid_size
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
