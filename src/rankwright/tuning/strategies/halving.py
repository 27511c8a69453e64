"""Successive halving (Jamieson and Talwalkar 2016): many configurations for a few steps, the best of them for more.

A budget is a number of steps: trees, epochs, bags. A trial that is kept continues from its last step, bit for bit as if
it had never stopped, so that no step is taken twice.
"""

from __future__ import annotations

from rankwright.errors import SettingError, require
from rankwright.tuning.configurations import grid_size, is_finite
from rankwright.tuning.strategies.listed import sample
from rankwright.tuning.strategies.search_task import Search, SearchTask
from rankwright.tuning.trials import Trial


def halving(task: SearchTask) -> Search:
    """All configurations of a grid, or `trials` of them, then the best one in `eta` for `eta` times the steps.

    This goes on until one is left, which gets the ranker's own number of steps. The first budget is `min_budget`, or
    else the ranker's number divided by `eta` once per round.
    """
    n_trials = task.plan.trials
    if n_trials is None:
        require(is_finite(task.space), "halving of ranges needs a number of configurations to begin with: give trials")
        n_trials = grid_size(task.space)
    standing = sample(task, n_trials)
    for budget in budgets(task, len(standing)):
        results = yield [Trial(settings, budget) for settings in standing]
        best = task.ranked(results)
        standing = [result.trial.settings for result in best[: max(1, len(best) // task.plan.eta)]]


def budgets(task: SearchTask, n_trials: int) -> list[int]:
    """The budget of each round; in the last round one configuration is left, with the full budget."""
    if task.max_budget is None:
        raise SettingError(
            "halving needs a ranker that counts its steps and goes on from a checkpoint; this one trains in one go: "
            "take another strategy"
        )
    rounds = len(sizes_of_rounds(n_trials, task.plan.eta)) - 1
    least = task.plan.min_budget or max(1, task.max_budget // task.plan.eta**rounds)
    require(
        1 <= least <= task.max_budget,
        f"min_budget must lie between 1 and the full budget of {task.max_budget}, got {least}",
    )
    grown = [min(task.max_budget, least * task.plan.eta**number) for number in range(rounds)]
    return [*grown, task.max_budget]


def sizes_of_rounds(n_trials: int, eta: int) -> list[int]:
    """How many configurations each round has, if each keeps one in `eta`; the last round has one."""
    sizes = [n_trials]
    while sizes[-1] > 1:
        sizes.append(max(1, sizes[-1] // eta))
    return sizes
