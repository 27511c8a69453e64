"""What is random in the twin's choice of splits: stateless random numbers under tree, node and feature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankwright.arrays import IntArray
from rankwright.kernels.naive.common.counter_random import about_normal, stream_of

# The numbers before them are those of rows, whose rounding is drawn under the same key.
FIRST_NOISE_STREAM = 2**32
FIRST_DRAW_STREAM = 2**33


class SplitChance(NamedTuple):
    """The chance of one leaf or level: the features that take part, and the noise on the roots of gains."""

    features: IntArray
    deviation: float
    noise_key: int

    def worth(self, gain: float, feature: int) -> float:
        """What the feature's best split is drawn by."""
        return float(np.sqrt(gain) + self.deviation * about_normal(stream_of(self.noise_key, feature))[0])


class TreeChance(NamedTuple):
    """The chance of all leaves or levels of a tree; each split draws `fraction` of the features."""

    features: IntArray
    fraction: float
    deviation: float
    key: int

    def of(self, number: int) -> SplitChance:
        """The chance of a node or level."""
        n_drawn = max(int(np.floor(self.fraction * len(self.features) + 0.5)), 1)
        draws = stream_of(stream_of(self.key, FIRST_DRAW_STREAM + number), self.features)
        drawn = self.features[np.sort(np.argsort(draws)[:n_drawn])]
        return SplitChance(drawn, self.deviation, int(stream_of(self.key, FIRST_NOISE_STREAM + number)[0]))
