"""Probabilities and their log-odds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array
from rankwright.errors import InputError


def as_probabilities(values: ArrayLike, name: str) -> Float64Array:
    """`values` as float64; all must lie between 0 and 1."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must hold numbers: {error}") from None
    wrong = ~((array >= 0.0) & (array <= 1.0))
    if wrong.any():
        raise InputError(f"{name} must lie between 0 and 1, got {array[wrong].flat[0]:g}")
    return array


def log_odds(probability: ArrayLike) -> Float64Array:
    """The log-odds of a probability: log(P / (1 - P)) (RankNet, Eq. 6).

    Parameters
    ----------
    probability : float or array-like
        Probabilities, from 0 to 1.

    Returns
    -------
    array of float64
        Their log-odds: 0 at ½, infinite at 0 and 1.

    Examples
    --------
    >>> import rankwright as rw
    >>> float(rw.targets.log_odds(0.5))
    0.0
    """
    values = as_probabilities(probability, "a probability")
    with np.errstate(divide="ignore"):
        result: Float64Array = np.log(values) - np.log1p(-values)
    return result


def logistic(odds: ArrayLike) -> Float64Array:
    """The probability that has the given log-odds: e^o / (1 + e^o) (RankNet, Eq. 2).

    Parameters
    ----------
    odds : float or array-like
        Log-odds o, of any size.

    Returns
    -------
    array of float64
        The probabilities.

    Examples
    --------
    >>> import rankwright as rw
    >>> float(rw.targets.logistic(0.0))
    0.5
    """
    values = np.asarray(odds, dtype=np.float64)
    shrunk = np.exp(-np.abs(values))  # at most 1: nothing overflows
    probability: Float64Array = np.where(values >= 0, 1.0, shrunk) / (1.0 + shrunk)
    return probability
