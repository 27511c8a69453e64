"""Spaces written as text: `max_leaves=7,15,31`, `learning_rate=0.01..0.3:log`, or a file of such lines.

A range whose ends are both whole numbers holds whole numbers; write 1.0 where 1 would mislead.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rankwright.errors import FileFormatError, SettingError
from rankwright.settings.spaces import Choice, Dimension, Real, Space, Whole
from rankwright.settings.text import values_of
from rankwright.tuning.grids import NAMED_SPACES, NamedSpace, space_named

RANGE = ".."
LOG = ":log"


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
    if name in NAMED_SPACES or not name.endswith((".json", ".toml")):
        return space_named(name)
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
