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


def pieces(text: str, path: Sequence[str], take: Callable[[Any], None]) -> Any:
    """The document without the list at `path`, whose items are given to `take` one after another."""
    value, end = _walk(text, _skip(text, 0), path, take)
    if _skip(text, end) != len(text):
        raise InputError(f"there is something after the end of the JSON, at letter {end}")
    return value


def _walk(text: str, at: int, path: Sequence[str], take: Callable[[Any], None]) -> tuple[Any, int]:
    """The value that begins at `at`, and where it ends."""
    found: dict[str, Any] = {}

    def item(at: int) -> int:
        value, end = _DECODER.raw_decode(text, at)
        take(value)
        return end

    def member(at: int) -> int:
        key, at = _DECODER.raw_decode(text, at)
        if not isinstance(key, str):
            raise InputError(f"a name was wanted in the JSON at letter {at}")
        at = _expect(text, _skip(text, at), ":")
        found[key], end = _walk(text, at, path[1:], take) if key == path[0] else _DECODER.raw_decode(text, at)
        return end

    if not path and text.startswith("[", at):
        return [], _each(text, at, "]", item)
    if path and text.startswith("{", at):
        return found, _each(text, at, "}", member)
    return _DECODER.raw_decode(text, at)


def _each(text: str, at: int, closing: str, read: Callable[[int], int]) -> int:
    """Where the list or object that begins at `at` ends; `read` takes an item from where it begins to where it ends."""
    at = _skip(text, at + 1)
    if text.startswith(closing, at):
        return at + 1
    while True:
        at = _skip(text, read(at))
        if text.startswith(closing, at):
            return at + 1
        at = _expect(text, at, ",")


def _expect(text: str, at: int, sign: str) -> int:
    if not text.startswith(sign, at):
        raise InputError(f"{sign!r} was wanted in the JSON at letter {at}: it is damaged or cut short")
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()
