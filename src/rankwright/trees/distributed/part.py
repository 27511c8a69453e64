"""A worker's documents as a part of the whole: all queries have their places, those of other workers are empty."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankwright.arrays import IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.trees.bins.binned import BinnedDataset


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
    spread = RankingDataset(
        features=documents.features,
        labels=documents.labels,
        groups=Groups.of_sizes(sizes),
        query_weights=weights,
        document_weights=documents.document_weights,
    )
    return replace(own, documents=spread, query_keys=None)
