"""What a process keeps on the disk while it runs is locked, so that others can tell what a killed process left behind.

The system releases a lock when its process ends, however it ends. What has a name of ours and no lock belongs to
nobody, and whoever works in that folder next removes it. The numbers of processes would not do: they are used again,
and other machines and containers have the same.

This is the one place that knows what differs between systems where files are opened, locked and renamed. On Windows,
being open is a lock of its own: a file that a process has open can be neither removed nor renamed, and a folder cannot
be opened at all. Nobody has run the package there yet; a test runs it here without what Windows lacks.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

IS_WINDOWS = sys.platform == "win32"
SCRATCH = re.compile(r"rankwright-(ray|spool|study)-[a-z0-9_]{8}")
HELD = "held"  # on Windows, the file in a folder that its process has open
# For os.open: bytes as they are, and not for processes that this one starts.
PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)

if sys.platform == "win32":
    import msvcrt

    PLACES = 2**31 - 1  # bytes that can be locked

    def lock_file(descriptor: int) -> None:
        """Do nothing: Windows protects a file while it is open."""

    def lock_byte(descriptor: int, place: int) -> None:
        """Lock the byte at that place, which need not exist; an OSError if another process has it."""
        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def unlock_byte(descriptor: int, place: int) -> None:
        """Release the byte."""
        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    PLACES = 2**62

    def lock_file(descriptor: int) -> None:
        """Lock the file or folder; a BlockingIOError if another process has it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def lock_byte(descriptor: int, place: int) -> None:
        """Lock the byte at that place, which need not exist; an OSError if another process has it."""
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)

    def unlock_byte(descriptor: int, place: int) -> None:
        """Release the byte."""
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, place)


def hold(descriptor: int, path: str | os.PathLike[str]) -> bool:
    """Lock the new file or folder at `path`; False if another process took it for abandoned before that."""
    try:
        lock_file(descriptor)
    except BlockingIOError:
        return False
    except OSError:  # no locks in this file system: then nobody else can lock it either, and nobody removes it
        pass
    try:
        return os.path.samestat(Path(path).stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def remove_abandoned(folder: str | os.PathLike[str], name: re.Pattern[str]) -> None:
    """Remove the files and folders in `folder` that have such a name, are our user's, and belong to no process."""
    try:
        with os.scandir(folder) as entries:
            found = [entry.path for entry in entries if name.fullmatch(entry.name)]
    except OSError:
        return
    for path in found:
        _remove_unless_held(path)


def _remove_unless_held(path: str) -> None:
    if IS_WINDOWS:
        _remove_unless_open(path)
        return
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | PLAIN)
    except OSError:
        return
    try:
        lock_file(descriptor)
        found = os.fstat(descriptor)
        if found.st_uid == os.geteuid():
            _remove(path, is_folder=stat.S_ISDIR(found.st_mode))
    except OSError:  # it is in use, or was removed by another process
        pass
    finally:
        os.close(descriptor)


def _remove_unless_open(path: str) -> None:
    """Remove it unless a process has it open: on Windows the attempt fails then."""
    is_folder = Path(path).is_dir()
    try:
        if is_folder:
            Path(path, HELD).unlink(missing_ok=True)
        _remove(path, is_folder=is_folder)
    except OSError:
        pass


def _remove(path: str, *, is_folder: bool) -> None:
    if is_folder:
        from shutil import rmtree  # loads much, and is seldom needed

        rmtree(path, ignore_errors=True)
    else:
        Path(path).unlink()


def _held_folder(path: str) -> int | None:
    """The descriptor that holds the new folder; None if another process took it for abandoned before that."""
    try:
        held, flags = (Path(path, HELD), os.O_RDWR | os.O_CREAT) if IS_WINDOWS else (path, os.O_RDONLY)
        descriptor = os.open(held, flags | PLAIN)
    except FileNotFoundError:
        return None
    if hold(descriptor, held):
        return descriptor
    os.close(descriptor)
    return None


@contextmanager
def locked_file(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold a lock on the file at `path`, which is made where it is not there; a BlockingIOError if another has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | PLAIN)
    try:
        try:
            if IS_WINDOWS:
                lock_byte(descriptor, 0)
            else:
                lock_file(descriptor)
        except BlockingIOError:
            raise
        except OSError as error:
            if IS_WINDOWS:  # which tells of a lock in another way
                raise BlockingIOError(*error.args) from None
            # Elsewhere: no locks in this file system.
        yield
    finally:
        os.close(descriptor)


@contextmanager
def scratch_folder(kind: str, parent: str | None = None) -> Iterator[str]:
    """A folder for temporary files, in the system's own unless `parent` is given; it is gone after the block.

    Folders that killed processes left there are removed first.
    """
    from tempfile import gettempdir, mkdtemp

    parent = gettempdir() if parent is None else parent
    remove_abandoned(parent, SCRATCH)
    while (descriptor := _held_folder(folder := mkdtemp(prefix=f"rankwright-{kind}-", dir=parent))) is None:
        pass  # another process took it for abandoned while it had no lock yet
    try:
        yield folder
    finally:
        if IS_WINDOWS:
            os.close(descriptor)
        _remove(folder, is_folder=True)
        if not IS_WINDOWS:
            os.close(descriptor)
