"""Decimal text to float32 and back, as the twins of all text kernels do it."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf|infinity)|null", re.IGNORECASE)
FLOAT32_DIGITS = 24  # binary ones
SMALLEST_FLOAT32_EXPONENT = -149  # of the smallest number above 0


@lru_cache(maxsize=1 << 16)
def nearest_float32(text: bytes) -> np.float32:
    """The float32 nearest to a number's text, ties to even.

    Around a number, float32 are the multiples of a power of two. Rounding the nearest double to such a multiple is
    right, except where it lies halfway between two: then the text itself says on which side the number is.
    """
    double = float("nan" if text.lower() == b"null" else text)
    if not math.isfinite(double) or double == 0:
        return np.float32(double)
    exponent = max(math.frexp(double)[1] - FLOAT32_DIGITS, SMALLEST_FLOAT32_EXPONENT)
    units = math.ldexp(double, -exponent)
    if units - math.floor(units) == 0.5:
        multiple = round(Fraction(text.decode()) / Fraction(2) ** exponent)
    else:
        multiple = round(units)
    size = abs(math.ldexp(multiple, exponent))
    return np.float32(math.copysign(math.inf if size >= 2.0**128 else size, double))


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
