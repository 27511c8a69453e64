"""Filters: which documents of an index have certain values in certain fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankwright.errors import InputError
from rankwright.text.index.reading import Index
from rankwright.text.index.segments import Segment

FieldFilter: TypeAlias = "float | str | tuple[float | None, float | None]"


def kept_documents(index: Index, where: Mapping[str, FieldFilter] | None) -> NDArray[np.uint8]:
    """1 for each document that has what is asked for, else 0; empty where nothing is asked."""
    if not where:
        return np.empty(0, np.uint8)
    kept = np.ones(index.n_documents, np.bool_)
    for field, wanted in where.items():
        kept &= _having(index, field, wanted)
    return kept.astype(np.uint8)


def _having(index: Index, field: str, wanted: FieldFilter) -> NDArray[np.bool_]:
    if field in index.text_fields:
        if not isinstance(wanted, str):
            raise InputError(f"the field {field!r} is text, and must be asked for by words, got {wanted!r}")
        terms = index.analyser.terms(wanted)
        if not terms:
            raise InputError(f"the words asked for in the field {field!r} are stop words or none, got {wanted!r}")
        return np.concatenate([_with_phrase(segment, field, terms) for segment in index.segments])
    if field not in index.number_fields:
        known = ", ".join((*index.text_fields, *index.number_fields))
        raise InputError(f"{index.path} has no field {field!r} to filter by; it has {known}")
    low, high = _limits(field, wanted)
    values = index.numbers(field)
    return (values >= low) & (values <= high)  # not where there is none


def _limits(field: str, wanted: FieldFilter) -> tuple[float, float]:
    pair = wanted if isinstance(wanted, tuple | list) else (wanted, wanted)
    is_pair = len(pair) == 2 and all(
        limit is None or (isinstance(limit, int | float) and not isinstance(limit, bool)) for limit in pair
    )
    if not is_pair:
        raise InputError(f"the field {field!r} must be asked for by a number or a pair (least, most), got {wanted!r}")
    low, high = pair
    return (-np.inf if low is None else float(low), np.inf if high is None else float(high))


def _with_phrase(segment: Segment, field: str, terms: list[str]) -> NDArray[np.bool_]:
    """Which documents have the terms next to each other in the field."""
    offsets, tokens = segment.stream(field)
    numbers = segment.numbers_of(terms)
    n = len(numbers)
    found = np.zeros(segment.n_documents, np.bool_)
    at = np.flatnonzero(tokens[: max(len(tokens) - n + 1, 0)] == numbers[0])
    for place in range(1, n):
        at = at[tokens[at + place] == numbers[place]]
    documents = np.searchsorted(offsets, at, side="right") - 1
    found[documents[at + n <= offsets[documents + 1]]] = True
    return found
