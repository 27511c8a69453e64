"""Writing a file in one step: at any moment its path leads to the whole old file or the whole new one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to that becomes the one at `path` when the block succeeds, and is removed when it fails.

    The file lies beside `path` and gets its final name only when all of it is on the disk. A process that is killed
    before that leaves it there, hidden and named `.NAME.….tmp`, and does not touch the old file.
    """
    target = Path(os.path.realpath(path))  # a link stays a link: the file it names is replaced
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        # Created with the usual permissions, less the umask; files of tempfile are for the owner alone.
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        _sync_folder(target.parent)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == os.fspath(temporary):
            error.filename, error.filename2 = os.fspath(path), None  # the name that the caller knows
        raise


def _sync_folder(folder: Path) -> None:
    # The new name is on the disk only once the folder is synced.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
