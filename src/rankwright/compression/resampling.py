"""Made-up lists of unjudged documents, similar to the given ones, for a teacher to score."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.seeds import Seed, generator
from rankwright.errors import require

MIXED = 0.2  # share of a document's values that come from another one
FROM_OWN_QUERY = 0.5  # share of documents that mix with one of their own query; the others mix with any
BLOCK_ROWS = 2**16  # documents mixed at a time, so that the random numbers fit in memory


def resampled_lists(data: RankingDataset, *, mixed: float = MIXED, seed: Seed = 0) -> RankingDataset:
    """A synthetic list for each query: its documents, with some values of each taken from another document.

    The other document comes from the same query or from any query. Combinations of values may be new, but each value
    occurs in the data, so missing values and categories are possible ones. Labels are left out.
    """
    require(0 <= mixed <= 1, f"mixed must lie between 0 and 1, got {mixed}")
    rng = generator(seed)
    features = np.empty_like(data.features)
    for start in range(0, data.n_docs, BLOCK_ROWS):
        rows = slice(start, min(start + BLOCK_ROWS, data.n_docs))
        features[rows] = _mixed(data.features, data.groups, rows, mixed, rng)
    own: dict[str, Any] = {"groups": data.groups, "feature_names": data.feature_names, "categories": data.categories}
    return RankingDataset(features=features, labels=None, **own)


def _mixed(features: Float32Array, groups: Groups, rows: slice, mixed: float, rng: np.random.Generator) -> Float32Array:
    n_rows = rows.stop - rows.start
    query = groups.query_of_row[rows]
    own = groups.offsets[query] + (rng.random(n_rows) * groups.sizes[query]).astype(np.int64)
    anyone = rng.integers(0, len(features), n_rows)
    partner = np.where(rng.random(n_rows) < FROM_OWN_QUERY, own, anyone)
    taken = rng.random((n_rows, features.shape[1]), np.float32) < mixed
    return np.where(taken, features[partner], features[rows])
