"""Searches for settings: their plan, and strategies that ask for trials in batches and are given their results.

A grid and a random sample are known before the first trial. Successive halving (Jamieson and Talwalkar 2016) tries many
configurations for a few steps, and the best of them for more. Its budget is a number of steps: trees, epochs, bags. A
trial that is kept continues from its last step, bit for bit as if it had never stopped, so that no step is taken twice.

Optuna's samplers choose configurations by what earlier ones reached. Trials are asked for in batches of a fixed size,
and their results are given back in order. So what is tried depends on the seed alone, not on the number of workers.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from rankwright.errors import Message, MissingExtraError, Parameter, SettingError, UnknownNameError, require
from rankwright.metrics.metric_table import parse_metric
from rankwright.settings.spaces import Choice, Dimension, Real, Space, Whole
from rankwright.tuning.trials import Configuration, Trial, TrialResult, plain, ranked


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningPlan:
    """How a search for settings is made.

    Parameters
    ----------
    strategy : str, default "random"
        How configurations are chosen: "grid", "random", "halving", "tpe", "gp" or "qmc". The last three need Optuna.
    trials : int, optional
        How many configurations to try, 1 or more. A grid, and halving of a grid, know their own number; the other
        strategies need one.
    metric : str, default "ndcg@10"
        What is searched for. It may carry a convention, as in "ndcg@10:letor".
    metrics : tuple of str, default ()
        Further metrics to record for each query.
    folds : int, default 5
        In how many parts to cut the training data where no validation data is given.
    seeds : int, default 1
        How many times each fold is trained, 1 or more. More of them tell apart settings that differ by little.
    seed : int, default 0
        The seed of the search and of the folds, and the first seed of the ranker.
    batch_size : int, default 16
        How many configurations a strategy asks for at a time. It does not depend on the number of workers, so that
        neither do the results.
    min_budget : int, optional
        Halving: how many steps (trees, epochs, bags) the first round gets. By default the last round's number divided
        by `eta` as often as there are rounds before it.
    eta : int, default 3
        Halving: one configuration in `eta` goes on to the next round, and gets `eta` times the steps.

    Examples
    --------
    >>> plan = TuningPlan(strategy="halving", metric="ndcg@10", metrics=("map",), seeds=2)
    >>> plan.all_metrics, plan.all_seeds
    (('ndcg@10', 'map'), (0, 1))
    """

    strategy: str = "random"
    trials: int | None = None
    metric: str = "ndcg@10"
    metrics: tuple[str, ...] = ()
    folds: int = 5
    seeds: int = 1
    seed: int = 0
    batch_size: int = 16
    min_budget: int | None = None
    eta: int = 3

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise UnknownNameError("strategy", self.strategy, known=STRATEGIES)
        for name in self.all_metrics:
            parse_metric(name)
        require(self.trials is None or self.trials >= 1, f"trials must be 1 or more, got {self.trials}")
        require(self.seeds >= 1, f"seeds must be 1 or more, got {self.seeds}")
        require(self.batch_size >= 1, f"batch_size must be 1 or more, got {self.batch_size}")
        require(self.eta >= 2, f"eta must be 2 or more, got {self.eta}")

    @property
    def all_metrics(self) -> tuple[str, ...]:
        """All metrics to measure; the first is the one that is searched for."""
        return tuple(dict.fromkeys((self.metric, *self.metrics)))

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """The seeds of a trial's experiments."""
        return tuple(range(self.seed, self.seed + self.seeds))


# Yields batches of trials and is sent their results, in the same order.
Search = Generator[list[Trial], list[TrialResult], None]


@dataclass(frozen=True, slots=True)
class SearchTask:
    """A plan, and what to search by it.

    `max_budget` is the ranker's own number of steps; it is None where the ranker counts none.
    """

    plan: TuningPlan
    space: Space
    max_budget: int | None = None

    def __post_init__(self) -> None:
        require(bool(self.space), "there is nothing to search: the ranker declares no space, and none was given")

    @property
    def higher_is_better(self) -> bool:
        """Whether larger values of the plan's metric are better."""
        return parse_metric(self.plan.metric).higher_is_better

    def ranked(self, results: Sequence[TrialResult]) -> list[TrialResult]:
        """The results, best first."""
        return ranked(results, self.space, higher_is_better=self.higher_is_better)

    def number_of_trials(self) -> int:
        """How many configurations to try; raises if the plan does not say."""
        if self.plan.trials is None:
            raise SettingError(Message("say how many configurations to try: give ", Parameter("trials")))
        return self.plan.trials


def is_finite(space: Space) -> bool:
    """Whether every setting has a list of values."""
    return all(isinstance(dimension, Choice) for dimension in space.values())


def grid_size(space: Space) -> int:
    """How many configurations a space of lists has."""
    return math.prod(len(values) for values in _lists(space).values())


def grid_members(space: Space) -> Iterator[Configuration]:
    """Every configuration of a space of lists, the last setting changing fastest: the simplest come first."""
    lists = _lists(space)
    for values in product(*lists.values()):
        yield plain(dict(zip(lists, values, strict=True)))


def _lists(space: Space) -> dict[str, tuple[Any, ...]]:
    for name, dimension in space.items():
        if not isinstance(dimension, Choice):
            raise SettingError(
                f"a grid needs a list of values for every setting, and {name} has a range: "
                f"give a list, such as {name}=a,b,c, or search with another strategy"
            )
    return {name: dimension.values for name, dimension in space.items() if isinstance(dimension, Choice)}


def drawn(space: Space, rng: np.random.Generator) -> Configuration:
    """A configuration drawn at random."""
    configuration: Configuration = plain({name: _drawn_value(dimension, rng) for name, dimension in space.items()})
    return configuration


def _drawn_value(dimension: Dimension, rng: np.random.Generator) -> Any:
    if isinstance(dimension, Choice):
        return dimension.values[int(rng.integers(len(dimension.values)))]
    if isinstance(dimension, Real):
        if not dimension.log:
            return float(rng.uniform(dimension.low, dimension.high))
        drawn_log = float(np.exp(rng.uniform(math.log(dimension.low), math.log(dimension.high))))
        return min(max(drawn_log, dimension.low), dimension.high)
    if not dimension.log:
        return int(rng.integers(dimension.low, dimension.high, endpoint=True))
    # Every whole number owns the part of the scale from half below it to half above it.
    wide = np.exp(rng.uniform(math.log(dimension.low - 0.5), math.log(dimension.high + 0.5)))
    return int(np.clip(np.rint(wide), dimension.low, dimension.high))


def grid(task: SearchTask) -> Search:
    """Every configuration of a grid, in one batch."""
    size = grid_size(task.space)
    if task.plan.trials is not None and task.plan.trials != size:
        told = f"a grid tries all of its {size} configurations; for {task.plan.trials} of them take strategy random"
        raise SettingError(told)
    yield [Trial(settings) for settings in grid_members(task.space)]


def random(task: SearchTask) -> Search:
    """Random configurations of the space; in a grid none is drawn twice."""
    yield [Trial(settings) for settings in sample(task, task.number_of_trials())]


def sample(task: SearchTask, n: int) -> list[Configuration]:
    """`n` configurations, or all of a smaller grid; a larger `n` only adds further ones."""
    if is_finite(task.space):
        members = list(grid_members(task.space))
        order = np.random.default_rng(task.plan.seed).permutation(len(members))
        return [members[number] for number in order[:n].tolist()]
    return [drawn(task.space, np.random.default_rng([task.plan.seed, number])) for number in range(n)]


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
    wanted = f"min_budget must lie between 1 and the full budget of {task.max_budget}, got {least}"
    require(1 <= least <= task.max_budget, wanted)
    grown = [min(task.max_budget, least * task.plan.eta**number) for number in range(rounds)]
    return [*grown, task.max_budget]


def sizes_of_rounds(n_trials: int, eta: int) -> list[int]:
    """How many configurations each round has, if each keeps one in `eta`; the last round has one."""
    sizes = [n_trials]
    while sizes[-1] > 1:
        sizes.append(max(1, sizes[-1] // eta))
    return sizes


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
        results = yield [
            Trial(plain({name: _value(dimension, one.params[name]) for name, dimension in task.space.items()}))
            for one in batch
        ]
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


def _value(dimension: Dimension, chosen: Any) -> Any:
    """The value of a setting that a sampler chose; of a list it chooses a place."""
    return dimension.values[chosen] if isinstance(dimension, Choice) else chosen


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
