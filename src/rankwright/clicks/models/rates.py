"""Rates of rare events: counts drawn to what is usual, as strongly as the log itself suggests."""

from __future__ import annotations

from functools import cache

import numpy as np

from rankwright.arrays import Float64Array

STRENGTHS = np.geomspace(0.25, 256, 21)  # numbers of imagined trials, from which the log chooses
MOST_COUNTS = 1 << 16  # a strength is chosen by at most so many counts: more would hardly change it
LEAST_RATE = 1e-6  # a rate is never quite 0 or 1: one more event may always come


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
