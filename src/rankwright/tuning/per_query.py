"""Values of queries, some of which do not count: NaN in arrays, None in files."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rankwright.arrays import Float64Array


def none_if_nan(value: float) -> float | None:
    """The value, as JSON can hold it."""
    return None if math.isnan(value) else value


def for_json(values: Float64Array) -> list[float | None]:
    """The values, as JSON can hold them."""
    return [none_if_nan(value) for value in values.tolist()]


def from_json(values: Sequence[float | None]) -> Float64Array:
    """The values that `for_json` made ready for JSON."""
    return np.array([math.nan if value is None else value for value in values], np.float64)
