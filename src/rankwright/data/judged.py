"""Which queries have documents of different labels, and labels for documents that nobody judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankwright.arrays import BoolArray, Float32Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.seeds import Seed, generator
from rankwright.errors import require

LOWEST = np.float32(0.0)  # no label is lower


def tells_apart(labels: Float32Array, groups: Groups) -> BoolArray:
    """For each query, whether two of its judged documents have different labels; no order is learned from others."""
    judged = ~np.isnan(labels)
    query = groups.query_of_row[judged]
    low, high = np.full(groups.n_queries, np.inf), np.full(groups.n_queries, -np.inf)
    np.minimum.at(low, query, labels[judged])
    np.maximum.at(high, query, labels[judged])
    return high > low


def call_irrelevant(data: RankingDataset, share: float | None, *, seed: Seed = 0) -> RankingDataset:
    """The data with a random share of its unjudged documents labelled 0; unchanged where `share` is None.

    RankNet, section 6.1: judges see the top of a list, so what they call poor is often fair. Documents that no one
    judged show a ranker better what irrelevant ones are like. The draw is over all unjudged documents together, as in
    the paper, which took 2 % of them.
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
