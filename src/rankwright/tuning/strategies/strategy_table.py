"""Strategies by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rankwright.errors import UnknownNameError
from rankwright.tuning.configurations import grid_size, is_finite
from rankwright.tuning.strategies.halving import halving, sizes_of_rounds
from rankwright.tuning.strategies.listed import grid, random
from rankwright.tuning.strategies.sampled import gp, qmc, tpe
from rankwright.tuning.strategies.search_task import Search, SearchTask

STRATEGIES: Mapping[str, Callable[[SearchTask], Search]] = {
    "grid": grid,
    "random": random,
    "halving": halving,
    "tpe": tpe,
    "gp": gp,
    "qmc": qmc,
}


CONTINUING = ("halving",)  # strategies whose trials continue earlier ones


def expected_trials(task: SearchTask) -> int:
    """How many trials the plan's strategy will ask for in all; 0 if it cannot follow the plan."""
    all_of_grid = grid_size(task.space) if is_finite(task.space) else None
    most = [number for number in (task.plan.trials, all_of_grid) if number is not None]
    if task.plan.strategy in ("tpe", "gp", "qmc"):  # they may draw a configuration twice
        return task.plan.trials or 0
    n_trials = min(most, default=0)
    return sum(sizes_of_rounds(n_trials, task.plan.eta)) if task.plan.strategy == "halving" else n_trials


def strategy_named(name: str) -> Callable[[SearchTask], Search]:
    """The strategy of that name."""
    if name not in STRATEGIES:
        raise UnknownNameError("strategy", name, known=STRATEGIES)
    return STRATEGIES[name]
