"""Strategies by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rankwright.errors import UnknownNameError
from rankwright.tuning.configurations import grid_size, is_finite
from rankwright.tuning.strategies.halving import halving, sizes_of_rounds
from rankwright.tuning.strategies.listed import grid, random
from rankwright.tuning.strategies.plan import Search, SearchPlan
from rankwright.tuning.strategies.sampled import gp, qmc, tpe

STRATEGIES: Mapping[str, Callable[[SearchPlan], Search]] = {
    "grid": grid,
    "random": random,
    "halving": halving,
    "tpe": tpe,
    "gp": gp,
    "qmc": qmc,
}


def expected_trials(name: str, plan: SearchPlan) -> int:
    """How many trials the strategy will ask for in all; 0 where the plan is not one that it can follow."""
    all_of_grid = grid_size(plan.space) if is_finite(plan.space) else None
    most = [number for number in (plan.trials, all_of_grid) if number is not None]
    if name in ("tpe", "gp", "qmc"):  # they may draw a configuration twice
        return plan.trials or 0
    n_trials = min(most, default=0)
    return sum(sizes_of_rounds(n_trials, plan.eta)) if name == "halving" else n_trials


def strategy_named(name: str) -> Callable[[SearchPlan], Search]:
    """The strategy of that name."""
    if name not in STRATEGIES:
        raise UnknownNameError("strategy", name, known=STRATEGIES)
    return STRATEGIES[name]
