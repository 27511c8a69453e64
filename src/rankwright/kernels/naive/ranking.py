"""Twins of the ordering kernels. Query q owns rows `offsets[q]` to `offsets[q + 1]`, and that stretch of `rows`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, IntArray


def rank_rows(scores: Float64Array, offsets: IntArray, rows: IntArray, threads: int) -> None:
    """Fill `rows` with the rows of each query, highest score first, equal scores in row order."""
    for start, stop in pairwise(offsets):
        rows[start:stop] = start + np.argsort(-scores[start:stop], kind="stable")


def mark_ties(scores: Float64Array, offsets: IntArray, rows: IntArray, tied: BoolArray, threads: int) -> None:
    """Fill `tied` with whether the document at a rank has the score of the one before it in its query."""
    tied[:1] = False
    tied[1:] = scores[rows[1:]] == scores[rows[:-1]]
    tied[offsets[offsets < len(tied)]] = False


def order_ties(keys: Float64Array, tied: BoolArray, rows: IntArray, threads: int) -> None:
    """Put the rows of each run of tied ranks in the order of their keys, lowest first, equal keys in row order."""
    run_of_rank = np.cumsum(~tied)
    rows[:] = rows[np.lexsort((rows, keys[rows], run_of_rank))]
