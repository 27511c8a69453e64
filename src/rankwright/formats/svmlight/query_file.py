"""LightGBM's `.query` files beside data without query ids: a line for each query with its number of documents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import IntArray, as_vector
from rankwright.errors import FileFormatError, InputError, Message, Parameter
from rankwright.formats.lines import LONGEST_QUOTE, is_count, text_lines
from rankwright.formats.sources import FilePath, input_name, is_standard
from rankwright.formats.storage.compressed import COMPRESSIONS, compression_of_name

SUFFIX = ".query"

# The number of documents of each query, or the files that hold these numbers.
QuerySizes: TypeAlias = FilePath | Sequence[FilePath] | ArrayLike


def group_sizes(paths: Sequence[FilePath], group: QuerySizes | None) -> IntArray:
    """The number of documents of each query of `paths`: from `group`, or else from `.query` files beside them.

    `group` holds the sizes themselves, or names the files that do.
    """
    if group is None:
        return np.concatenate([read_sizes(_file_beside(path)) for path in paths])
    listed = [group] if isinstance(group, str | os.PathLike) else group
    if isinstance(listed, Sequence) and any(isinstance(item, str | os.PathLike) for item in listed):
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
    name = os.fspath(path)
    if is_standard(path):
        problem = Message("has no query ids; wanted qid:ID after each label, or ", Parameter("group"))
        raise FileFormatError(input_name(path), problem)
    compression = compression_of_name(name)
    plain = name if compression is None else name[: -len(compression.suffix)]
    for base in dict.fromkeys((plain, name)):
        for ending in ("", *(kind.suffix for kind in COMPRESSIONS)):
            candidate = Path(f"{base}{SUFFIX}{ending}")
            if candidate.exists():
                return candidate
    wanted = f"wanted qid:ID after each label, a file {Path(name).name}{SUFFIX} beside it, or "
    raise FileFormatError(name, Message(f"has no query ids; {wanted}", Parameter("group")))
