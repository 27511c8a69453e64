"""Linear models: scores that are weighted sums of features."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array, Float64Array

ROWS_AT_A_TIME = 2048  # so few that their features stay in the processor's cache


def weighted_sum(features: Float32Array, weights: Float64Array) -> Float64Array:
    """The sum of each row's features times their weights; what is missing adds nothing.

    Added up feature after feature, so that a row's bits do not depend on the rows beside it.
    """
    scores = np.zeros(len(features))
    used = np.flatnonzero(weights).tolist()
    for start in range(0, len(features), ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        for feature in used:
            scores[rows] += weights[feature] * column_of(features[rows], feature)
    return scores


def column_of(features: Float32Array, feature: int) -> Float64Array:
    """One feature of every row in double precision, 0 where it is missing."""
    return np.nan_to_num(features[:, feature].astype(np.float64), nan=0.0)
