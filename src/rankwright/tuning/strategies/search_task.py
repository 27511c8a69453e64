"""What a strategy is given, and the type of strategies."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankwright.errors import require
from rankwright.metrics.metric_table import parse_metric
from rankwright.settings.spaces import Space
from rankwright.tuning.trials import Trial, TrialResult, ranked

if TYPE_CHECKING:  # the plan names its strategy, so it stands above the table of strategies
    from rankwright.tuning.tuning_plan import TuningPlan

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
        require(self.plan.trials is not None, "say how many configurations to try: give trials")
        assert self.plan.trials is not None
        return self.plan.trials
