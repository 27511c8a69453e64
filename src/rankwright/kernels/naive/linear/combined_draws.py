"""Twin of stochastic descent on documents and pairs drawn in turn (Sculley 2010)."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.common.counter_random import stream_of, unit_interval


def combined_draws(
    features: Float32Array,
    labels: Float32Array,
    document_weights: Float64Array,
    partner_weights: Float64Array,
    by_label: IntArray,
    query_first: IntArray,
    same_first: IntArray,
    same_last: IntArray,
    pairs_before: IntArray,
    regression_share: float,
    l2: float,
    stiffness: float,
    logistic: bool,
    key: int,
    first: int,
    last: int,
    weights: Float64Array,
    threads: int,
) -> None:
    """Take draws number `first` to `last` and move the weights after each.

    `by_label` has each query's rows sorted by label. The document at place p has for partners its query's places from
    `query_first[p]` on without those of its own label, `same_first[p]` to `same_last[p]`; `pairs_before` counts the
    partners of the places before each. The step of draw t is 1 / (stiffness + l2 · t), times the document's weight,
    for a pair also its partner's other weight, and never goes past the point of no error.
    """
    ones = np.ones(len(features))
    weight_of = document_weights if len(document_weights) else ones
    partner_weight_of = partner_weights if len(partner_weights) else ones
    n_pairs = int(pairs_before[-1])
    for number in range(first, last):
        chance, choice = (float(unit_interval(stream_of(stream_of(key, number), which))[0]) for which in (0, 1))
        if n_pairs == 0 or chance < regression_share:
            row = int(choice * len(features))
            x, target, weight = features[row].astype(np.float64), float(labels[row]), weight_of[row]
        else:
            chosen = int(choice * n_pairs)
            place = int(np.searchsorted(pairs_before, chosen, side="right")) - 1
            partner = query_first[place] + chosen - pairs_before[place]
            if partner >= same_first[place]:
                partner += same_last[place] - same_first[place]
            one, other = by_label[place], by_label[partner]
            x = features[one].astype(np.float64) - features[other]
            target, weight = float(labels[one]) - float(labels[other]), weight_of[one] * partner_weight_of[other]
        rate = 1.0 / (stiffness + l2 * number)
        score = float(x @ weights)
        error = (target > 0) - 1.0 / (1.0 + np.exp(-score)) if logistic else target - score
        square = float(x @ x)
        step = min(rate * weight, 1.0 / square) if square > 0 else 0.0
        weights *= 1.0 - rate * l2
        weights += step * error * x
