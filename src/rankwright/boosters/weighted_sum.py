"""Scores that are weighted sums of features, as climbing a metric adds them up."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array, Float64Array

ROWS_AT_A_TIME = 2048  # so few that their features stay in the processor's cache


def weighted_sum(features: Float32Array, weights: Float64Array) -> Float64Array:
    """The sum of each row's features, none missing, times their weights.

    Added up feature after feature, so that those without a weight change no bit, and no tie, of the others' sum; the
    kernel `linear_scores` adds in lanes, where they do.
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
