"""Optuna's samplers: they choose configurations by what earlier ones reached.

Trials are asked for in batches of a fixed size, and their results are given back in order. So what is tried depends on
the seed alone, not on how many workers there are.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from rankwright.errors import MissingExtraError
from rankwright.settings.spaces import Choice, Dimension, Space, Whole
from rankwright.tuning.configurations import plain
from rankwright.tuning.strategies.search_task import Search, SearchTask
from rankwright.tuning.trials import Trial


def tpe(task: SearchTask) -> Search:
    """Tree-structured Parzen estimators (Bergstra et al. 2011): look near good configurations, away from bad ones."""
    return _sampled(
        task, lambda samplers: samplers.TPESampler(seed=task.plan.seed, constant_liar=True, multivariate=True)
    )


def gp(task: SearchTask) -> Search:
    """A Gaussian process that predicts what each configuration reaches; for few and expensive trials."""
    return _sampled(task, lambda samplers: samplers.GPSampler(seed=task.plan.seed, deterministic_objective=True))


def qmc(task: SearchTask) -> Search:
    """Points of a low-discrepancy sequence: random search without its clumps."""
    return _sampled(task, lambda samplers: samplers.QMCSampler(seed=task.plan.seed, scramble=True))


def _sampled(task: SearchTask, make: Callable[[Any], Any]) -> Search:
    try:
        import optuna
    except ImportError:
        raise MissingExtraError("this search strategy", "optuna", "tuning") from None
    n_trials = task.number_of_trials()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)  # our tests say what we rely on
        verbosity = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)  # one line per trial is for the caller to print
        try:
            study = optuna.create_study(
                direction="maximize" if task.higher_is_better else "minimize", sampler=make(optuna.samplers)
            )
        finally:
            optuna.logging.set_verbosity(verbosity)
    distributions = {name: _distribution(optuna.distributions, one) for name, one in task.space.items()}
    asked = 0
    while asked < n_trials:
        size = min(task.plan.batch_size, n_trials - asked)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            batch = [study.ask(distributions) for _ in range(size)]
        results = yield [Trial(_configuration(task.space, one.params)) for one in batch]
        for one, result in zip(batch, results, strict=True):
            if math.isnan(result.value):
                study.tell(one, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(one, result.value)
        asked += size


def _distribution(kinds: Any, dimension: Dimension) -> Any:
    if isinstance(dimension, Choice):
        # Lists of numbers are in order: the place in the list is what the sampler sees, and near places are alike.
        if _has_order(dimension):
            return kinds.IntDistribution(0, len(dimension.values) - 1)
        return kinds.CategoricalDistribution(tuple(range(len(dimension.values))))
    kind = kinds.IntDistribution if isinstance(dimension, Whole) else kinds.FloatDistribution
    return kind(dimension.low, dimension.high, log=dimension.log)


def _has_order(dimension: Choice) -> bool:
    numbers = [one for one in dimension.values if isinstance(one, int | float) and not isinstance(one, bool)]
    ascending = sorted(numbers)
    return len(numbers) == len(dimension.values) > 1 and numbers in (ascending, ascending[::-1])


def _configuration(space: Space, params: Mapping[str, Any]) -> dict[str, Any]:
    values = {
        name: dimension.values[params[name]] if isinstance(dimension, Choice) else params[name]
        for name, dimension in space.items()
    }
    configuration: dict[str, Any] = plain(values)
    return configuration
