"""Filters as people write them: `year=1990..2000`, `price=..20`, `title=learning to rank`."""

from __future__ import annotations

from collections.abc import Sequence

from rankwright.errors import InputError, require
from rankwright.text.collections.field_kinds import DATE, LINKS, seconds_of
from rankwright.text.filters import FieldFilter
from rankwright.text.index.reading import Index

BETWEEN = ".."


def read_filters(texts: Sequence[str], index: Index) -> dict[str, FieldFilter]:
    """What documents must have, by field."""
    found: dict[str, FieldFilter] = {}
    for text in texts:
        name, equals, wanted = text.partition("=")
        require(bool(name and equals and wanted.strip()), f"a filter is FIELD=WORDS or FIELD=LOW..HIGH, got {text!r}")
        require(name not in found, f"the field {name!r} is filtered twice")
        found[name] = filter_of(name, wanted.strip(), index)
    return found


def filter_of(name: str, wanted: str, index: Index) -> FieldFilter:
    """What a field must have: words, a number or date, or what lies between two of them."""
    kinds = {one.name: one.kind for one in index.fields if one.kind != LINKS}
    if name not in kinds:
        raise InputError(f"{index.path} has no field {name!r} to filter by; it has {', '.join(kinds)}")
    if name in index.text_fields:
        return wanted
    low, between, high = wanted.partition(BETWEEN)
    if not between:
        return _number(name, low, kinds[name])
    least, most = (None if not end.strip() else _number(name, end, kinds[name]) for end in (low, high))
    require(least is not None or most is not None, f"the filter of {name!r} has neither end: give LOW..HIGH")
    return least, most


def _number(name: str, text: str, kind: str) -> float:
    value = seconds_of(text.strip()) if kind == DATE else _as_float(text)
    if value is None:
        wanted = "a date such as 2020-05-01" if kind == DATE else "a number"
        raise InputError(f"the field {name!r} must be asked for by {wanted}, or two with .. between, got {text!r}")
    return float(value)


def _as_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
