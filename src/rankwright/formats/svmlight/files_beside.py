"""Files beside SVMlight text that say what it leaves out: the sizes of queries, and the names of features.

data.txt.query       LightGBM's file for data without query ids: a line for each query with its number of documents
feature_names.txt    a line for each feature with its name
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import IntArray, as_vector
from rankwright.data.columns import check_different
from rankwright.errors import FileFormatError, InputError, InputTypeError, Message, Parameter
from rankwright.formats.lines import LONGEST_QUOTE, is_count, text_lines
from rankwright.formats.storage.compressed import COMPRESSIONS, compression_of_name
from rankwright.formats.storage.places import FilePath, beside, is_file, opened
from rankwright.formats.storage.streams import input_name, is_standard

QUERY_SUFFIX = ".query"
FEATURE_NAMES_FILE = "feature_names.txt"  # the name that is looked for beside the data
NO_NAMES = "none"

# The number of documents of each query, or the files that hold these numbers.
QuerySizes: TypeAlias = FilePath | Sequence[FilePath] | ArrayLike
# The names of features, or the file that holds them.
FeatureNames: TypeAlias = FilePath | Sequence[str] | None


def group_sizes(paths: Sequence[FilePath], group: QuerySizes | None) -> IntArray:
    """The number of documents of each query of `paths`: from `group`, or else from `.query` files beside them.

    `group` holds the sizes themselves, or names the files that do.
    """
    if group is None:
        return np.concatenate([read_sizes(_file_beside(path)) for path in paths])
    listed = [group] if isinstance(group, str | PathLike) else group
    if isinstance(listed, Sequence) and any(isinstance(item, str | PathLike) for item in listed):
        return np.concatenate([read_sizes(cast(FilePath, path)) for path in listed])
    sizes = as_vector(cast(ArrayLike, group), name="group", dtype=np.int64)
    if len(sizes) and sizes.min() < 1:
        raise InputError(f"group sizes must be 1 or more, got {int(sizes.min())}")
    return sizes


def read_sizes(path: FilePath) -> IntArray:
    """The numbers of a `.query` file."""
    sizes = []
    for line, text in enumerate(text_lines(path), start=1):
        word = text.strip()
        if word and not (is_count(word) and int(word) > 0):
            problem = f"found {word[:LONGEST_QUOTE]!r}; wanted the number of documents of a query"
            raise FileFormatError(input_name(path), problem, line)
        if word:
            sizes.append(int(word))
    if not sizes:
        raise FileFormatError(input_name(path), "is empty; wanted the number of documents of each query")
    return np.array(sizes, dtype=np.int64)


def _file_beside(path: FilePath) -> Path:
    name = fspath(path)
    if is_standard(path):
        problem = Message("has no query ids; wanted qid:ID after each label, or ", Parameter("group"))
        raise FileFormatError(input_name(path), problem)
    compression = compression_of_name(name)
    plain = name if compression is None else name[: -len(compression.suffix)]
    for base in dict.fromkeys((plain, name)):
        for ending in ("", *(kind.suffix for kind in COMPRESSIONS)):
            candidate = Path(f"{base}{QUERY_SUFFIX}{ending}")
            if candidate.exists():
                return candidate
    wanted = f"wanted qid:ID after each label, a file {Path(name).name}{QUERY_SUFFIX} beside it, or "
    raise FileFormatError(name, Message(f"has no query ids; {wanted}", Parameter("group")))


def feature_names_of(names: Any) -> tuple[str, ...]:
    """The names that a caller gives: themselves, or the file that holds them; none for None and for "none"."""
    if names is None or names == NO_NAMES:
        return ()
    if isinstance(names, str | PathLike):
        return read_feature_names(names)
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InputTypeError(f"feature_names must be a file, or a list of names, got {type(names).__name__}")
    check_different(names)
    return tuple(names)


def read_feature_names(path: FilePath) -> tuple[str, ...]:
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
    names = beside(paths[0], FEATURE_NAMES_FILE)
    return names if is_file(names) else None
