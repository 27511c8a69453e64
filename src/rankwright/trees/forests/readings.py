"""How the values of a feature are read before a forest of another tool compares them.

Forests of ours compare values as they are. LightGBM can count zeros as missing; LightGBM and XGBoost cut categories to
whole numbers, and send a category that a split does not know elsewhere than a missing one. Such rules are the same in
all splits of a feature, so they are kept once for each feature, and followed before the forest sees its values.
"""

from __future__ import annotations

from enum import Enum

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, IntArray

LARGEST_ZERO = np.float32(1e-35)  # LightGBM's
OTHER = -1.0  # stands for every category that no split knows
LARGEST_CATEGORY = np.float32(2**31)  # beyond it there is none


class Reading(Enum):
    """What is done to the values of a feature."""

    PLAIN = 0
    ZERO_IS_MISSING = 1  # and whatever is no larger than `LARGEST_ZERO`
    CATEGORY = 2  # cut towards 0; what is negative then is another category
    POSITIVE_CATEGORY = 3  # what is negative is another category; the rest is cut


CATEGORY_CODES = (Reading.CATEGORY.value, Reading.POSITIVE_CATEGORY.value)


def is_category(code: int) -> bool:
    """Whether values of a feature with this reading are cut to categories."""
    return code in CATEGORY_CODES


def as_read(
    matrix: Float32Array, readings: NDArray[np.uint8], category_values: Float32Array, category_offsets: IntArray
) -> Float32Array:
    """A copy of the features in which each was read by its rule."""
    out = matrix.copy()
    for feature in np.flatnonzero(readings).tolist():
        column = out[:, feature]
        if readings[feature] == Reading.ZERO_IS_MISSING.value:
            column[np.abs(column) <= LARGEST_ZERO] = np.nan
            continue
        known = category_values[category_offsets[feature] : category_offsets[feature + 1]]
        missing = np.isnan(column)
        is_other = column < 0 if readings[feature] == Reading.POSITIVE_CATEGORY.value else column <= -1
        whole = np.trunc(column) + np.float32(0)  # -0 is category 0
        is_other |= (whole >= LARGEST_CATEGORY) | ~np.isin(whole, known)
        column[:] = np.where(missing, column, np.where(is_other, np.float32(OTHER), whole))
    return out
