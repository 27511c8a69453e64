"""Settings written as text, such as `max_leaves=15`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from rankwright.errors import SettingError, UnknownNameError
from rankwright.settings.setting import settings_of

PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)  # .01 too, which JSON does not read
WORDS = {"True": True, "False": False, "None": None}  # as Python writes them


def values_of(settings: Iterable[str]) -> dict[str, Any]:
    """The settings that texts such as `max_leaves=15` give, by name."""
    values: dict[str, Any] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals:
            raise SettingError(f"a setting reads like max_leaves=15, got {text!r}")
        values[key.strip()] = _value_of(value.strip())
    return values


def with_none(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with None in place of the word `none`, in settings of `kind` that may be None and not that text."""
    known, found = settings_of(kind), dict(values)
    for name, value in values.items():
        if isinstance(value, str) and value.lower() == "none" and name in known and known[name].only_fits_none(value):
            found[name] = None
    return found


def check_values(kind: type, values: Mapping[str, Any], owner: str) -> None:
    """Raise for the first of `values` that is not a setting of `kind`, or not a value it can have."""
    known = settings_of(kind)
    for name, value in values.items():
        if name not in known:
            raise UnknownNameError(f"setting of {owner}", name, known=known)
        known[name].check(value)


def _value_of(text: str) -> Any:
    """What JSON reads, else the text itself."""
    if text in WORDS:
        return WORDS[text]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return float(text) if PLAIN_NUMBER.fullmatch(text) else text
