"""How large a mean difference is beside its spread over queries, and how small a one so many queries could show.

`n` is a number of queries. With unequal weights it is the number of equally weighted ones that would tell as much:
(the sum of the weights)² / the sum of their squares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import stdtr, stdtrit

from rankwright.arrays import Float64Array
from rankwright.metrics.confidence_intervals import weighted_mean

LEVEL = 0.05  # of the t-test that would be made
POWER = 0.8  # how often that test is to find the difference
ROUNDING = 1e-12  # spreads this small, as a share of the largest difference, are taken for 0
MOST_QUERIES = 10**12  # nobody can judge more
# Cohen's words for d_z, each from this value on.
WORDS = ((0.8, "large"), (0.5, "medium"), (0.2, "small"), (0.0, "tiny"))


@dataclass(frozen=True, slots=True)
class PairedEffect:
    """The spread of differences over queries, and what follows from it; NaN where there is a single query.

    Attributes
    ----------
    standard_error : float
        The standard error of the mean difference.
    t_p_value : float
        The two-sided p-value of the paired t-test.
    size : float
        Cohen's d_z: the mean difference in standard deviations of the differences. Infinite where every query differs
        by the same amount.
    detectable : float
        The smallest mean difference that a t-test at the 5 % level finds in 80 % of samples of so many queries.
    needed : int or None
        How many queries such a test needs to find a difference as large as this one; None where there is none.
    """

    standard_error: float
    t_p_value: float
    size: float
    detectable: float
    needed: int | None


def effect_of(differences: Float64Array, weights: Float64Array) -> PairedEffect:
    """The effect that differences by query show, one or more of them, all of weights above 0."""
    mean = weighted_mean(differences, weights)
    shares = weights / weights.sum()
    concentration = float(shares @ shares)
    n = 1 / concentration
    if len(differences) < 2:
        return PairedEffect(math.nan, math.nan, math.nan, math.nan, None)
    variance = float(shares @ (differences - mean) ** 2) / (1 - concentration)
    deviation = math.sqrt(variance) if math.sqrt(variance) > ROUNDING * float(abs(differences).max()) else 0.0
    error = deviation / math.sqrt(n)
    if deviation == 0:
        size = math.copysign(math.inf, mean) if mean else 0.0
        return PairedEffect(0.0, 0.0 if mean else 1.0, size, 0.0, 2 if mean else None)
    p_value = 2 * float(stdtr(n - 1, -abs(mean) / error))
    return PairedEffect(error, p_value, mean / deviation, _multiple(n) * error, queries_needed(mean / deviation))


def queries_needed(size: float) -> int | None:
    """The least number of queries on which the t-test finds an effect of this size; None where there is no effect."""
    if not size or math.isnan(size):
        return None
    enough = 2
    while _multiple(enough) / math.sqrt(enough) > abs(size):
        enough *= 2
        if enough > MOST_QUERIES:
            return None
    few = max(enough // 2, 1)  # too few, unless 2 are enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if _multiple(middle) / math.sqrt(middle) <= abs(size) else (middle, enough)
    return enough


def _multiple(n: float) -> float:
    """How many standard errors a difference must have to be found: the test's threshold, and what its power adds."""
    return float(stdtrit(n - 1, 1 - LEVEL / 2) + stdtrit(n - 1, POWER))


def word_of(size: float) -> str:
    """An effect size in a word: tiny, small, medium or large; nothing where it is unknown."""
    return "" if math.isnan(size) else next(word for least, word in WORDS if abs(size) >= least)
