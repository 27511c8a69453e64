"""How a search for settings is made."""

from __future__ import annotations

from dataclasses import dataclass

from rankwright.errors import require
from rankwright.metrics.metric_table import parse_metric
from rankwright.tuning.strategies.strategy_table import strategy_named


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
        strategy_named(self.strategy)
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
