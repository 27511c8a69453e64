"""Whether a value is of the type that a setting names, and that type in words."""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false", type(None): "none"}


def fits(value: Any, hint: Any) -> bool:
    """Whether `value` is of type `hint`; a whole number counts as a number, true and false do not."""
    origin = get_origin(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, choice) for choice in get_args(hint))
    if origin is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if origin is Sequence:
        return isinstance(value, list | tuple | np.ndarray) and all(fits(item, get_args(hint)[0]) for item in value)
    if origin is tuple:
        return isinstance(value, list | tuple | np.ndarray) and _all_fit(value, get_args(hint))
    if origin is Callable:
        return callable(value) and not isinstance(value, type)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(_all_fit(entry, get_args(hint)) for entry in value.items())
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool)
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    return value is None if hint is type(None) else isinstance(value, hint)


def _all_fit(values: Collection[Any] | np.ndarray[Any, Any], hints: Sequence[Any]) -> bool:
    """Whether the values are of these types, one of each; or all of the first, where `...` follows it."""
    if hints[-1] is ...:
        return all(fits(value, hints[0]) for value in values)
    return len(values) == len(hints) and all(map(fits, values, hints))


def described(hint: Any, limits: str = "", names: Sequence[str] = ()) -> str:
    """The type in words; `limits` is the range of its numbers, `names` are the allowed texts."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        parts = list(dict.fromkeys(described(choice, limits, names) for choice in get_args(hint)))
        return (", or " if any("," in part for part in parts) else " or ").join(parts)
    if origin is Literal or (hint is str and names):
        return " or ".join(map(repr, names or get_args(hint)))
    if origin is Sequence or origin is tuple:
        return "a list"
    if origin is Mapping:
        return "an object"
    if origin is Callable:
        return "a function"
    words = WORDS.get(hint, getattr(hint, "__name__", str(hint)))
    return f"{words}, {limits}" if limits and hint in (int, float) else words
