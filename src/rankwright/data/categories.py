"""Texts as the codes of their categories, and the codes of one table as those of another.

A category's code is its place among all of them in the order of their texts, so that it does not depend on the order of
rows. Datasets and models keep the texts beside the codes: documents scored later have codes of their own, which are
translated, and a category that the model never saw is a missing value.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from rankwright.arrays import Float32Array, Float64Array
from rankwright.errors import InputError, Parameter

MOST_CATEGORIES = 1000  # of a column: more are names or free texts, from which a model learns nothing about new ones

TRUTH_VALUES: Mapping[str, float] = {"False": 0.0, "True": 1.0}

Categories: TypeAlias = Mapping[str, tuple[str, ...]]  # by feature, in the order of their codes


@dataclass(frozen=True, slots=True, eq=False)
class CategoryCodes:
    """A code for each row, NaN where there is none, and the texts of the codes."""

    codes: Float64Array
    categories: tuple[str, ...]


def category_codes(name: str, values: Sequence[Any]) -> CategoryCodes:
    """The codes of a column's values, which may be texts or anything that has a text; None and NaN are missing."""
    return codes_in(values, in_code_order(name, texts_among(values)))


def codes_in(values: Sequence[Any], categories: Sequence[str]) -> CategoryCodes:
    """The codes of values where the categories are known; NaN where a value is missing or is none of them."""
    code_of = {text: float(code) for code, text in enumerate(categories)}
    codes = [np.nan if is_missing(value) else code_of.get(str(value), np.nan) for value in values]
    return CategoryCodes(np.array(codes, np.float64), tuple(categories))


def texts_among(values: Sequence[Any]) -> set[str]:
    """The texts of the values that are not missing."""
    return {str(value) for value in values if not is_missing(value)}


def in_code_order(name: str, texts: Collection[str]) -> tuple[str, ...]:
    """The categories of a column that holds these texts, in the order of their codes."""
    if len(texts) > MOST_CATEGORIES:
        found = f"column {name!r} holds {len(texts):,} different texts, and a feature may have {MOST_CATEGORIES:,} "
        advice = "categories at most; leave it out with ", Parameter("drop"), ", or name its role if it holds ids"
        raise InputError(found, *advice)
    return tuple(sorted(texts))


def translated_codes(codes: Float32Array, categories: Sequence[str], wanted: Sequence[str]) -> Float32Array:
    """Codes of `categories` as those of `wanted`; NaN where a category is not among these."""
    code_of = {text: float(code) for code, text in enumerate(wanted)}
    return decoded(codes, [code_of.get(text, np.nan) for text in categories])


def decoded(codes: Float32Array, values: Sequence[float]) -> Float32Array:
    """The values that codes stand for; NaN where there is no code."""
    table = np.array([*values, np.nan], np.float32)
    return table[np.where(np.isnan(codes), len(values), codes).astype(np.int64)]


def numbers_of_categories(categories: Sequence[str]) -> list[float] | None:
    """The numbers that the texts of categories are, as those of pandas may be; None where one is no finite number."""
    try:
        numbers = [TRUTH_VALUES[text] if text in TRUTH_VALUES else float(text) for text in categories]
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def is_missing(value: Any) -> bool:
    """Whether a value says that there is none."""
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")
