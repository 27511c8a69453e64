"""Queries cut into slices by a value that each of them has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.errors import require

SLICES = 4
MOST_KINDS = 12  # texts of more kinds are cut by their numbers of words
MISSING = "missing"


@dataclass(frozen=True, slots=True, eq=False)
class Slicing:
    """Which slice each query is in: the place of its name in `names`."""

    by: str
    names: tuple[str, ...]
    slice_of: IntArray


def cut(by: str, values: Sequence[Any], n_slices: int = SLICES) -> Slicing:
    """The queries cut by their values: numbers at quantiles, texts by what they say or how many words they have.

    Queries without a value (NaN, None or an empty text) have a slice of their own, the last one.
    """
    require(n_slices >= 2, f"slices must be 2 or more, got {n_slices}")
    given = list(values)
    if all(isinstance(value, str) or value is None for value in given):
        kinds = sorted({value for value in given if value})
        if len(kinds) <= MOST_KINDS:
            place_of = {kind: place for place, kind in enumerate(kinds)}
            return _named(by, kinds, np.array([place_of.get(value, -1) for value in given], np.int64))
        by = f"words of {by}"
        given = [len(value.split()) if value else None for value in given]
    return _cut_numbers(by, np.array([np.nan if value is None else value for value in given], np.float64), n_slices)


def _cut_numbers(by: str, values: Float64Array, n_slices: int) -> Slicing:
    known = ~np.isnan(values)
    distinct = np.unique(values[known])
    if len(distinct) <= n_slices:
        place = np.searchsorted(distinct, values)
        return _named(by, [f"{value:g}" for value in distinct], np.where(known, place, -1))
    ends = np.unique(np.quantile(values[known], np.arange(1, n_slices) / n_slices, method="lower"))
    place = np.where(known, np.searchsorted(ends, values), -1)  # a slice has values up to its end
    used, place_of_known = np.unique(place[known], return_inverse=True)
    place[known] = place_of_known
    of_slices = [values[place == number] for number in range(len(used))]
    return _named(by, [_ends(own.min(), own.max()) for own in of_slices], place)


def _ends(low: float, high: float) -> str:
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _named(by: str, names: Sequence[str], place: IntArray) -> Slicing:
    """The slicing; places below 0 become that of the missing values."""
    missing = place < 0
    every = (*names, *([MISSING] if missing.any() else []))
    return Slicing(by, every, np.where(missing, len(names), place).astype(np.int64))
