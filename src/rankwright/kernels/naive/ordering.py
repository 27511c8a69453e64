"""Twins of the ordering kernels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankwright.arrays import Float64Array, IntArray


def rank_rows(scores: Float64Array, offsets: IntArray, rows: IntArray, threads: int) -> None:  # noqa: ARG001
    """Fill `rows` with the rows of each query, highest score first, equal scores in row order."""
    for start, stop in pairwise(offsets):
        rows[start:stop] = start + np.argsort(-scores[start:stop], kind="stable")
