"""Twin of stochastic descent on documents and pairs drawn in turn (Sculley 2010)."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.kernels.naive.common.counter_random import stream_of, unit_interval
from rankwright.kernels.records import DrawnPairs, DrawnRows, DrawSettings


def combined_draws(
    documents: DrawnRows,
    pairs: DrawnPairs,
    settings: DrawSettings,
    first: int,
    last: int,
    weights: Float64Array,
    threads: int,
) -> None:
    """Take draws number `first` to `last` and move the weights after each.

    A step is multiplied by the document's weight, for a pair also by its partner's other weight, and never goes past
    the point of no error.
    """
    features, labels = documents.features, documents.labels
    ones = np.ones(len(features))
    weight_of = documents.weights if len(documents.weights) else ones
    partner_weight_of = documents.partner_weights if len(documents.partner_weights) else ones
    n_pairs = int(pairs.pairs_before[-1])
    for number in range(first, last):
        draw = stream_of(settings.key, number)
        chance, choice = (float(unit_interval(stream_of(draw, which))[0]) for which in (0, 1))
        if n_pairs == 0 or chance < settings.regression_share:
            row = int(choice * len(features))
            x, target, weight = features[row].astype(np.float64), float(labels[row]), weight_of[row]
        else:
            one, other = _pair(pairs, int(choice * n_pairs))
            x = features[one].astype(np.float64) - features[other]
            target, weight = float(labels[one]) - float(labels[other]), weight_of[one] * partner_weight_of[other]
        rate = 1.0 / (settings.stiffness + settings.l2 * number)
        score = float(x @ weights)
        error = (target > 0) - 1.0 / (1.0 + np.exp(-score)) if settings.logistic else target - score
        square = float(x @ x)
        step = min(rate * weight, 1.0 / square) if square > 0 else 0.0
        weights *= 1.0 - rate * settings.l2
        weights += step * error * x


def _pair(pairs: DrawnPairs, number: int) -> tuple[int, int]:
    place = int(np.searchsorted(pairs.pairs_before, number, side="right")) - 1
    partner = pairs.query_first[place] + number - pairs.pairs_before[place]
    if partner >= pairs.same_first[place]:
        partner += pairs.same_last[place] - pairs.same_first[place]
    return int(pairs.by_label[place]), int(pairs.by_label[partner])
