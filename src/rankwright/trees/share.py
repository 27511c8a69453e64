"""What a worker knows of the documents that others have, where several grow one forest together.

A worker's data has all queries of the whole, in their order; those that other workers have are empty in it. So queries
have the same numbers everywhere, and whatever is drawn by number is drawn alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from rankwright.arrays import IntArray, Uint32Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError
from rankwright.kernels.records import Exchange, SparseCodes
from rankwright.objectives.objective import DataFacts, DependsOnAllData, Objective
from rankwright.trees.bins.binned import BinnedDataset


@dataclass(frozen=True, slots=True, eq=False)
class RowShare:
    """A worker's share of the documents: the numbers of its rows among all rows, and the way to the other workers."""

    numbers: Uint32Array
    exchange: Exchange

    @classmethod
    def of(cls, groups: Groups, sizes: IntArray, exchange: Exchange) -> RowShare:
        """The share that has the queries of `groups`, where all queries have these sizes."""
        within = np.arange(groups.n_docs) - np.repeat(groups.offsets[:-1], groups.sizes)
        numbers = (np.repeat(np.cumsum(sizes) - sizes, groups.sizes) + within).astype(np.uint32)
        return cls(numbers, exchange)


def spread_queries(own: BinnedDataset, numbers: IntArray, n_queries: int) -> BinnedDataset:
    """The queries of `own` as numbers `numbers`, ascending, of `n_queries` queries; all other queries are empty.

    Ids and places in files are left out: trees do not learn from them.
    """
    documents = own.documents
    sizes = np.zeros(n_queries, np.int64)
    sizes[numbers] = own.groups.sizes
    weights = None
    if documents.query_weights is not None:
        weights = np.ones(n_queries, np.float32)
        weights[numbers] = documents.query_weights
    groups = Groups.of_sizes(sizes)
    spread = replace(without_ids(documents), groups=groups, query_weights=weights, initial_scores=None)
    return replace(own, documents=spread, query_keys=None)


def parts_of(data: BinnedDataset, n_parts: int) -> list[BinnedDataset]:
    """The data cut into `n_parts` parts of whole queries, in their order."""
    if isinstance(data.codes, SparseCodes):
        raise InputError("workers do not watch sparse features: train in one process, with on(None)")
    bounds = np.searchsorted(data.groups.offsets, np.arange(n_parts + 1) * (data.n_docs / n_parts))
    bounds[-1] = data.n_queries
    parts = []
    for begin_at, end in pairwise(bounds):
        rows = slice(*data.groups.offsets[[begin_at, end]].tolist())
        documents = without_ids(data.documents.take_queries(np.arange(begin_at, end)))
        codes = np.ascontiguousarray(data.codes[:, rows])
        parts.append(BinnedDataset(codes, data.mapper, documents, data.feature_names))
    return parts


def without_ids(data: RankingDataset) -> RankingDataset:
    """The documents with only what trees learn from: without ids and places in files."""
    return RankingDataset(
        features=data.features,
        labels=data.labels,
        groups=data.groups,
        query_weights=data.query_weights,
        document_weights=data.document_weights,
        initial_scores=data.initial_scores,
        side=data.side,
    )


def fixed_for_all(objective: Objective, facts: DataFacts) -> Objective:
    """The objective as it would be bound to all data, which has these facts.

    A worker has some queries only, and does not know the highest label, on which ERR's chance to stop depends, nor how
    long lists are and how much data there is, by which the usual forces are chosen.
    """
    return objective.for_all_data(facts) if isinstance(objective, DependsOnAllData) else objective
