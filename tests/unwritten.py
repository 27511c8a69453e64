"""Memory that nobody wrote, made visible.

Kernels fill arrays that NumPy made without clearing them. On the debug build such arrays hold a pattern from the start,
NaN or the lowest number, so that a test fails wherever a kernel leaves a place out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np


def pattern_of(dtype: np.dtype[Any]) -> Any:
    """What a place holds that was not written yet; None for types that have no such value."""
    if dtype.kind in "fc":
        return np.nan
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max
    return True if dtype.kind == "b" else None


def fill_new_memory() -> None:
    """Let `np.empty` and `np.empty_like` fill what they return with the pattern, from now on."""
    for name in ("empty", "empty_like"):
        setattr(np, name, _filling(getattr(np, name)))


def _filling(make: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(make)
    def filled(*given: Any, **more: Any) -> Any:
        made = make(*given, **more)
        pattern = pattern_of(made.dtype)
        if pattern is not None:
            made[...] = pattern
        return made

    return filled
