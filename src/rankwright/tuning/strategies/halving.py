"""Successive halving (Jamieson and Talwalkar 2016): many configurations for a few steps, the best of them for more.

A budget is a number of steps: trees, epochs, bags. A trial that goes on continues from where it stood, bit for bit as
if it had never stopped, so that no step is taken twice.
"""

from __future__ import annotations

from rankwright.errors import SettingError, require
from rankwright.tuning.configurations import grid_size, is_finite
from rankwright.tuning.strategies.plan import Search, SearchPlan
from rankwright.tuning.strategies.random import sample
from rankwright.tuning.trials import Trial


def halving(plan: SearchPlan) -> Search:
    """All configurations of a grid, or as many as asked for, then one in `eta` of them for `eta` times the steps.

    The last one standing gets the ranker's own number of steps. The first budget is that divided by `eta` as often as
    there are rounds, unless `min_budget` says otherwise.
    """
    n_trials = plan.trials
    if n_trials is None:
        require(is_finite(plan.space), "halving of ranges needs a number of configurations to begin with: give trials")
        n_trials = grid_size(plan.space)
    standing = sample(plan, n_trials)
    for budget in budgets(plan, len(standing)):
        results = yield [Trial(settings, budget) for settings in standing]
        best = plan.ranked(results)
        standing = [result.trial.settings for result in best[: max(1, len(best) // plan.eta)]]


def budgets(plan: SearchPlan, n_trials: int) -> list[int]:
    """The budget of each round: the last one is the full one, and one configuration is left for it."""
    if plan.max_budget is None:
        raise SettingError(
            "halving needs a ranker that counts its steps and goes on from a checkpoint; this one trains in one go: "
            "take another strategy"
        )
    rounds = _rounds(n_trials, plan.eta)
    least = plan.min_budget or max(1, plan.max_budget // plan.eta**rounds)
    require(
        1 <= least <= plan.max_budget,
        f"min_budget must lie between 1 and the full budget of {plan.max_budget}, got {least}",
    )
    grown = [min(plan.max_budget, least * plan.eta**number) for number in range(rounds)]
    return [*grown, plan.max_budget]


def _rounds(n_trials: int, eta: int) -> int:
    """How often one in `eta` is taken until one is left."""
    rounds = 0
    while n_trials > 1:
        n_trials, rounds = max(1, n_trials // eta), rounds + 1
    return rounds
