"""Data in which queries may occur more than once, as in a bootstrap sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankwright.arrays import IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.preferences import Preferences


def repeat_queries(data: RankingDataset, queries: IntArray) -> RankingDataset:
    """The dataset of the given queries; each copy is a separate query with its own documents and preferences."""
    taken = replace(data, preferences=None, query_ids=None).take_queries(queries)
    if data.preferences is None:
        return taken
    return replace(taken, preferences=_repeated(data.preferences, data.groups, queries, taken.groups))


def _repeated(pairs: Preferences, groups: Groups, queries: IntArray, taken: Groups) -> Preferences:
    query_of_pair = groups.query_of_row[pairs.better]
    by_query = np.argsort(query_of_pair, kind="stable")
    of_query = Groups.of_sizes(np.bincount(query_of_pair, minlength=groups.n_queries))
    chosen = by_query[of_query.rows_of(queries)]
    shift = np.repeat(taken.offsets[:-1] - groups.offsets[queries], of_query.sizes[queries])
    return Preferences(
        pairs.better[chosen] + shift, pairs.worse[chosen] + shift, pairs.probability[chosen], pairs.weight[chosen]
    )
