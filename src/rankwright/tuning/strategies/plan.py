"""The plan that a strategy is given, and the type of strategies."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from rankwright.errors import require
from rankwright.settings.spaces import Space
from rankwright.tuning.trials import Trial, TrialResult, ranked

BATCH_SIZE = 16  # trials asked for at a time, whatever the number of workers

# Yields batches of trials and is sent their results, in the same order.
Search = Generator[list[Trial], list[TrialResult], None]


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """What to search and how long.

    `trials` is how many configurations to try; None leaves it to the strategy. `max_budget` is the ranker's own number
    of steps, None where it counts none; successive halving begins with `min_budget` and keeps one in `eta`.
    """

    space: Space
    higher_is_better: bool = True
    trials: int | None = None
    seed: int = 0
    batch_size: int = BATCH_SIZE
    max_budget: int | None = None
    min_budget: int | None = None
    eta: int = 3

    def __post_init__(self) -> None:
        require(bool(self.space), "there is nothing to search: the ranker declares no space, and none was given")
        require(self.trials is None or self.trials >= 1, f"trials must be 1 or more, got {self.trials}")
        require(self.batch_size >= 1, f"batch_size must be 1 or more, got {self.batch_size}")
        require(self.eta >= 2, f"eta must be 2 or more, got {self.eta}")

    def ranked(self, results: Sequence[TrialResult]) -> list[TrialResult]:
        """The results, best first."""
        return ranked(results, self.space, higher_is_better=self.higher_is_better)

    def number_of_trials(self) -> int:
        """How many configurations to try; raises if the plan does not say."""
        require(self.trials is not None, "say how many configurations to try: give trials")
        assert self.trials is not None
        return self.trials
