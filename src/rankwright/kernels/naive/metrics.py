"""Twins of the kernels of rankings and metrics: order and ties, gains, precision, samples of queries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from operator import mul
from typing import NamedTuple

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray, Uint64Array
from rankwright.kernels.naive.common import below, mix, slices
from rankwright.kernels.records import RankedLists


def rank_rows(scores: Float64Array, offsets: IntArray, rows: IntArray, threads: int) -> None:
    """Fill `rows` with the rows of each query, highest score first, equal scores in row order."""
    for own in slices(offsets):
        rows[own] = own.start + np.argsort(-scores[own], kind="stable")


def mark_ties(scores: Float64Array, offsets: IntArray, rows: IntArray, tied: BoolArray, threads: int) -> None:
    """Fill `tied` with whether the document at a rank has the score of the one before it in its query."""
    tied[:1] = False
    tied[1:] = scores[rows[1:]] == scores[rows[:-1]]
    tied[offsets[offsets < len(tied)]] = False


def order_ties(keys: Float64Array, tied: BoolArray, rows: IntArray, threads: int) -> None:
    """Put the rows of each run of tied ranks in the order of their keys, lowest first, equal keys in row order."""
    run_of_rank = np.cumsum(~tied)
    rows[:] = rows[np.lexsort((rows, keys[rows], run_of_rank))]


GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # what splitmix64 adds from word to word


class _List(NamedTuple):
    rows: list[int]
    n_ranked: int
    runs: list[tuple[int, list[int]]]  # the first rank and the rows of each run of equally placed documents


def _each(lists: RankedLists) -> Iterator[tuple[int, _List]]:
    for query, (own, n_ranked) in enumerate(zip(slices(lists.offsets), lists.n_ranked.tolist(), strict=True)):
        rows, tied = lists.rows[own].tolist(), lists.tied[own].tolist()
        starts = [rank for rank in range(n_ranked) if rank == 0 or not tied or not tied[rank]]
        yield query, _List(rows, n_ranked, [(start, rows[start:end]) for start, end in pairwise([*starts, n_ranked])])


def exponential_gains(labels: Float32Array, gains: Float64Array, threads: int) -> None:
    """Fill `gains` with 2^label - 1."""
    gains[:] = [math.exp2(label) - 1.0 for label in labels.tolist()]


def _expected_gains(gains: Float64Array, ranked: _List) -> list[float]:
    expected = []
    for _, run in ranked.runs:
        expected += [sum(gains[run].tolist(), 0.0) / len(run)] * len(run)
    return expected


def _discounted(gains: list[float], discounts: Float64Array) -> Float64Array:
    """The discounted gain of the first 0, 1, 2, … ranks, added up from first to last."""
    return np.cumsum([0.0, *map(mul, gains, discounts.tolist())])


def discounted_gains(
    gains: Float64Array,
    lists: RankedLists,
    discounts: Float64Array,
    found: Float64Array,
    ideal: Float64Array,
    threads: int,
) -> None:
    """Fill, for each query, the gain of its list discounted by rank, and the most that any order has."""
    for query, ranked in _each(lists):
        best = sorted(gains[ranked.rows].tolist(), reverse=True)
        found[query] = _discounted(_expected_gains(gains, ranked), discounts)[-1]
        ideal[query] = _discounted(best, discounts)[-1]


def mean_gain_shares(
    gains: Float64Array, lists: RankedLists, discounts: Float64Array, means: Float64Array, threads: int
) -> None:
    """Fill, for each query, the mean over p of the gain of its top p ranks as a share of the best possible."""
    for query, ranked in _each(lists):
        best = sorted(gains[ranked.rows].tolist(), reverse=True)
        if not best or best[0] == 0.0:
            means[query] = math.nan
            continue
        found, ideal = _discounted(_expected_gains(gains, ranked), discounts), _discounted(best, discounts)
        shares = np.cumsum([0.0, *(found[1:] / ideal[1 : len(found)])])[-1]
        means[query] = shares / max(ranked.n_ranked, 1)


def precision_sums(
    relevant: BoolArray, lists: RankedLists, cutoff: int, sums: Float64Array, n_relevant: IntArray, threads: int
) -> None:
    """Fill, for each query, the sum of the precisions at its relevant documents above `cutoff`, and their number."""
    for query, ranked in _each(lists):
        n_relevant[query] = int(relevant[ranked.rows].sum())
        total, n_above = 0.0, 0
        for start, run in ranked.runs:
            n_hits = int(relevant[run].sum())
            for place in range(min(len(run), cutoff - start) if n_hits else 0):
                # A relevant document is here with probability hits / run; the run's other relevant ones are equally
                # likely at each of its other places, so some come before.
                before = place * (n_hits - 1.0) / (len(run) - 1.0) if place else 0.0
                total += n_hits / len(run) * (n_above + 1.0 + before) / (start + place + 1)
            n_above += n_hits
        sums[query] = total


def read_until_satisfied(
    stop: Float64Array, lists: RankedLists, cutoff: int, reciprocal: Float64Array, stopped: Float64Array, threads: int
) -> None:
    """Fill the expected reciprocal rank where a reader stops, and the probability that they stop, above `cutoff`."""
    for query, ranked in _each(lists):
        total, reading = 0.0, 1.0
        for start, run in ranked.runs:
            depth = min(len(run), cutoff - start)
            if depth <= 0 or reading <= 0.0:
                break
            stops = stop[run].tolist()
            if len(run) == 1:
                total += reading * stops[0] / (start + 1)
                reading *= 1.0 - stops[0]
            elif all(value in (0.0, 1.0) for value in stops):
                total, reading = _read_binary_run(total, reading, start, depth, stops)
            else:
                past = _chances_to_pass(stops)
                for place in range(depth):
                    total += reading * (past[place] - past[place + 1]) / (start + place + 1)
                reading *= past[depth]
        reciprocal[query], stopped[query] = total, 1.0 - reading


def _read_binary_run(total: float, reading: float, start: int, depth: int, stops: list[float]) -> tuple[float, float]:
    n_hits = sum(value == 1.0 for value in stops)
    for place in range(depth):
        n_left = len(stops) - place
        if reading <= 0.0:
            break
        total += reading * (n_hits / n_left) / (start + place + 1)
        reading *= (n_left - n_hits) / n_left
    return total, reading


def _chances_to_pass(stops: list[float]) -> list[float]:
    """Entry j: the mean, over all sets of j of the documents, of the product of their chances not to stop."""
    past = [1.0] + [0.0] * len(stops)
    for met, value in enumerate(stops, start=1):
        for j in range(met, 0, -1):
            past[j] = past[j] * ((met - j) / met) + past[j - 1] * (1.0 - value) * (j / met)
    return past


def wrong_pairs(
    labels: Float32Array, lists: RankedLists, wrong: Float64Array, n_pairs: Float64Array, threads: int
) -> None:
    """Fill, for each query, how many pairs have different labels and how many of them are in the wrong order."""
    for query, ranked in _each(lists):
        place = np.full(len(ranked.rows), ranked.n_ranked)  # documents not retrieved are tied at the end
        for start, run in ranked.runs:
            place[start : start + len(run)] = start
        label = labels[ranked.rows]
        better_first = label[:, None] > label
        not_above = place[:, None] >= place
        half_wrong = (place[:, None] == place) & (place < ranked.n_ranked)
        wrong[query] = (better_first & not_above).sum() - (better_first & half_wrong).sum() / 2
        n_pairs[query] = better_first.sum()


def bootstrap_means(values: Float64Array, weights: Float64Array, seed: int, means: Float64Array, threads: int) -> None:
    """Fill `means` with weighted means of as many values as there are, drawn again with replacement."""
    for resample in range(len(means)):
        drawn = below(_random_words(seed, resample, len(values)), len(values))
        # cumsum adds from first to last, as the kernel does; sum would add in pairs.
        means[resample] = np.cumsum(weights[drawn] * values[drawn])[-1] / np.cumsum(weights[drawn])[-1]


def random_sign_sums(values: Float64Array, seed: int, sums: Float64Array, threads: int) -> None:
    """Fill `sums` with sums of the values, each with a sign drawn at random."""
    for resample in range(len(sums)):
        words = _random_words(seed, resample, -(-len(values) // 64))
        bits = (words[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
        signed = np.where(bits.ravel()[: len(values)] == 1, -values, values)
        sums[resample] = np.cumsum(signed)[-1] if len(values) else 0.0


@np.errstate(over="ignore")  # the arithmetic is meant to wrap around
def _random_words(seed: int, resample: int, n_words: int) -> Uint64Array:
    """The first words of splitmix64, from a start of the resample's own."""
    start = mix(np.asarray(np.uint64(seed) + GOLDEN * np.uint64(resample)))
    return mix(start + GOLDEN * np.arange(n_words, dtype=np.uint64))
