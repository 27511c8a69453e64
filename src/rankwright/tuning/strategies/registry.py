"""Strategies by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rankwright.errors import UnknownNameError
from rankwright.tuning.strategies.halving import halving
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


def strategy_named(name: str) -> Callable[[SearchPlan], Search]:
    """The strategy of that name."""
    if name not in STRATEGIES:
        raise UnknownNameError("strategy", name, known=STRATEGIES)
    return STRATEGIES[name]
