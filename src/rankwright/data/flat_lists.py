"""Lists that teach no order: all their judged documents have one label."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import BoolArray, Float32Array
from rankwright.data.groups import Groups


def tells_apart(labels: Float32Array, groups: Groups) -> BoolArray:
    """For each query, whether two of its documents have different labels; those without one do not count."""
    judged = ~np.isnan(labels)
    query = groups.query_of_row[judged]
    low, high = np.full(groups.n_queries, np.inf), np.full(groups.n_queries, -np.inf)
    np.minimum.at(low, query, labels[judged])
    np.maximum.at(high, query, labels[judged])
    return high > low
