"""Arrays as files of a folder, one file each: written piece by piece, read in parts or mapped into memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray
from xxhash import xxh3_64

from rankwright.container.checks import read_field, read_integer
from rankwright.errors import ContainerError, require_input

DTYPES = frozenset(("|u1", "<u2", "<u4", "<i8", "<f8"))
BYTES_AT_A_TIME = 1 << 22  # read to check a file


@dataclass(frozen=True, slots=True)
class StoredArray:
    """What is recorded of an array's file: enough to notice that the file is another one."""

    dtype: str
    length: int
    checksum: str

    @property
    def n_bytes(self) -> int:
        """The size of the file."""
        return self.length * np.dtype(self.dtype).itemsize

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON holds it."""
        return {"dtype": self.dtype, "length": self.length, "checksum": self.checksum}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> StoredArray:
        """The record that `to_dict` gave."""
        dtype = read_field(stored, "dtype", str)
        require_input(dtype in DTYPES, f"dtype must be one of {', '.join(sorted(DTYPES))}, got {dtype!r}")
        return cls(dtype, read_integer(stored, "length"), read_field(stored, "checksum", str))


class ArrayWriter:
    """An array that is written to a file piece by piece."""

    def __init__(self, file: BinaryIO, dtype: DTypeLike) -> None:
        self._file, self._dtype = file, np.dtype(dtype).newbyteorder("<")
        self._length, self._digest = 0, xxh3_64()

    def append(self, piece: NDArray[Any]) -> None:
        """Write the next entries of the array."""
        content = np.ascontiguousarray(piece, self._dtype).view(np.uint8).data
        self._file.write(content)
        self._digest.update(content)
        self._length += len(piece)

    def __len__(self) -> int:
        return self._length

    def record(self) -> StoredArray:
        """What is to be recorded of the file as it is now."""
        return StoredArray(self._dtype.str, self._length, self._digest.hexdigest())


class ArrayFolder:
    """A folder that gets arrays, and the records of those it has."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: dict[str, StoredArray] = {}

    @contextmanager
    def writing(self, name: str, dtype: DTypeLike) -> Iterator[ArrayWriter]:
        """What writes the array of that name; the array is there when the block ends."""
        with (self.path / name).open("wb") as file:
            writer = ArrayWriter(file, dtype)
            yield writer
            self.records[name] = writer.record()

    def write(self, name: str, array: NDArray[Any]) -> None:
        """Write a whole array."""
        with self.writing(name, array.dtype) as writer:
            writer.append(array)

    def sync(self) -> None:
        """Have everything on the disk."""
        for name in self.records:
            _sync(self.path / name)
        _sync(self.path)

    def files(self, *, temporary: bool = False) -> ArrayFiles:
        """The arrays, to be read; temporary ones may be dropped."""
        return ArrayFiles(self.path, self.records, temporary=temporary)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class ArrayFiles:
    """The arrays of a folder. Files are opened when they are wanted; their sizes are checked then."""

    def __init__(self, path: Path, records: Mapping[str, StoredArray], *, temporary: bool = False) -> None:
        self.path, self._records, self._temporary = path, records, temporary
        self._mapped: dict[str, NDArray[Any]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._records

    def length(self, name: str) -> int:
        """How many entries the array has."""
        return self._record(name).length

    def dtype(self, name: str) -> np.dtype[Any]:
        """The type of its entries."""
        return np.dtype(self._record(name).dtype)

    def read(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """The entries of the array from `start` to `stop`, in memory."""
        record = self._checked(name)
        stop = record.length if stop is None else stop
        dtype = np.dtype(record.dtype)
        with (self.path / name).open("rb") as file:
            found = np.fromfile(file, dtype, max(stop - start, 0), offset=start * dtype.itemsize)
        if len(found) != max(stop - start, 0):
            raise ContainerError(os.fspath(self.path / name), "the file was cut short while it was read")
        return found

    def mapped(self, name: str) -> NDArray[Any]:
        """The array as the file has it: what is looked at is read by the system then."""
        if name not in self._mapped:
            record = self._checked(name)
            dtype = np.dtype(record.dtype)
            self._mapped[name] = (
                np.memmap(self.path / name, dtype, "r", shape=(record.length,)).view(np.ndarray)
                if record.length
                else np.empty(0, dtype)
            )
        return self._mapped[name]

    def drop(self, name: str) -> None:
        """Remove the file of a temporary array, which nobody needs any more."""
        if self._temporary:
            (self.path / name).unlink(missing_ok=True)

    def n_bytes(self) -> int:
        """The size of all files."""
        return sum(record.n_bytes for record in self._records.values())

    def check(self) -> None:
        """Raise where a file is not there, or is not as it was written; every byte is read."""
        for name in self._records:
            self.check_file(name)

    def check_file(self, name: str) -> None:
        """Raise where that file is not as it was written."""
        record, digest = self._checked(name), xxh3_64()
        with (self.path / name).open("rb") as file:
            while part := file.read(BYTES_AT_A_TIME):
                digest.update(part)
        if digest.hexdigest() != record.checksum:
            told = "the checksum does not match: the file is damaged or was altered"
            raise ContainerError(os.fspath(self.path / name), told)

    def _record(self, name: str) -> StoredArray:
        require_input(name in self._records, f"the array {name!r} is not there")
        return self._records[name]

    def _checked(self, name: str) -> StoredArray:
        record, path = self._record(name), self.path / name
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            raise ContainerError(os.fspath(path), "this file of the index is not there") from None
        if size != record.n_bytes:
            told = f"the file has {size:,} bytes, and {record.n_bytes:,} were written: it is damaged or cut short"
            raise ContainerError(os.fspath(path), told)
        return record
