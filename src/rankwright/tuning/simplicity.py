"""The order of trials: the better one first, and of equally good ones the simpler one."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankwright.settings.spaces import Space
from rankwright.tuning.configurations import place
from rankwright.tuning.trials import TrialResult


def ranked(results: Sequence[TrialResult], space: Space, *, higher_is_better: bool) -> list[TrialResult]:
    """The trials, best first.

    Ties go to the smaller models, by leaves or weights; then to the settings that come earlier in the lists of the
    space, setting after setting, or are smaller; then to the trial that was made first.
    """
    sign = -1.0 if higher_is_better else 1.0

    def order(result: TrialResult) -> tuple[float, float, tuple[float, ...]]:
        value = math.inf if math.isnan(result.value) else sign * result.value
        return value, result.size, place(space, result.trial.settings)

    return sorted(results, key=order)
