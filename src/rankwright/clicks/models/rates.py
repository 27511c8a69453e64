"""Counts of clicks, and rates of rare events: drawn to what is usual, as strongly as the log itself suggests."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float64Array, IntArray, thread_count
from rankwright.clicks.logs.click_log import PairLog

STRENGTHS = np.geomspace(0.25, 256, 21)  # numbers of imagined trials, from which the log chooses
MOST_COUNTS = 1 << 16  # a strength is chosen by at most so many counts: more would hardly change it
LEAST_RATE = 1e-6  # a rate is never quite 0 or 1: one more event may always come
LEAST_CHANCE = 1e-9  # of a click, and of none: what a model calls impossible may still be in a log


class ClickCounts(NamedTuple):
    """What is counted of each pair of a query and a document, and of each rank (names that end in `_at`)."""

    shown: IntArray
    clicks: Float64Array
    to_first: Float64Array  # how often it was shown no lower than the first click of a list
    to_last: Float64Array  # no lower than the last click
    last: Float64Array  # how often it was the last click
    mean_rank: Float64Array
    shown_at: Float64Array
    clicks_at: Float64Array
    last_at: Float64Array

    @property
    def rates_at(self) -> Float64Array:
        """The click rate of each rank."""
        rates: Float64Array = share_of(self.clicks_at, self.shown_at)
        return rates

    def of_pairs(self, values: Float64Array) -> Float64Array:
        """What values of ranks are at the mean rank of each pair."""
        return np.interp(self.mean_rank, np.arange(len(values)), values)


def counted(log: PairLog, threads: int | None) -> ClickCounts:
    """The counts of a log."""
    of_pair, at_rank = np.empty((log.n_pairs, 6), np.int64), np.empty((log.n_ranks, 3), np.int64)
    kernels.count_clicks(log.lists, of_pair, at_rank, thread_count(threads))
    clicks, to_first, to_last, last, ranks = np.ascontiguousarray(of_pair.T[1:], np.float64)
    shown, of_ranks = of_pair[:, 0], at_rank.T.astype(np.float64)
    return ClickCounts(shown, clicks, to_first, to_last, last, ranks / np.maximum(shown, 1), *of_ranks)


def share_of(events: Any, trials: Any) -> Any:
    """The share of events in trials, with half an event added on both sides, so that it is never 0 or 1."""
    return (events + 0.5) / (trials + 1)


def fitted_strength(events: Float64Array, trials: Float64Array, usual: Float64Array) -> float:
    """How many trials the usual rate counts for: of `STRENGTHS` the one under which the counts are most likely.

    Counts are taken as beta-binomial: rates vary around the usual one, the less the larger the strength. Of very many
    counts, some evenly spaced ones decide. The likelihood has one top, which is climbed by ever smaller steps.
    """
    from scipy.special import betaln

    seen = np.flatnonzero(trials > 0)
    if not len(seen):
        return float(STRENGTHS[-1])
    if len(seen) > MOST_COUNTS:
        seen = seen[np.linspace(0, len(seen) - 1, MOST_COUNTS).astype(np.int64)]
    events, trials, usual = events[seen], trials[seen], bounded(usual[seen])

    @cache
    def likelihood(place: int) -> float:
        a, b = STRENGTHS[place] * usual, STRENGTHS[place] * (1 - usual)
        return float((betaln(a + events, b + trials - events) - betaln(a, b)).sum())

    last, step = len(STRENGTHS) - 1, 4
    place = last // 2
    while step:
        best = max((max(place - step, 0), place, min(place + step, last)), key=likelihood)
        if best == place:
            step //= 2
        place = best
    return float(STRENGTHS[place])


def drawn_rates(events: Float64Array, trials: Float64Array, usual: Float64Array, strength: float) -> Float64Array:
    """The rates of events, drawn to the usual ones by so many imagined trials."""
    return bounded((events + strength * usual) / np.maximum(trials + strength, LEAST_RATE))


def bounded(rates: Float64Array) -> Float64Array:
    """Rates kept away from 0 and 1."""
    return np.clip(rates, LEAST_RATE, 1 - LEAST_RATE)


def beta_interval(
    events: Float64Array, trials: Float64Array, usual: Float64Array, strength: float, level: float
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """The standard deviation of each rate, and the interval in which it lies with the chance `level`."""
    from scipy.stats import beta

    a = strength * bounded(usual) + events
    b = strength * (1 - bounded(usual)) + np.maximum(trials - events, 0)
    deviation = np.sqrt(a * b / ((a + b) ** 2 * (a + b + 1)))
    return deviation, beta.ppf((1 - level) / 2, a, b), beta.ppf((1 + level) / 2, a, b)
