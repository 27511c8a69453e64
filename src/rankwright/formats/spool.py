"""What can be read only once, standard input or a pipe, made readable more than once, and in any order."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePath
from shutil import copyfileobj
from tempfile import NamedTemporaryFile

from rankwright.errors import FileFormatError
from rankwright.formats.blocks import Paths, listed
from rankwright.formats.sources import input_name, is_standard, open_input

COPIED_AT_ONCE = 1 << 20  # bytes


@contextmanager
def spooled(paths: Paths) -> Iterator[list[str]]:
    """The same paths, standard input and pipes replaced by temporary files that hold what they gave.

    The files go where temporary files go; errors still speak of the input.
    """
    name_of: dict[str, str] = {}  # of the input that a temporary file holds
    with ExitStack() as files:
        names = []
        for name in listed(paths):
            spool = files.enter_context(_copied(name)) if _is_read_once(name) else name
            names.append(spool)
            name_of[spool] = name
        try:
            yield names
        except FileFormatError as error:
            if name_of.get(error.path, error.path) == error.path:
                raise
            raise FileFormatError(input_name(name_of[error.path]), error.problem, error.line) from None


@contextmanager
def _copied(name: str) -> Iterator[str]:
    # Decompressed, and with the ending that may tell the format.
    with NamedTemporaryFile(prefix="rankwright-", suffix=PurePath(name).suffix) as file:
        with open_input(name) as source:
            copyfileobj(source, file, COPIED_AT_ONCE)
        file.flush()
        yield file.name


def _is_read_once(name: str) -> bool:
    if is_standard(name):
        return True
    path = Path(name)
    return path.exists() and not stat.S_ISREG(path.stat().st_mode) and not path.is_dir()
