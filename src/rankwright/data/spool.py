"""Standard input made readable more than once, and in any order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from shutil import copyfileobj
from tempfile import NamedTemporaryFile

from rankwright.data.pieces import Paths, listed
from rankwright.data.sources import STANDARD, input_name, open_input
from rankwright.errors import FileFormatError

COPIED_AT_ONCE = 1 << 20  # bytes


@contextmanager
def spooled(paths: Paths) -> Iterator[list[str]]:
    """The same paths, standard input replaced by a temporary file that holds what it gave.

    The file goes where temporary files go; errors still speak of standard input.
    """
    names = listed(paths)
    if STANDARD not in names:
        yield names
        return
    with NamedTemporaryFile(prefix="rankwright-") as file:
        with open_input(STANDARD) as standard_input:
            copyfileobj(standard_input, file, COPIED_AT_ONCE)
        file.flush()
        try:
            yield [file.name if name == STANDARD else name for name in names]
        except FileFormatError as error:
            if error.path != file.name:
                raise
            raise FileFormatError(input_name(STANDARD), error.problem, error.line) from None
