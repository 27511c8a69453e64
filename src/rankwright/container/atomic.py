"""The door of outputs: files are written in one step, so a path leads to the whole old file or the whole new one."""

from __future__ import annotations

import io
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EACCES
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rankwright.container.locks import IS_WINDOWS, PLAIN, hold, remove_abandoned
from rankwright.container.outputs import destination, refuse_inputs, special_file, state_of_file

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

UNFINISHED = re.compile(r"\.rankwright-[0-9a-f]{12}\.tmp")


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to that becomes the one at `path` when the block succeeds, and is removed when it fails.

    The file lies beside `path` and gets its final name only when all of it is on the disk. A process that is killed
    before that does not touch the old file; what it leaves, hidden and named as `UNFINISHED` says, is removed by the
    next one that writes in the folder. An old file is replaced only if it may be written to, and its owner and mode
    stay. Devices and pipes are not replaced but written to. Errors name `path`.
    """
    special = special_file(path)
    if special is not None:
        with io.BufferedWriter(NamedOutput(path, "wb", path, _opener_of(special))) as device:
            yield device
        return
    target = destination(path)
    refuse_inputs(target, path)
    old = state_of_file(target)
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES), os.fspath(path))
    remove_abandoned(target.parent, UNFINISHED)
    with errors_name(path):
        raw = _new_file(target.parent, path)
    temporary = Path(os.fsdecode(raw.name))
    try:
        with io.BufferedWriter(raw) as file:
            if old is not None and not IS_WINDOWS:
                with errors_name(path):
                    _take_over(file.fileno(), old)  # before there is anything to read
            yield file
            file.flush()
            with errors_name(path):
                os.fsync(file.fileno())
                if not IS_WINDOWS:
                    temporary.replace(target)  # while it is still held: what nobody holds may be removed
        if IS_WINDOWS:  # where nothing that is open gets another name
            with errors_name(path):
                temporary.replace(target)
        _sync_folder(target.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _take_over(descriptor: int, old: os.stat_result) -> None:
    """Give a new file the owner, the group and the permissions of the old one, as far as this user may."""
    mode = stat.S_IMODE(old.st_mode) & 0o777  # without what lets programs run as their owner
    try:
        os.fchown(descriptor, old.st_uid, old.st_gid)
    except OSError:
        try:
            os.fchown(descriptor, -1, old.st_gid)
        except OSError:
            mode &= ~stat.S_IRWXG  # what another group might do
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != mode:
        os.fchmod(descriptor, mode)


def _opener_of(special: os.stat_result) -> Callable[[str, int], int]:
    """What opens that device or pipe, and nothing that took its name meanwhile: no file is made or cut."""

    def opened(path: str, _: int) -> int:
        descriptor = os.open(path, os.O_WRONLY | PLAIN)
        if os.path.samestat(os.fstat(descriptor), special):
            return descriptor
        os.close(descriptor)
        raise PermissionError(EACCES, "was replaced by another file", path)

    return opened


class NamedOutput(io.FileIO):
    """A file to write to; errors name `told`, the path that the user knows."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        mode: str,
        told: str | os.PathLike[str],
        opener: Callable[[str, int], int] | None = None,
    ) -> None:
        super().__init__(path, mode, opener=opener)
        self._told = told

    def write(self, content: ReadableBuffer, /) -> int:
        """Write what fits; returns how many bytes that is."""
        with errors_name(self._told):
            return super().write(content)


@contextmanager
def errors_name(path: str | os.PathLike[str]) -> Iterator[None]:
    """Have the system's errors name the path that the user knows."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = os.fspath(path), None
        raise


def _new_file(folder: Path, told: str | os.PathLike[str]) -> NamedOutput:
    # Created with the usual permissions, less the umask; files of tempfile are for the owner alone.
    while True:
        file = NamedOutput(folder / f".rankwright-{secrets.token_hex(6)}.tmp", "xb", told)
        if hold(file.fileno(), os.fsdecode(file.name)):
            return file
        file.close()


def remove_unfinished(folder: str | os.PathLike[str]) -> None:
    """Remove what killed processes were writing in the folder."""
    remove_abandoned(folder, UNFINISHED)


def _sync_folder(folder: Path) -> None:
    # The new name is on the disk only once the folder is synced. Windows opens no folders, and needs none.
    if IS_WINDOWS:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
