"""Twins of the kernels of λ-gradients without pairs; `batches.py` explains what they take and fill."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.common.counter_random import stream_of, unit_interval
from rankwright.kernels.naive.objectives.batches import FloatArray, queries_of
from rankwright.kernels.naive.objectives.pair_losses import logistic


def point_lambdas(
    scores: Float64Array,
    queries: IntArray,
    starts: IntArray,
    offsets: IntArray,
    targets: Float32Array,
    document_weights: Float32Array,
    query_weights: Float32Array,
    loss: str,
    gradient: FloatArray,
    curvature: FloatArray,
    cost: Float64Array,
    threads: int,  # noqa: ARG001
) -> None:
    """Fill the forces that pull each document's score to its target, by squared error or logistic loss; NaN: none."""
    for k, query in enumerate(queries_of(queries, starts, offsets, document_weights, query_weights)):
        own, target = scores[query.here], targets[query.rows].astype(np.float64)
        weight = query.weight * query.document_weights * ~np.isnan(target)
        target = np.nan_to_num(target)
        if loss == "squared":
            force, bend, height = own - target, np.ones(len(own)), 0.5 * (own - target) ** 2
        else:  # one document is a pair with an opponent of score 0
            force, bend, height = logistic(own, target, 1.0)
        gradient[query.here], curvature[query.here] = weight * force, weight * bend
        cost[k : k + 1] = (weight * height).sum()


def softmax_lambdas(
    scores: Float64Array,
    queries: IntArray,
    starts: IntArray,
    offsets: IntArray,
    shares: Float64Array,
    document_weights: Float32Array,
    query_weights: Float32Array,
    exponential: bool,
    noise: bool,
    key: int,
    gradient: FloatArray,
    curvature: FloatArray,
    cost: Float64Array,
    threads: int,  # noqa: ARG001
) -> None:
    """Fill the derivatives of the cross entropy between `shares` and the softmax of the scores; NaN: takes no part.

    Shares count as they are, or their exponentials, or with a random number from 0 to 1 added, times the document's
    weight, in proportion to their sum.
    """
    for k, query in enumerate(queries_of(queries, starts, offsets, document_weights, query_weights, key)):
        gradient[query.here], curvature[query.here], cost[k : k + 1] = 0.0, 0.0, 0.0
        share = shares[query.rows].copy()
        rows = np.flatnonzero(~np.isnan(share))
        if len(rows) == 0:
            continue
        share = share[rows]
        if exponential:
            share = np.exp(share - share.max())
        if noise:
            share += unit_interval(stream_of(query.stream, rows))
        share *= query.document_weights[rows]
        if share.sum() == 0.0:
            continue
        target = share / share.sum()
        own = scores[query.here][rows]
        log_probability = own - own.max() - np.log(np.exp(own - own.max()).sum())
        probability = np.exp(log_probability)
        gradient[query.here.start + rows] = query.weight * (probability - target)
        curvature[query.here.start + rows] = query.weight * probability * (1.0 - probability)
        cost[k : k + 1] = -query.weight * (target * log_probability).sum()
