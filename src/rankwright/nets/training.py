"""A net in training: an epoch is a step of the loop, and goes through the queries in random order, some at a time.

Everything random in epoch t is drawn from the seed and t alone, so a run that is stopped after an epoch and resumed,
with the same weights and the same memory of its optimizer, goes on as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float64Array, arrays_with_prefix
from rankwright.container.checks import check_finite, read_array
from rankwright.data.groups import Groups
from rankwright.errors import InputError, SettingError
from rankwright.nets.descent import Descent, Net
from rankwright.nets.inputs import FeatureRows
from rankwright.nets.pair_error import TrainingPairError
from rankwright.nets.params import DescentParams


class NetTraining:
    """A net, what it is trained on, and how far it has come."""

    def __init__(
        self,
        net: Net,
        rows: FeatureRows,
        groups: Groups,
        descent: Descent,
        params: DescentParams,
        *,
        pair_error: TrainingPairError | None = None,
    ) -> None:
        self.net, self.rows, self.groups, self.descent, self.params = net, rows, groups, descent, params
        self.pair_error = pair_error
        self.mean_error: float | None = None  # of the last epoch, where the recipe looks at it
        self.is_perfect = False

    def take_step(self, epoch: int) -> bool:
        """Go through all queries once; False where the epoch before left no pair of the training data wrong."""
        if self.is_perfect:
            return False
        rng = np.random.default_rng([self.params.seed, epoch])
        order, module_seed = rng.permutation(self.groups.n_queries), int(rng.integers(2**63))
        n_steps = -(-self.groups.n_queries // self.params.batch_queries)
        walked = self.descent.walk(order, rng.integers(2**63, size=n_steps), module_seed)
        if not walked.is_finite:
            raise SettingError(
                f"training diverged in epoch {epoch + 1}: scores are no longer finite; lower learning_rate "
                f"({self.params.learning_rate:g}) or scale the features"
            )
        if self.pair_error is not None:
            self._look_at_error(self.pair_error, walked.scores, walked.costs)
        return True

    def _look_at_error(self, pair_error: TrainingPairError, scores: Float64Array, costs: Float64Array) -> None:
        """Halve the learning rate where the mean error rose. Scores are those that each query had on its turn."""
        share_wrong = pair_error(scores)
        mean = share_wrong if np.isnan(costs).all() else float(np.nanmean(costs))
        if self.params.halve_on_rise and self.mean_error is not None and mean > self.mean_error:
            self.descent.learning_rate *= 0.5
        self.mean_error = mean
        if self.params.stop_at_zero_error and share_wrong == 0:
            self.is_perfect = pair_error(self.net.scores(self.rows)) == 0

    def model(self) -> Arrays:
        """The net's weights."""
        return self.net.arrays()

    def memory(self) -> Arrays:
        """The weights, what the optimizer remembers, and the last mean error (NaN: none)."""
        seen = [self.descent.learning_rate, np.nan if self.mean_error is None else self.mean_error, self.is_perfect]
        arrays = {f"net.{name}": values for name, values in self.model().items()}
        arrays |= {f"optimizer.{name}": values for name, values in self.descent.memory().items()}
        return arrays | {"seen": np.array(seen, np.float64)}

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a memory, as if this object had got there itself."""
        learning_rate, mean_error, is_perfect = read_array(memory, "seen", np.float64, (3,), finite=False).tolist()
        if not 0 < learning_rate <= self.params.learning_rate or np.isinf(mean_error):
            raise InputError(f"the learning rate was {learning_rate} and the mean error {mean_error}, which cannot be")
        for name, values in memory.items():
            if name != "seen":
                check_finite(name, values)
        self.mean_error, self.is_perfect = None if np.isnan(mean_error) else mean_error, bool(is_perfect)
        self.descent.learning_rate = learning_rate
        self.net.put(arrays_with_prefix(memory, "net."))
        self.descent.take_up(arrays_with_prefix(memory, "optimizer."))
