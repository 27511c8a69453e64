"""Texts as the codes of their categories, and the codes of one table as those of another.

A category's code is its place among all of them in the order of their texts, so that it does not depend on the order of
rows. Datasets and models keep the texts beside the codes: documents scored later have codes of their own, which are
translated, and a category that the model never saw is a missing value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from rankwright.arrays import Float32Array, Float64Array
from rankwright.errors import InputError

MOST_CATEGORIES = 1000  # of a column: more are names or texts, of which a model would learn nothing about new ones

Categories: TypeAlias = Mapping[str, tuple[str, ...]]  # by feature, in the order of their codes


@dataclass(frozen=True, slots=True, eq=False)
class CategoryCodes:
    """A code for each row, NaN where there is none, and the texts of the codes."""

    codes: Float64Array
    categories: tuple[str, ...]


def category_codes(name: str, values: Sequence[Any]) -> CategoryCodes:
    """The codes of a column's values, which may be texts or anything that has a text; None and NaN are missing."""
    texts = [None if _is_missing(value) else str(value) for value in values]
    categories = tuple(sorted({text for text in texts if text is not None}))
    if len(categories) > MOST_CATEGORIES:
        raise InputError(
            f"column {name!r} holds {len(categories):,} different texts, and a feature may have {MOST_CATEGORIES:,} "
            f"categories at most; leave it out with drop=, or name its role if it holds ids"
        )
    code_of: dict[str | None, float] = {text: float(code) for code, text in enumerate(categories)}
    code_of[None] = np.nan
    return CategoryCodes(np.array([code_of[text] for text in texts], np.float64), categories)


def translated(codes: Float32Array, own: Sequence[str], wanted: Sequence[str]) -> Float32Array:
    """Codes of the categories `own` as those of `wanted`; NaN where a category is not among these."""
    code_of = {text: float(code) for code, text in enumerate(wanted)}
    table = np.array([*(code_of.get(text, np.nan) for text in own), np.nan], np.float32)
    return table[np.where(np.isnan(codes), len(own), codes).astype(np.int64)]


def _is_missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")
