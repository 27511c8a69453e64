"""Features for models that are weighted sums: a missing value adds nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError

ROWS_AT_A_TIME = 4096  # looked at while they are in the processor's cache


def filled(features: Float32Array) -> Float32Array:
    """The features with 0 for missing values; infinite values are refused."""
    out = features
    for start in range(0, len(features), ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        if np.isfinite(features[rows]).all():
            continue
        if np.isinf(features[rows]).any():
            raise InputError("features must be finite, or NaN for missing ones, and some are infinite")
        if out is features:
            out = features.copy()
        out[rows] = np.nan_to_num(features[rows], nan=0.0)
    return out


def without_missing(data: RankingDataset) -> RankingDataset:
    """The data with its features filled."""
    features = filled(data.features)
    return data if features is data.features else replace(data, features=features)
