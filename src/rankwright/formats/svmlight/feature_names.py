"""Names for the numbered features of SVMlight text: a file with one name a line."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from typing import Any, TypeAlias

from rankwright.data.columns import check_different
from rankwright.errors import FileFormatError, InputError, InputTypeError
from rankwright.formats.sources import is_standard
from rankwright.formats.storage.places import beside, is_file, opened

FILE_NAME = "feature_names.txt"  # of the file that is looked for beside the data
NO_NAMES = "none"

FeatureNames: TypeAlias = str | PathLike[str] | Sequence[str] | None


def feature_names_of(given: Any) -> tuple[str, ...]:
    """The names that a caller gives: themselves, or the file that holds them; none for None and for "none"."""
    if given is None or given == NO_NAMES:
        return ()
    if isinstance(given, str | PathLike):
        return read_feature_names(given)
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise InputTypeError(f"feature_names must be a file, or a list of names, got {type(given).__name__}")
    check_different(given)
    return tuple(given)


def read_feature_names(path: str | PathLike[str]) -> tuple[str, ...]:
    """The names in a file: one a line, the first for feature 1; lines that are blank at the end do not count."""
    try:
        with opened(path) as file:
            lines = (file.read() or b"").decode("utf-8-sig").rstrip().splitlines()
    except UnicodeDecodeError:
        raise FileFormatError(fspath(path), "is no text; wanted the name of a feature in each line") from None
    names = [line.strip() for line in lines]
    try:
        check_different(names)
    except InputError as error:
        raise FileFormatError(fspath(path), str(error).replace("column", "feature")) from None
    return tuple(names)


def names_beside(paths: Sequence[str]) -> str | None:
    """The file of names in the folder of the first data file, if there is one."""
    if not paths or is_standard(paths[0]):
        return None
    names = beside(paths[0], FILE_NAME)
    return names if is_file(names) else None
