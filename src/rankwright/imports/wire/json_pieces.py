"""Large JSON read piece by piece: the trees of a model, one at a time, so that memory holds one of them.

`pieces` walks to a list deep inside a document and gives its items to a function; the rest of the document comes back
as ordinary values, with an empty list in that place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from rankwright.errors import InputError

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
MOST_DEPTH = 64  # of objects that are walked through


def pieces(text: str, path: Sequence[str], take: Callable[[Any], None]) -> Any:
    """The document without the list at `path`, whose items are given to `take` one after another."""
    value, end = _walk(text, _skip(text, 0), tuple(path), take, 0)
    if _skip(text, end) != len(text):
        raise InputError(f"there is something after the end of the JSON, at letter {end}")
    return value


def _walk(text: str, at: int, path: tuple[str, ...], take: Callable[[Any], None], depth: int) -> tuple[Any, int]:
    if depth > MOST_DEPTH:
        raise InputError("the JSON is nested too deeply")
    if not path and text[at : at + 1] == "[":
        return _items(text, at, take)
    if path and text[at : at + 1] == "{":
        return _members(text, at, path, take, depth)
    return _value(text, at)


def _members(
    text: str, at: int, path: tuple[str, ...], take: Callable[[Any], None], depth: int
) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    at = _skip(text, at + 1)
    if text[at : at + 1] == "}":
        return found, at + 1
    while True:
        key, at = _value(text, at)
        if not isinstance(key, str):
            raise InputError(f"a name was wanted in the JSON at letter {at}")
        at = _expect(text, _skip(text, at), ":")
        if key == path[0]:
            found[key], at = _walk(text, at, path[1:], take, depth + 1)
        else:
            found[key], at = _value(text, at)
        at = _skip(text, at)
        if text[at : at + 1] == "}":
            return found, at + 1
        at = _expect(text, at, ",")


def _items(text: str, at: int, take: Callable[[Any], None]) -> tuple[list[Any], int]:
    at = _skip(text, at + 1)
    if text[at : at + 1] == "]":
        return [], at + 1
    while True:
        item, at = _value(text, at)
        take(item)
        at = _skip(text, at)
        if text[at : at + 1] == "]":
            return [], at + 1
        at = _expect(text, at, ",")


def _value(text: str, at: int) -> tuple[Any, int]:
    return _DECODER.raw_decode(text, at)


def _expect(text: str, at: int, sign: str) -> int:
    if text[at : at + 1] != sign:
        raise InputError(f"{sign!r} was wanted in the JSON at letter {at}: it is damaged or cut short")
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()
