"""Files on this machine, named by paths, and files elsewhere, named by addresses such as s3://bucket/train.parquet.

An address is opened by fsspec, which knows some by itself (file, memory, http with aiohttp) and others by packages that
are installed beside it, such as s3fs, gcsfs or adlfs.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOENT
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeAlias

from rankwright.errors import InputError, MissingExtraError, RankwrightError

FilePath: TypeAlias = str | os.PathLike[str]

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")  # two letters at least: C:// is a drive


def is_address(path: FilePath) -> bool:
    """Whether a name is the address of a file elsewhere."""
    return isinstance(path, str) and ADDRESS.match(path) is not None


def opened(path: FilePath) -> io.RawIOBase | IO[bytes]:
    """The bytes of a file as they are."""
    if not is_address(path):
        return io.FileIO(os.fspath(path))
    with _reached(path) as (system, place):
        found: IO[bytes] = system.open(place, "rb")
        return found


def is_file(path: FilePath) -> bool:
    """Whether there is a file of that name."""
    if not is_address(path):
        return Path(path).is_file()
    with _reached(path) as (system, place):
        return bool(system.isfile(place))


def is_folder(path: FilePath) -> bool:
    """Whether there is a folder of that name."""
    if not is_address(path):
        return Path(path).is_dir()
    with _reached(path) as (system, place):
        return bool(system.isdir(place))


def size_of(path: FilePath) -> int:
    """How many bytes a file has."""
    return state_of(path)[0]


def state_of(path: FilePath) -> tuple[int, str]:
    """What changes when a file does: its size, and the time it was last written at or whatever tells versions apart."""
    if not is_address(path):
        found = Path(path).stat()
        return found.st_size, str(found.st_mtime_ns)
    with _reached(path) as (system, place):
        return int(system.size(place) or 0), str(system.ukey(place))


def files_in(folder: FilePath) -> list[str]:
    """The files of a folder that are not hidden, in the order of their names."""
    if not is_address(folder):
        return [str(file) for file in sorted(Path(folder).iterdir()) if not file.name.startswith(".")]
    with _reached(folder) as (system, place):
        found = (entry["name"] for entry in system.ls(place, detail=True) if entry["type"] == "file")
        names = sorted(name for name in found if not PurePosixPath(name).name.startswith("."))
        return [str(system.unstrip_protocol(name)) for name in names]


def beside(path: FilePath, name: str) -> str:
    """The name of a file in the same folder."""
    if is_address(path):
        return f"{os.fspath(path).rpartition('/')[0]}/{name}"
    return str(Path(path).parent / name)


@contextmanager
def _reached(address: FilePath) -> Iterator[tuple[Any, str]]:
    """The file system of an address, and what the file is called there; what it raises becomes an error of one line."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtraError(f"reading {os.fspath(address)}", "fsspec", "remote") from None
    try:
        yield url_to_fs(os.fspath(address))
    except RankwrightError:
        raise
    except FileNotFoundError:
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT), os.fspath(address)) from None
    except Exception as error:  # every service has its own kinds
        told = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"{os.fspath(address)}: cannot be reached: {told}") from error
