"""Ranks as scores, which can be averaged where scores have no common scale."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.data.groups import Groups
from rankwright.ranking.order import rank


def rank_scores(scores: Float64Array, groups: Groups) -> Float64Array:
    """Minus each document's rank in its query's list, from 0; documents of equal score share the mean of theirs."""
    ranking = rank(scores, groups)
    blocks = ranking.tie_blocks
    places = np.repeat((blocks[:-1] + blocks[1:] - 1) / 2, np.diff(blocks))
    result = np.empty(groups.n_docs)
    result[ranking.rows] = np.repeat(groups.offsets[:-1], groups.sizes) - places
    return result
