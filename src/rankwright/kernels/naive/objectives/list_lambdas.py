"""Twins of the kernels of λ-gradients without pairs; `batches.py` explains what they take and fill."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array, Float64Array
from rankwright.kernels.naive.common.counter_random import stream_of, unit_interval
from rankwright.kernels.naive.objectives.batches import queries_of
from rankwright.kernels.naive.objectives.pair_losses import logistic
from rankwright.kernels.records import Batch, Forces, WeighedGroups


def point_lambdas(
    batch: Batch, groups: WeighedGroups, targets: Float32Array, loss: str, forces: Forces, threads: int
) -> None:
    """Fill the forces that pull each document's score to its target, by squared error or logistic loss; NaN: none."""
    for k, query in enumerate(queries_of(batch, groups)):
        own, target = query.scores, targets[query.rows].astype(np.float64)
        weight = query.weight * query.document_weights * ~np.isnan(target)
        target = np.nan_to_num(target)
        if loss == "squared":
            force, bend, height = own - target, np.ones(len(own)), 0.5 * (own - target) ** 2
        else:  # one document is a pair with an opponent of score 0
            force, bend, height = logistic(own, target, 1.0)
        forces.gradient[query.here], forces.curvature[query.here] = weight * force, weight * bend
        forces.cost[k : k + 1] = (weight * height).sum()


def softmax_lambdas(
    batch: Batch,
    groups: WeighedGroups,
    shares: Float64Array,
    exponential: bool,
    noise: bool,
    forces: Forces,
    threads: int,
) -> None:
    """Fill the derivatives of the cross entropy between `shares` and the softmax of the scores; NaN: takes no part.

    Shares are taken as they are, or exponentiated, or with a random number from 0 to 1 added; then they are multiplied
    by the document's weight and divided by their sum.
    """
    for k, query in enumerate(queries_of(batch, groups)):
        forces.gradient[query.here], forces.curvature[query.here], forces.cost[k : k + 1] = 0.0, 0.0, 0.0
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
        own = query.scores[rows]
        log_probability = own - own.max() - np.log(np.exp(own - own.max()).sum())
        probability = np.exp(log_probability)
        forces.gradient[query.here.start + rows] = query.weight * (probability - target)
        forces.curvature[query.here.start + rows] = query.weight * probability * (1.0 - probability)
        forces.cost[k : k + 1] = -query.weight * (target * log_probability).sum()
