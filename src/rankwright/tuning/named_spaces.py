"""Spaces by name, and spaces written as text: `max_leaves=7,15,31`, `learning_rate=0.01..0.3:log`, or a file of such.

A range whose ends are both whole numbers holds whole numbers; write 1.0 where 1 would mislead.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankwright.errors import FileFormatError, SettingError, UnknownNameError
from rankwright.settings.spaces import Choice, Dimension, Real, Space, Whole
from rankwright.settings.text import values_of

RANGE = ".."
LOG = ":log"
# Ganjisaffar's slides leave the number of trees open: as many as validation asks for.
ENOUGH_TREES: Mapping[str, Any] = {"n_trees": 1000, "early_stopping": 100}


@dataclass(frozen=True, slots=True)
class NamedSpace:
    """A space, and settings that go with it unless others are given."""

    space: Space
    settings: Mapping[str, Any] = field(default_factory=dict)
    summary: str = ""


NAMED_SPACES: Mapping[str, NamedSpace] = {
    "slides-a": NamedSpace(
        {
            "max_leaves": Choice((2, 4, 7, 10, 15, 20, 25)),
            "min_docs_in_leaf": Choice((0.0050, 0.0025, 0.0012)),  # shares of the rows; the slides have per cent
            "learning_rate": Choice((0.05, 0.1, 0.2, 0.3)),
            "query_fraction": Choice((0.3, 0.5, 1.0)),
            "feature_fraction": Choice((0.1, 0.3, 0.5, 1.0)),
        },
        ENOUGH_TREES,
        "1,008 configurations: TD2004 and MQ2007",
    ),
    "slides-b": NamedSpace(
        {
            "max_leaves": Choice((10, 40, 70)),
            "min_docs_in_leaf": Choice((0.0050, 0.0025, 0.0012)),
            "learning_rate": Choice((0.05, 0.1, 0.2)),
            "query_fraction": Choice((0.5, 1.0)),
            "feature_fraction": Choice((0.3, 0.5, 1.0)),
        },
        ENOUGH_TREES,
        "162 configurations: MSLR-WEB10K",
    ),
}


def space_from_text(texts: Iterable[str]) -> Space:
    """The space that texts such as `max_leaves=7,15,31` describe."""
    space: dict[str, Dimension] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not values.strip():
            raise SettingError(f"a search reads like max_leaves=7,15,31 or learning_rate=0.01..0.3:log, got {text!r}")
        space[name.strip()] = dimension_from_text(values.strip())
    return space


def dimension_from_text(text: str) -> Dimension:
    """The values that a list or a range describes."""
    if RANGE in text:
        return _range(text)
    try:
        return Choice(tuple(json.loads(f"[{text}]")))
    except json.JSONDecodeError:
        return Choice(tuple(values_of([f"value={one}"])["value"] for one in text.split(",")))


def _range(text: str) -> Dimension:
    log = text.endswith(LOG)
    ends = text.removesuffix(LOG).split(RANGE)
    numbers = [values_of([f"end={end}"])["end"] for end in ends]
    if len(numbers) != 2 or not all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers):
        raise SettingError(f"a range reads like 0.01..0.3 or 0.01..0.3:log, got {text!r}")
    low, high = numbers
    if isinstance(low, int) and isinstance(high, int):
        return Whole(low, high, log=log)
    return Real(float(low), float(high), log=log)


def space_from_name(name: str) -> NamedSpace:
    """The space of that name, or the one in a .json or .toml file: a list of values or a range for each setting."""
    if name in NAMED_SPACES:
        return NAMED_SPACES[name]
    if not name.endswith((".json", ".toml")):
        raise UnknownNameError("space", name, known=NAMED_SPACES)
    path = Path(name)
    try:
        text = path.read_text(encoding="utf-8")
        read = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (json.JSONDecodeError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(name, f"cannot be read as {path.suffix[1:].upper()}: {error}") from None
    if not isinstance(read, Mapping):
        raise FileFormatError(name, "must map names of settings to lists of values or to ranges")
    return NamedSpace({key: _dimension_of(name, key, value) for key, value in read.items()})


def _dimension_of(path: str, name: str, value: Any) -> Dimension:
    if isinstance(value, list):
        return Choice(tuple(value))
    if isinstance(value, str) and RANGE in value:
        return _range(value)
    raise FileFormatError(path, f'{name} must be a list of values or a range such as "0.01..0.3:log", got {value!r}')
