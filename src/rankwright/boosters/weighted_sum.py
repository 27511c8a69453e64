"""Scores that are weighted sums of features, for rankers that climb a metric."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array, Float64Array

ROWS_AT_A_TIME = 2048  # few enough that their features stay in the processor's cache


def weighted_sum(features: Float32Array, weights: Float64Array) -> Float64Array:
    """The weighted sum of each row's features, none of which may be missing.

    It is added up feature after feature, so that features without a weight change no bit of the sum and break no tie,
    as they can in the kernel `linear_scores`, which adds in lanes.
    """
    scores = np.zeros(len(features))
    used = np.flatnonzero(weights).tolist()
    for start in range(0, len(features), ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        for feature in used:
            scores[rows] += weights[feature] * column_of(features[rows], feature)
    return scores


def column_of(features: Float32Array, feature: int) -> Float64Array:
    """One feature of every row in double precision."""
    return features[:, feature].astype(np.float64)
