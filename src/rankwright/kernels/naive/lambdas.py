"""Twins of the kernels of objectives: forces on the documents of pairs, of lists, and of each document alone."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log2, nan
from typing import NamedTuple

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.common import below, stream_of, unit_interval
from rankwright.kernels.naive.pair_weights import (
    PAIR_LOSSES,
    BatchQuery,
    are_swaps,
    logistic,
    queries_of,
    ranked_rows,
    weight_matrices,
)
from rankwright.kernels.records import Batch, Forces, LabelledQueries, PairSettings, WeighedGroups

SMALLEST_GAP = 0.01


class _Pairs(NamedTuple):
    """Pairs of ranks `a` and `b`, with target probabilities that `a` belongs above `b`, and weights."""

    a: IntArray
    b: IntArray
    target: Float64Array
    weight: Float64Array


def _ranked_rows(query: BatchQuery, settings: PairSettings) -> IntArray:
    return ranked_rows(query.scores, query.stream if settings.shuffle_ties else None)


def _targets(certainty: float, difference: Float64Array) -> Float64Array:
    steepness = np.minimum(certainty, 1e300) * np.abs(difference)
    wrong = np.exp(-np.minimum(steepness, 745.0)) if certainty < inf else np.zeros(len(difference))
    target = 1.0 / (1.0 + wrong)
    return np.where(difference == 0, 0.5, np.where(difference > 0, target, 1.0 - target))


def _pairs_of_ranks(labels: Float64Array, settings: PairSettings) -> Iterator[_Pairs]:
    """Every pair of judged documents of different labels, one upper rank after the other."""
    # Where weights are means over orders, those of pairs beyond the truncation are 0.
    n_rows = min(len(labels), settings.truncation or len(labels)) if are_swaps(settings) else len(labels)
    for i in range(n_rows):
        lower = np.arange(i + 1, len(labels))
        difference = labels[i] - labels[lower]
        chosen = ~np.isnan(difference) if settings.pair_equal_labels else np.abs(difference) > 0
        lower, difference = lower[chosen], difference[chosen]
        if len(lower):
            target = _targets(settings.certainty, difference)
            yield _Pairs(np.full(len(lower), i), lower, target, np.ones(len(lower)))


def _sampled_pairs(
    sorted_rows: IntArray, labels: Float64Array, rank_of: IntArray, settings: PairSettings, stream: np.uint64
) -> Iterator[_Pairs]:
    """Partners drawn for each judged document; a pair's weight is one over the mean number of its draws."""
    n, draws = len(labels), settings.sampled
    sorted_rows = sorted_rows[~np.isnan(labels[sorted_rows])]
    by_label = labels[sorted_rows]
    at = np.arange(len(by_label))
    begin = at if settings.pair_equal_labels else np.searchsorted(-by_label, -by_label, side="left")
    end = at + 1 if settings.pair_equal_labels else np.searchsorted(-by_label, -by_label, side="right")
    n_partners = len(by_label) - (end - begin)
    if len(by_label) == 0 or n_partners[0] == 0:
        return
    for position, row in enumerate(sorted_rows.tolist()):
        random = stream_of(stream, n + row * draws + np.arange(draws))
        other = below(random, n_partners[position]).astype(np.int64)
        other = np.where(other < begin[position], other, other + (end - begin)[position])
        times = draws / n_partners[position] + draws / n_partners[other]
        target = _targets(settings.certainty, by_label[position] - by_label[other])
        yield _Pairs(np.full(draws, rank_of[row]), rank_of[sorted_rows[other]], target, 1.0 / times)


def _mixed(
    matrices: tuple[Float64Array, Float64Array], pairs: list[_Pairs], weight: Float64Array, settings: PairSettings
) -> Float64Array:
    """Weights of which a share is the same for all pairs that count, such that both shares have the same sum."""
    changes, counted = matrices
    sums = np.zeros(2)
    for some in pairs:
        own = some.weight * weight[some.a] * weight[some.b]
        sums += [(own * matrix[some.a, some.b]).sum() for matrix in matrices]
    constant = sums[0] / sums[1] if sums[1] > 0 else 0.0
    return (1.0 - settings.constant_share) * changes + settings.constant_share * constant * counted


def _sum_pairs(
    query: BatchQuery,
    ranked: IntArray,
    worth: Float64Array,
    discount: Float64Array,
    settings: PairSettings,
    pairs: list[_Pairs],
    forces: Forces,
) -> None:
    """Fill the forces of the pairs of a query, and its cost."""
    scores, n = query.scores, len(query.scores)
    by_rank, weight_by_rank = scores[ranked], query.document_weights[ranked]
    worth_by_rank = worth[query.rows][ranked] if len(worth) else np.zeros(n)
    discount_of_rank = np.concatenate([discount, np.zeros(n)])[:n]
    matrices = weight_matrices(query, ranked, worth_by_rank, discount_of_rank, settings)
    changes = _mixed(matrices, pairs, weight_by_rank, settings)
    gradient, curvature, cost, size = np.zeros(n), np.zeros(n), 0.0, 0.0
    for some in pairs:
        gap = by_rank[some.a] - by_rank[some.b]
        weight = some.weight * weight_by_rank[some.a] * weight_by_rank[some.b] * changes[some.a, some.b]
        if settings.gap_norm and scores.min() != scores.max():
            weight /= SMALLEST_GAP + np.abs(gap)
        pair = PAIR_LOSSES[settings.loss](gap, some.target, settings.shape)
        np.add.at(gradient, some.a, weight * pair.force)
        np.add.at(gradient, some.b, -weight * pair.force)
        np.add.at(curvature, some.a, weight * pair.curvature)
        np.add.at(curvature, some.b, weight * pair.curvature)
        size += 2.0 * float(np.abs(weight * pair.force).sum())
        cost += float((weight * pair.cost).sum())
    factor = query.weight * (log2(1.0 + size) / size if settings.query_norm and size > 0 else 1.0)
    whole = settings.truncation == 0 or n <= settings.truncation + 1
    of_row = np.argsort(ranked)
    query.fill(forces, factor * gradient[of_row], factor * curvature[of_row], query.weight * cost if whole else nan)


def label_pair_lambdas(batch: Batch, pairs: LabelledQueries, forces: Forces, threads: int) -> None:
    """Fill the forces of pairs of documents with different labels."""
    settings = pairs.settings
    for query in queries_of(batch, pairs.groups):
        ranked = _ranked_rows(query, settings)
        labels = pairs.labels[query.rows].astype(np.float64)
        if settings.sampled and len(ranked) > 2 * settings.sampled + 1:
            sorted_rows = pairs.by_label[query.rows] - query.rows.start
            some = _sampled_pairs(sorted_rows, labels, np.argsort(ranked), settings, query.stream)
        else:
            some = _pairs_of_ranks(labels[ranked], settings)
        _sum_pairs(query, ranked, pairs.worth, pairs.discount, settings, list(some), forces)


def preference_lambdas(
    batch: Batch,
    groups: WeighedGroups,
    first_pair: IntArray,
    better: IntArray,
    worse: IntArray,
    probability: Float32Array,
    weight: Float32Array,
    worth: Float64Array,
    discount: Float64Array,
    settings: PairSettings,
    forces: Forces,
    threads: int,
) -> None:
    """Fill the forces of given pairs; those of query q are `first_pair[q]` to `first_pair[q + 1]`."""
    for query in queries_of(batch, groups):
        ranked = _ranked_rows(query, settings)
        rank_of = np.argsort(ranked)
        given = slice(first_pair[query.number], first_pair[query.number + 1])
        a, b = rank_of[better[given] - query.rows.start], rank_of[worse[given] - query.rows.start]
        seen = (np.minimum(a, b) < (settings.truncation or len(ranked))) | (not are_swaps(settings))
        target, own_weight = probability[given][seen].astype(np.float64), weight[given][seen].astype(np.float64)
        pairs = [_Pairs(a[seen], b[seen], target, own_weight)] if seen.any() else []
        _sum_pairs(query, ranked, worth, discount, settings, pairs, forces)


def point_lambdas(
    batch: Batch, groups: WeighedGroups, targets: Float32Array, loss: str, forces: Forces, threads: int
) -> None:
    """Fill the forces that pull each document's score to its target, by squared error or logistic loss; NaN: none."""
    for query in queries_of(batch, groups):
        own, target = query.scores, targets[query.rows].astype(np.float64)
        weight = query.weight * query.document_weights * ~np.isnan(target)
        target = np.nan_to_num(target)
        if loss == "squared":
            force, bend, height = own - target, np.ones(len(own)), 0.5 * (own - target) ** 2
        else:  # one document is a pair with an opponent of score 0
            force, bend, height = logistic(own, target, 1.0)
        query.fill(forces, weight * force, weight * bend, (weight * height).sum())


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
    for query in queries_of(batch, groups):
        gradient, curvature, cost = np.zeros(len(query.scores)), np.zeros(len(query.scores)), 0.0
        rows = np.flatnonzero(~np.isnan(shares[query.rows]))
        share = shares[query.rows][rows]
        if exponential:
            share = np.exp(share - share.max(initial=-inf))
        if noise:
            share += unit_interval(stream_of(query.stream, rows))
        share *= query.document_weights[rows]
        if share.sum() != 0.0:
            target = share / share.sum()
            own = query.scores[rows]
            log_probability = own - own.max() - np.log(np.exp(own - own.max()).sum())
            probability = np.exp(log_probability)
            gradient[rows] = query.weight * (probability - target)
            curvature[rows] = query.weight * probability * (1.0 - probability)
            cost = -query.weight * (target * log_probability).sum()
        query.fill(forces, gradient, curvature, cost)
