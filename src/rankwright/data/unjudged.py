"""Unjudged documents as examples of low relevance (RankNet, section 6.1).

A judge sees the top of a list, so that what she calls poor is often fair; a random share of what nobody judged tells a
ranker better what irrelevant documents are like.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.data.seeds import Seed, generator
from rankwright.errors import require

LOWEST = np.float32(0.0)  # no label is lower


def judge_some(data: RankingDataset, share: float | None, *, seed: Seed = 0) -> RankingDataset:
    """`data` with a random share of its unjudged documents judged irrelevant; as it is where `share` is None.

    The draw is over all unjudged documents together, as in the paper, which took 2 % of them.
    """
    if share is None:
        return data
    require(0 <= share <= 1, f"unjudged must be a share between 0 and 1, got {share}")
    if data.labels is None:
        return data
    unjudged = np.flatnonzero(np.isnan(data.labels))
    drawn = generator(seed).choice(unjudged, size=round(share * len(unjudged)), replace=False)
    labels = data.labels.copy()
    labels[drawn] = LOWEST
    return replace(data, labels=labels)
