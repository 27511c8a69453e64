"""The model and checkpoint file.

It is a safetensors file, so other tools can open its arrays, with one entry of metadata, a JSON text:

    {"checksum": sha-256, "format": "rankwright", "header": {...}, "kind": "forest", "version": 1}

`kind` says what the file holds, `header` its settings, the arrays its numbers. The checksum is taken over the whole
file with the checksum's own 64 letters replaced by zeros, so no byte can change unnoticed. Nothing in a file is ever
run, and the same content gives the same bytes: keys are sorted, and no time, host or path is kept.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.container.atomic import atomic_file
from rankwright.container.checks import as_one_line
from rankwright.errors import ContainerError, SettingError, require_type

FORMAT = "rankwright"
VERSION = 1
SUFFIX = ".rw"
BLANK_CHECKSUM = "0" * hashlib.sha256().digest_size * 2
LENGTH_BYTES = 8  # a safetensors file begins with the length of its JSON
MAGIC_ENTRY = "rankwright"  # the only entry of metadata, because safetensors keeps several in no fixed order
BEGINNING = f'{{"__metadata__":{{"{MAGIC_ENTRY}":"'.encode()  # after the length
DTYPES = frozenset(map(np.dtype, ["?", "|i1", "|u1", "<i2", "<u2", "<f2", "<i4", "<u4", "<f4", "<i8", "<u8", "<f8"]))


@dataclass(frozen=True, slots=True, eq=False)
class Container:
    """What a file holds: its kind, its header, and arrays that cannot be written to."""

    kind: str
    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    path: str  # where it was read


def is_container(path: str | os.PathLike[str]) -> bool:
    """Whether a file is meant to be a container, by its ending or its first bytes; the rest may be damaged."""
    return Path(path).suffix == SUFFIX or begins_as_container(path)


def begins_as_container(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a container by its first bytes, whatever its name."""
    if not Path(path).is_file():
        return False  # a pipe can be read only once, and the reader reports files that cannot be opened
    with Path(path).open("rb") as file:
        return file.read(LENGTH_BYTES + len(BEGINNING))[LENGTH_BYTES:] == BEGINNING


def container_kind(path: str | os.PathLike[str]) -> str | None:
    """The kind that the beginning of a container tells, None for any other file; the rest is not read."""
    if not begins_as_container(path):
        return None
    with Path(path).open("rb") as file:
        length = file.read(LENGTH_BYTES)
        header = file.read(int.from_bytes(length, "little"))
    return str(_document(length + header, os.fspath(path))["kind"])


def write_container(
    path: str | os.PathLike[str], kind: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write header and arrays to the file at `path`, which is replaced in one step.

    The header may hold what JSON can: strings, finite numbers, booleans, None, lists and string-keyed mappings.
    """
    content = _unsigned(kind, header, arrays)
    place = content.index(BLANK_CHECKSUM.encode())
    checksum = hashlib.sha256(content).hexdigest().encode()
    with atomic_file(path) as file:
        file.write(memoryview(content)[:place])
        file.write(checksum)
        file.write(memoryview(content)[place + len(checksum) :])


def container_size(kind: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> int:
    """The number of bytes that the file would have."""
    return len(_unsigned(kind, header, arrays))


def _unsigned(kind: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The content of the file, without its checksum."""
    from safetensors.numpy import save

    tensors = {name: _storable(name, array) for name, array in sorted(arrays.items())}
    plain = _plain(header, where="header")
    document = {"checksum": BLANK_CHECKSUM, "format": FORMAT, "header": plain, "kind": kind, "version": VERSION}
    return save(tensors, metadata={MAGIC_ENTRY: json.dumps(document, sort_keys=True, ensure_ascii=True)})


def read_container(path: str | os.PathLike[str], kind: str | None = None) -> Container:
    """What the file at `path` holds, after a check of every byte; it must be of `kind` where that is given."""
    require_type(path, (str, os.PathLike), "a file", "named by a text or a Path")
    from safetensors import SafetensorError
    from safetensors.numpy import load

    content = Path(path).read_bytes()
    document = _document(content, os.fspath(path))
    _check_bytes(content, document["checksum"], os.fspath(path))
    if kind is not None and document["kind"] != kind:
        raise ContainerError(os.fspath(path), f"this file holds a {document['kind']!r}; a {kind!r} was wanted")
    try:
        arrays = load(content)
    except (SafetensorError, KeyError, ValueError) as error:
        raise ContainerError(os.fspath(path), f"the arrays cannot be read: {as_one_line(str(error))}") from None
    for array in arrays.values():
        array.setflags(write=False)
    return Container(document["kind"], document["header"], dict(sorted(arrays.items())), os.fspath(path))


def _document(content: bytes, path: str) -> dict[str, Any]:
    """The JSON text in the metadata, after a check that it is ours and of a version that can be read."""
    length = int.from_bytes(content[:LENGTH_BYTES], "little")
    try:
        document = json.loads(json.loads(content[LENGTH_BYTES : LENGTH_BYTES + length])["__metadata__"][MAGIC_ENTRY])
        ours = document["format"] == FORMAT and isinstance(document["version"], int)
    except (ValueError, KeyError, TypeError, RecursionError):
        ours = False
    if not ours:
        raise ContainerError(path, "this is not a file of Rankwright's, or its beginning is damaged")
    if document["version"] != VERSION:
        told = f"this file is of format version {document['version']}; this release reads version {VERSION}"
        raise ContainerError(path, told)
    expected = {"checksum": str, "kind": str, "header": dict}
    complete = document.keys() == expected.keys() | {"format", "version"}
    if not complete or not all(isinstance(document[key], type_) for key, type_ in expected.items()):
        raise ContainerError(path, "the header lacks what every file of Rankwright's has")
    try:
        infinite = _infinite_in(document["header"])
    except RecursionError:
        raise ContainerError(path, "the header cannot be read: it is nested too deep") from None
    if infinite is not None:
        raise ContainerError(path, f"the header cannot be read: header{as_one_line(infinite)}, which is no JSON")
    return dict(document)


def _infinite_in(value: Any) -> str | None:
    """The place of a number that is infinite or NaN, which Python reads from JSON although JSON has none."""
    if isinstance(value, float) and not np.isfinite(value):
        return f" is {value}"
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        found = _infinite_in(item)
        if found is not None:
            return f".{key}{found}" if isinstance(value, dict) else f"[{key}]{found}"
    return None


def _check_bytes(content: bytes, checksum: str, path: str) -> None:
    written = checksum.encode()
    place = content.find(written)
    if len(written) == len(BLANK_CHECKSUM) and place >= 0:
        digest = hashlib.sha256(memoryview(content)[:place])
        digest.update(BLANK_CHECKSUM.encode())
        digest.update(memoryview(content)[place + len(written) :])
        if digest.hexdigest() == checksum:
            return
    raise ContainerError(path, "the checksum does not match: the file is damaged, cut short or was altered")


def _storable(name: str, array: NDArray[Any]) -> NDArray[Any]:
    values = np.asarray(array, order="C")
    little = values.dtype.newbyteorder("<")
    if little not in DTYPES:
        told = "which a file cannot hold; strings go in the header"
        raise SettingError(f"array {name!r} has dtype {values.dtype}, {told}")
    return values.astype(little, copy=False)


def _plain(value: Any, where: str) -> Any:
    """`value` in the types that JSON gives back, so that what is read equals what was written."""
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise SettingError(f"{where} has the key {key!r}; keys must be strings")
        return {key: _plain(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{where}[{place}]") for place, item in enumerate(value)]
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and np.isfinite(value)):
        return value
    raise SettingError(f"{where} is {value!r}, which JSON cannot hold")
