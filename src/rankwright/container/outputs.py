"""Where an output may go: not over an input, and only where it can be written. Asked before any work, and at the door.

A name that is a link leads to the file that is replaced, and the link stays. Inputs are told apart by the files that
names lead to, so that links and other spellings of a name make no difference.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from errno import EACCES, ELOOP, ENOTDIR
from pathlib import Path
from typing import TypeAlias

from rankwright.container.locks import IS_WINDOWS
from rankwright.errors import SettingError, require

PathLike: TypeAlias = str | os.PathLike[str]

MOST_LINKS = 40  # that lead to one file, as in Linux
OPEN_TO_ALL = stat.S_ISVTX | stat.S_IWOTH  # a folder like /tmp: all may write, and remove only what is their own

_inputs: ContextVar[tuple[str, ...]] = ContextVar("inputs", default=())


@contextmanager
def inputs_kept(paths: Iterable[PathLike]) -> Iterator[None]:
    """In the block, nothing is written over one of these files; what names no file does no harm."""
    token = _inputs.set((*_inputs.get(), *(os.fspath(path) for path in paths)))
    try:
        yield
    finally:
        _inputs.reset(token)


def check_output(path: PathLike) -> None:
    """Raise where a file could not be written to `path`, or would replace an input."""
    told, found = os.fspath(path), state_of_file(path)
    _check_name(told, "file")
    if told.endswith(os.sep) or (found is not None and stat.S_ISDIR(found.st_mode)):
        raise SettingError(f"{told} is a folder: name a file")
    if found is not None and not os.access(path, os.W_OK):
        raise SettingError(f"{told} is write-protected: name another file")
    if special_file(path) is None:
        _check_folder(told, Path(path).parent)
        target = destination(path)
        refuse_inputs(target, path)
        _check_folder(told, target.parent)


def check_output_folder(path: PathLike) -> None:
    """Raise where files could not be written to the folder at `path`, which need not exist."""
    told, place = os.fspath(path), Path(path)
    _check_name(told, "folder")
    if place.exists() and not place.is_dir():
        raise SettingError(f"{told} is a file: name a folder")
    require(place.exists() or not place.is_symlink(), f"{told} is a link that leads nowhere: name a folder")
    nearest = next(one for one in (place, *place.parents) if one.exists())
    _check_folder(told, nearest)
    destination(nearest)


def _check_name(told: str, kind: str) -> None:
    require(bool(told), f"the name of an output is empty: name a {kind}")
    require("\0" not in told, f"{told!r} has a null character, which no name can have: name a {kind}")
    where = "is an address, and outputs are written to this machine"
    require("://" not in told, f"{told} {where}: name a {kind}")


def _check_folder(told: str, folder: Path) -> None:
    require(folder.is_dir(), f"{told} cannot be written: there is no folder {folder}")
    require(os.access(folder, os.W_OK | os.X_OK), f"{told} cannot be written: the folder {folder} is write-protected")


def refuse_inputs(target: Path, path: PathLike) -> None:
    """Raise where `target`, to which the user's `path` leads, is one of the inputs."""
    found, told = state_of_file(target), os.fspath(path)
    if found is None or not stat.S_ISREG(found.st_mode):
        return
    for name in _inputs.get():
        given = state_of_file(name)
        if given is not None and os.path.samestat(found, given):
            same = "is an input" if name == told else f"is the same file as the input {name}"
            raise SettingError(f"{told} {same}, and would be replaced by the output: give the output another name")


def state_of_file(path: PathLike) -> os.stat_result | None:
    """What the system knows of the file that a name leads to; None where there is none."""
    try:
        return Path(path).stat()
    except (OSError, ValueError):  # a text with a null character is no name
        return None


def special_file(path: PathLike) -> os.stat_result | None:
    """What the system knows of the device or pipe that a name leads to; None where it leads to none."""
    found = state_of_file(path)
    is_special = found is not None and not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode)
    return found if is_special else None


def destination(path: PathLike) -> Path:
    """The file that an output's name leads to.

    In a folder that is open to all, only links of our own and of the folder's owner are followed, or anybody could lead
    outputs to files of their choice. Linux has the same rule where it follows links itself. It holds for all links, be
    it to the file or to a folder on the way.
    """
    if IS_WINDOWS:
        return Path(os.path.realpath(path))
    try:
        return _followed(Path.cwd() / path)
    except OSError as error:
        error.filename = os.fspath(path)
        raise


def _followed(place: Path) -> Path:
    """The absolute path without links and `..`; its last part need not be there."""
    at, ahead, n_links = Path(place.anchor), list(place.parts[1:]), 0
    while ahead:
        step = at / ahead.pop(0)
        if step.is_symlink():
            n_links += 1
            if n_links > MOST_LINKS:
                raise OSError(ELOOP, os.strerror(ELOOP))
            _check_link(step)
            step = at / step.readlink()  # which may be absolute, and then leads away from here
            at, ahead = Path(step.anchor), [*step.parts[1:], *ahead]
        else:
            if ahead and not stat.S_ISDIR(step.stat().st_mode):  # raises where it is not there
                raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR))
            at = at.parent if step.name == ".." else step
    return at


def _check_link(link: Path) -> None:
    folder = link.parent.stat()
    is_open = folder.st_mode & OPEN_TO_ALL == OPEN_TO_ALL
    if is_open and link.lstat().st_uid not in (os.geteuid(), folder.st_uid):
        told = f"{link} is a link of another user in a folder that is open to all, and is not followed"
        raise PermissionError(EACCES, told)
