"""LightGBM's rules of a split, as it follows them when it scores, and the same as a forest of ours.

Values no larger than 1e-35 are read as 0. A missing value is NaN (type NaN), a zero or NaN (type Zero), or nothing, and
then NaN is read as 0 (type None). Splits of categories cut values to whole numbers; NaN and unknown ones go right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.errors import InputError
from rankwright.imports.assembly import at_most
from rankwright.trees.forests.readings import LARGEST_ZERO, Reading

NONE, ZERO, NAN = 0, 1, 2  # types of missing values
TYPES: Mapping[str, int] = {"None": NONE, "Zero": ZERO, "NaN": NAN}
CATEGORICAL_BIT, DEFAULT_LEFT_BIT, TYPE_SHIFT = 1, 2, 2  # of a node's decision type

OBJECTIVES_THAT_TRANSFORM = ("binary", "cross_entropy", "poisson", "gamma", "tweedie", "multiclass")


def our_thresholds(threshold: Float64Array) -> Float32Array:
    """The thresholds as ours: all values no larger than 1e-35 are on one side, as they are read as 0."""
    near = at_most(threshold)
    inside = np.abs(near) <= LARGEST_ZERO
    return np.where(
        inside & (threshold >= 0), LARGEST_ZERO, np.where(inside, np.nextafter(-LARGEST_ZERO, np.float32(-1)), near)
    )


def missing_sides(threshold: Float64Array | float, types: IntArray | int, default_left: BoolArray | bool) -> BoolArray:
    """Whether NaN goes left at each node."""
    return np.where(types == NONE, threshold >= 0, default_left)


def readings_of(feature: IntArray, types: IntArray, categorical: BoolArray) -> dict[int, Reading]:
    """How the values of features are read, from all splits of a model."""
    found: dict[int, Reading] = {}
    for number in np.unique(feature).tolist():
        own = feature == number
        if categorical[own].any():
            found[number] = Reading.CATEGORY
        elif (types[own] == ZERO).any():
            found[number] = Reading.ZERO_IS_MISSING
        else:
            continue
        alike = categorical[own].all() if categorical[own].any() else bool((types[own] == ZERO).all())
        if not alike:
            raise InputError(
                f"splits of feature {number} read its values in several ways (as numbers, as categories, with zeros as "
                f"missing ones): LightGBM makes no such model in one training"
            )
    return found


def categories_in(words: Iterable[int]) -> list[float]:
    """The categories whose bits are set."""
    bits = np.unpackbits(np.array(list(words), np.uint32).astype("<u4").view(np.uint8), bitorder="little")
    return [float(category) for category in np.flatnonzero(bits).tolist()]


def notes_of(objective: str) -> list[str]:
    """What is good to know about scores under that objective."""
    if objective.startswith(OBJECTIVES_THAT_TRANSFORM):
        return [f"LightGBM transforms the scores of objective {objective.split()[0]!r}: these are the raw ones"]
    return []


def type_bits(decision: NDArray[np.int64]) -> IntArray:
    """The type of missing values in nodes' decision types."""
    types = (decision >> TYPE_SHIFT) & 3
    if (types > NAN).any() or (decision < 0).any():
        raise InputError("a node has a decision type that LightGBM does not know")
    return types
