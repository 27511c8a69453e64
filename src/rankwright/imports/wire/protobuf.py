"""The wire format of Protocol Buffers, as far as ONNX files need it: fields by number, and their bytes.

Nothing is allocated by what a length says before there are as many bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import IntArray
from rankwright.errors import InputError, require_input

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

SHORT = 16  # bytes: a field of no more is kept as bytes, since a view of them takes ten times their memory
MOST_SHARED = 4096  # so many different short fields of a message are kept once each
PIECE = 2**16  # bytes of packed numbers that are read, or numbers that are written, at once

Message = dict[int, list[Any]]  # by field number, in the order they came


def message_of(content: memoryview | bytes) -> Message:
    """The fields of a message: whole numbers, or memory that holds text, numbers or a message."""
    found: Message = {}
    shared: dict[bytes, bytes] = {}
    view = memoryview(content)
    at = 0
    while at < len(view):
        key, at = _varint(view, at)
        kind = key & 7
        value: int | memoryview | bytes
        if kind == VARINT:
            value, at = _varint(view, at)
        else:
            length = 8 if kind == FIXED64 else 4
            if kind == BYTES:
                length, at = _varint(view, at)
            elif kind not in (FIXED64, FIXED32):
                raise InputError(f"the file has a field of the unknown kind {kind}")
            if length > len(view) - at:
                raise InputError("the file is cut short")
            value = view[at : at + length]
            if length <= SHORT:
                own = bytes(value)
                value = shared.setdefault(own, own) if len(shared) < MOST_SHARED else own
            at += length
        found.setdefault(key >> 3, []).append(value)
    return found


def _varint(view: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(view) and shift < 70:
        byte = view[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise InputError("the file is cut short, or a number in it is too long")


def text(value: Any) -> str:
    """A field that holds text."""
    return bytes(value).decode("utf-8")


def whole(value: int) -> int:
    """A whole number, which may be negative."""
    return value - 2**64 if value >= 2**63 else value


def floats(values: Iterable[Any], dtype: str = "<f4") -> NDArray[Any]:
    """Numbers of a repeated field, packed or not."""
    joined = b"".join(bytes(value) for value in values)
    if len(joined) % np.dtype(dtype).itemsize:
        raise InputError("numbers in the file are cut short")
    return np.frombuffer(joined, dtype)


def wholes(values: Iterable[Any]) -> IntArray:
    """Whole numbers of a repeated field, packed or not."""
    parts = [np.empty(0, np.int64)]
    for value in values:
        parts += [np.array([whole(value)], np.int64)] if isinstance(value, int) else _packed(value)
    return np.concatenate(parts)


def _packed(value: memoryview | bytes) -> list[IntArray]:
    """Packed varints, in pieces: what unpacks them takes many times their memory."""
    content = np.frombuffer(value, np.uint8)
    parts, at = [], 0
    while at < len(content):
        stop = min(at + PIECE, len(content))
        while stop < len(content) and content[stop - 1] >= 0x80:  # not amid a number
            stop += 1
        parts.append(_piece(content[at:stop]))
        at = stop
    return parts


def _piece(content: NDArray[np.uint8]) -> IntArray:
    """Whole varints: seven bits a byte, the last byte of each below 128."""
    ends = np.flatnonzero(content < 0x80)
    require_input(len(ends) != 0 and ends[-1] == len(content) - 1, "numbers in the file are cut short")
    starts = np.concatenate([[0], ends[:-1] + 1]).astype(np.int64)
    place = np.arange(len(content)) - np.repeat(starts, ends - starts + 1)
    if place.max() > 9:
        raise InputError("a number in the file is too long")
    bits = (content & 0x7F).astype(np.uint64) << (7 * place).astype(np.uint64)
    return np.add.reduceat(bits, starts).view(np.int64)


# --- writing ---


def varint(value: int) -> bytes:
    """A whole number."""
    value &= 2**64 - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, value: int | str | bytes) -> bytes:
    """A field with a whole number, text, or the bytes of a message."""
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value)
    content = value.encode("utf-8") if isinstance(value, str) else value
    return varint(number << 3 | BYTES) + varint(len(content)) + content


def nested(number: int, parts: Sequence[bytes]) -> list[bytes]:
    """A field whose bytes come in parts: what holds large ones in several layers copies none of them."""
    return [varint(number << 3 | BYTES) + varint(sum(map(len, parts))), *parts]


def packed_wholes(number: int, values: NDArray[Any]) -> list[bytes]:
    """A repeated field of whole numbers of 0 or more, in parts."""
    return nested(number, [_varints(values[start : start + PIECE]) for start in range(0, len(values), PIECE)])


def _varints(values: NDArray[Any]) -> bytes:
    groups = (values.astype(np.uint64)[:, None] >> (7 * np.arange(10, dtype=np.uint64))) & np.uint64(0x7F)
    place = np.arange(10)
    length = np.where(groups != 0, place + 1, 1).max(axis=1, keepdims=True)
    content = groups.astype(np.uint8) | np.where(place < length - 1, 0x80, 0).astype(np.uint8)
    kept: NDArray[np.uint8] = content[place < length]
    return kept.tobytes()
