"""Decimal text to float32 and back, as the twins of all text kernels do it."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf|infinity)|null", re.IGNORECASE)


def nearest_float32(text: bytes) -> np.float32:
    """The float32 nearest to a number's text, ties to even.

    Rounding to a double and then to float32 gives it, except where the double lies halfway between two float32:
    then the text itself says on which side the number is.
    """
    double = float("nan" if text.lower() == b"null" else text)
    with np.errstate(over="ignore"):
        single = np.float32(double)
        neighbours = np.nextafter(single, np.float32(-np.inf)), np.nextafter(single, np.float32(np.inf))
    for neighbour in neighbours:
        if np.isfinite(double) and 2 * double == _as_rounded(single) + _as_rounded(neighbour):
            exact = Fraction(text.decode())
            if exact != Fraction(double):
                return max(single, neighbour) if exact > Fraction(double) else min(single, neighbour)
    return single


def _as_rounded(value: np.float32) -> float:
    """The number itself; for infinity the power of two that rounding treats as the next number."""
    return float(value) if np.isfinite(value) else 2.0**128 * float(np.sign(value))


def number_text(value: Any) -> str:
    """The fewest digits that read back to the same float32; an exponent only below 1e-5 and from 1e9."""
    size = abs(value)
    if np.isnan(value):
        return "nan"
    sign = "-" if np.signbit(value) else ""
    if np.isinf(value):
        return sign + "inf"
    if size < 1e9 and size == np.trunc(size):
        return f"{sign}{int(size)}"
    if np.float32(1e-5) <= size < 1e9:
        return sign + np.format_float_positional(size, unique=True, trim="-")
    return sign + np.format_float_scientific(size, unique=True, trim="-", exp_digits=2)
