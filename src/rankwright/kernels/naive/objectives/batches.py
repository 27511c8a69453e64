"""The queries that the twins of the λ-kernels are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.kernels.naive.common.counter_random import stream_of
from rankwright.kernels.records import Batch, WeighedGroups


@dataclass(frozen=True, slots=True)
class BatchQuery:
    """One query of a batch: where it lies in the batch and in the dataset, and its scores."""

    number: int
    here: slice
    rows: slice
    scores: Float64Array
    weight: float
    document_weights: Float64Array
    stream: np.uint64


def queries_of(batch: Batch, groups: WeighedGroups) -> Iterator[BatchQuery]:
    """The queries asked for, one after the other."""
    for k, number in enumerate(batch.queries.tolist()):
        here = slice(batch.starts[k], batch.starts[k + 1])
        rows = slice(groups.offsets[number], groups.offsets[number + 1])
        weights = groups.document_weights[rows] if len(groups.document_weights) else np.ones(rows.stop - rows.start)
        yield BatchQuery(
            number,
            here,
            rows,
            batch.scores[here],
            float(groups.query_weights[number]) if len(groups.query_weights) else 1.0,
            weights.astype(np.float64),
            stream_of(batch.key, number)[0],
        )
