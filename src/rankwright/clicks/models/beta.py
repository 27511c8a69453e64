"""Rates of rare events: counts drawn to what is usual, as strongly as the log itself suggests."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float64Array

STRENGTHS = np.geomspace(0.25, 256, 21)  # imagined trials, of which the log chooses
LEAST_RATE = 1e-6  # a rate is never quite 0 or 1: one more event may always come


def fitted_strength(events: Float64Array, trials: Float64Array, usual: Float64Array) -> float:
    """How many trials the usual rate counts for: of `STRENGTHS` the one under which the counts are most likely.

    Counts are taken as beta-binomial: rates vary around the usual one, the less the larger the strength.
    """
    from scipy.special import betaln

    seen = trials > 0
    events, trials, usual = events[seen], trials[seen], bounded(usual[seen])
    if not len(events):
        return float(STRENGTHS[-1])
    likelihoods = [
        (betaln(s * usual + events, s * (1 - usual) + trials - events) - betaln(s * usual, s * (1 - usual))).sum()
        for s in STRENGTHS
    ]
    return float(STRENGTHS[int(np.argmax(likelihoods))])


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
