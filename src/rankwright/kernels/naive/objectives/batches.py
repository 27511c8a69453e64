"""What the twins of the λ-kernels share.

Every kernel takes the queries asked for and the scores of their rows, those of `queries[k]` from `starts[k]` to
`starts[k + 1]`; fills `gradient` and `curvature` alike; and `cost`, unless it is empty, with one value a query.
Empty weights are all 1. Query q of the dataset owns its rows `offsets[q]` to `offsets[q + 1]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.common.counter_random import stream_of

FloatArray = NDArray[Any]  # float32, or float64 for diagnostics


@dataclass(frozen=True, slots=True)
class BatchQuery:
    """One query of a batch: where it lies in the batch and in the dataset."""

    number: int
    here: slice
    rows: slice
    weight: float
    document_weights: Float64Array
    stream: np.uint64


def queries_of(
    queries: IntArray,
    starts: IntArray,
    offsets: IntArray,
    document_weights: Float32Array,
    query_weights: Float32Array,
    key: int = 0,
) -> Iterator[BatchQuery]:
    """The queries asked for, one after the other."""
    for k, number in enumerate(queries.tolist()):
        rows = slice(offsets[number], offsets[number + 1])
        of_documents = document_weights[rows] if len(document_weights) else np.ones(rows.stop - rows.start)
        yield BatchQuery(
            number,
            slice(starts[k], starts[k + 1]),
            rows,
            float(query_weights[number]) if len(query_weights) else 1.0,
            of_documents.astype(np.float64),
            stream_of(key, number)[0],
        )
