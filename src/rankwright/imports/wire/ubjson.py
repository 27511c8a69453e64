"""Universal Binary JSON, as XGBoost writes it.

Lists of one type of number become arrays. Whatever the bytes say, no more is allocated than there are bytes to fill it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwright.errors import InputError

NUMBERS: Mapping[int, str] = {
    ord("i"): ">i1", ord("U"): ">u1", ord("I"): ">i2", ord("l"): ">i4", ord("L"): ">i8",
    ord("d"): ">f4", ord("D"): ">f8",
}  # fmt: skip
WHOLE = b"iUIlL"  # the types of whole numbers
CONSTANTS: Mapping[int, Any] = {ord("Z"): None, ord("T"): True, ord("F"): False}
MOST_DEPTH = 64


def parsed(content: bytes) -> Any:
    """The value that the bytes hold."""
    reader = _Reader(content)
    value = reader.value(reader.byte(), 0)
    if reader.at != len(content):
        raise InputError(f"there is something after the end of the UBJSON, at byte {reader.at}")
    return value


class _Reader:
    """A place in the bytes."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def byte(self) -> int:
        """The next byte that says something."""
        while True:
            if self.at >= len(self.content):
                raise InputError("the UBJSON is cut short")
            found = self.content[self.at]
            self.at += 1
            if found != ord("N"):
                return found

    def taken(self, length: int) -> bytes:
        if not 0 <= length <= len(self.content) - self.at:
            raise InputError(f"the UBJSON is cut short: {length} bytes are wanted at byte {self.at}")
        self.at += length
        return self.content[self.at - length : self.at]

    def value(self, kind: int, depth: int) -> Any:
        if kind in NUMBERS:
            dtype = np.dtype(NUMBERS[kind])
            return np.frombuffer(self.taken(dtype.itemsize), dtype)[0].item()
        if kind in CONSTANTS:
            return CONSTANTS[kind]
        if kind in (ord("S"), ord("C")):
            return self.taken(1 if kind == ord("C") else self.length()).decode("utf-8")
        if depth >= MOST_DEPTH:
            raise InputError("the UBJSON is nested too deeply")
        if kind == ord("["):
            return self._list(depth)
        if kind == ord("{"):
            return self._object(depth)
        raise InputError(f"the UBJSON has the unknown type {chr(kind)!r} before byte {self.at}")

    def length(self) -> int:
        kind = self.byte()
        if kind not in WHOLE:
            raise InputError(f"a length was wanted in the UBJSON at byte {self.at}")
        return int(self.value(kind, 0))

    def _size(self) -> tuple[int | None, int | None]:
        """The type and the number of a container's items, where it begins by saying so."""
        kind = count = None
        if self.content[self.at : self.at + 1] == b"$":
            self.at += 1
            kind = self.byte()
        if self.content[self.at : self.at + 1] == b"#":
            self.at += 1
            count = self.length()
        if count is not None and not 0 <= count <= len(self.content) - self.at:
            raise InputError(f"{count} items are more than the UBJSON has bytes for")
        if kind is not None and (count is None or kind in CONSTANTS):
            raise InputError("a list in the UBJSON has a type and no number of items, or no bytes for them")
        return kind, count

    def _list(self, depth: int) -> Any:
        kind, count = self._size()
        if kind is not None and count is not None and kind in NUMBERS:
            dtype = np.dtype(NUMBERS[kind])
            found = np.frombuffer(self.taken(count * dtype.itemsize), dtype)
            return found.astype(dtype.newbyteorder("="))
        items: list[Any] = []
        while count is None or len(items) < count:
            own = self.byte() if kind is None else kind
            if count is None and own == ord("]"):
                break
            items.append(self.value(own, depth + 1))
        return items

    def _object(self, depth: int) -> dict[str, Any]:
        kind, count = self._size()
        found: dict[str, Any] = {}
        n_read = 0
        while count is None or n_read < count:
            first = self.byte()
            if count is None and first == ord("}"):
                break
            if first not in WHOLE:
                raise InputError(f"a name was wanted in the UBJSON at byte {self.at}")
            name = self.taken(int(self.value(first, 0))).decode("utf-8")
            found[name] = self.value(self.byte() if kind is None else kind, depth + 1)
            n_read += 1
        return found


def written(value: Any) -> bytes:
    """The bytes of a value: objects, lists, arrays of numbers, text, numbers."""
    if isinstance(value, dict):
        return b"{" + b"".join(_text(name) + written(item) for name, item in value.items()) + b"}"
    if isinstance(value, np.ndarray):
        kinds = {np.dtype(dtype).newbyteorder("="): bytes([kind]) for kind, dtype in NUMBERS.items()}
        big = value.astype(value.dtype.newbyteorder(">"))
        return b"[$" + kinds[value.dtype] + b"#" + _whole(len(value)) + big.tobytes()
    if isinstance(value, list | tuple):
        return list_of(len(value)) + b"".join(written(item) for item in value)
    if isinstance(value, str):
        return b"S" + _text(value)
    if isinstance(value, bool):
        return b"T" if value else b"F"
    if isinstance(value, int):
        return _whole(value)
    return b"d" + struct.pack(">f", value)


def list_of(length: int) -> bytes:
    """The beginning of a list of so many values, which follow it."""
    return b"[#" + _whole(length)


def _whole(value: int) -> bytes:
    return b"L" + struct.pack(">q", value)


def _text(text: str) -> bytes:
    encoded = text.encode("utf-8")
    return _whole(len(encoded)) + encoded
