"""Settings as people write and read them: texts like `max_leaves=15`, rows of a table, a docstring's `Parameters`."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping
from inspect import cleandoc
from typing import Any

from rankwright.errors import SettingError, UnknownNameError
from rankwright.settings.other_names import meant_by
from rankwright.settings.setting import Setting, settings_of
from rankwright.settings.shared import AimedSettings, PatientSettings, RankerSettings, ScaledSettings
from rankwright.settings.spaces import Choice, Dimension

PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)  # .01 too, which JSON does not read
WORDS = {"True": True, "False": False, "None": None}  # as Python writes them
WIDTH = 88  # of a line in a docstring, as `help` shows it
# In this order, which `settings_of` does not keep: a subclass's settings come after those of its bases.
SHARED = (AimedSettings, PatientSettings, ScaledSettings, RankerSettings)
LATER_SECTIONS = ("Attributes\n", "Examples\n", "Notes\n")  # what numpydoc has below the parameters


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
            raise UnknownNameError(f"setting of {owner}", name, known=known, meant=meant_by(name, known))
        known[name].check(value)


def _value_of(text: str) -> Any:
    """What JSON reads, else the text itself."""
    if text in WORDS:
        return WORDS[text]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return float(text) if PLAIN_NUMBER.fullmatch(text) else text


def setting_rows(kind: type) -> list[dict[str, Any]]:
    """A row for each setting: its name, what it may be, its default, where a search looks, and what it does."""
    return [
        {
            "name": one.name,
            "default": one.default,
            "allowed": one.allowed,
            "search": None if one.spec.search is None else search_text(one.spec.search),
            "text": one.text,
        }
        for one in _in_order(kind)
    ]


def search_text(dimension: Dimension) -> str:
    """Where a search looks, in words."""
    if isinstance(dimension, Choice):
        return ", ".join(map(str, dimension.values))
    return f"{dimension.low:g} to {dimension.high:g}" + (", logarithmic" if dimension.log else "")


def complete_docstring(kind: type, summary: str) -> str:
    """The docstring of a ranker: its summary, its own text, and a `Parameters` section made from its settings."""
    own = cleandoc(kind.__dict__.get("__doc__") or "")
    places = [place for name in LATER_SECTIONS if (place := own.find(f"{name}{'-' * (len(name) - 1)}")) >= 0]
    cut = min(places, default=len(own))
    parts = [summary, own[:cut].strip(), parameters_section(kind), own[cut:].strip()]
    return "\n\n".join(part for part in parts if part) + "\n"


def parameters_section(kind: type) -> str:
    """The settings of a dataclass as numpydoc's `Parameters` section."""
    return "\n".join(["Parameters", "----------", *map(_entry, _in_order(kind))])


def _entry(one: Setting) -> str:
    text = one.text
    if one.spec.search is not None:
        text += f" A search looks at {search_text(one.spec.search)}."
    head = f"{one.name} : {one.allowed}, default {one.default!r}"
    return "\n".join([head, textwrap.indent(textwrap.fill(text, WIDTH - 4), "    ")])


def _in_order(kind: type) -> list[Setting]:
    """The settings of a kind, its own first and those that most kinds have at the end."""
    common = settings_of(RankerSettings)
    shared = [name for one in SHARED[:-1] for name in settings_of(one) if name not in common] + list(common)
    return sorted(settings_of(kind).values(), key=lambda one: one.name in shared and 1 + shared.index(one.name))
