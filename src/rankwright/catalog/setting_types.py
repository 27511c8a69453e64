"""Whether a setting's value is of the type its ranker's constructor names."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from rankwright.errors import SettingError


def check_types(kind: type, values: Mapping[str, Any]) -> None:
    """Raise for the first of `values` that is not what the constructor of `kind` says."""
    hints = get_type_hints(kind.__init__)  # type: ignore[misc]  # the constructor of the class itself is wanted
    for name, value in values.items():
        if name in hints and not fits(value, hints[name]):
            raise SettingError(f"{name} must be {described(hints[name])}, got {value!r}")


def fits(value: Any, hint: Any) -> bool:
    """Whether `value` is of type `hint`; a whole number does for a number, true and false do not."""
    origin = get_origin(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, choice) for choice in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    if origin is Sequence or origin is tuple:
        return isinstance(value, list | tuple) and all(fits(item, get_args(hint)[0]) for item in value)
    if origin is Mapping:
        return isinstance(value, Mapping)
    if hint in (int, float):
        return isinstance(value, int if hint is int else int | float) and not isinstance(value, bool)
    return value is None if hint is type(None) else isinstance(value, hint)


def described(hint: Any) -> str:
    """The type in words."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(described(choice) for choice in get_args(hint)))
    if origin is Literal:
        return " or ".join(map(repr, get_args(hint)))
    if origin is Sequence or origin is tuple:
        return "a list"
    if origin is Mapping:
        return "an object"
    words = {int: "a whole number", float: "a number", str: "text", bool: "true or false", type(None): "none"}
    return words.get(hint, getattr(hint, "__name__", str(hint)))
