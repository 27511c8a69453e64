"""The table of file formats, which of them a file is in, and datasets written in any of them.

The format of a file is the one that is named, or shown by the file's ending, or by its beginning where the ending says
nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from io import BufferedReader
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any, cast

from rankwright.container.file import is_container
from rankwright.data.dataset import RankingDataset
from rankwright.errors import FileFormatError, Message, Parameter, SettingError, UnknownNameError, require_type
from rankwright.formats.blocks import Reader
from rankwright.formats.delimited.csv_files import DelimitedReader, write_delimited
from rankwright.formats.lines import LONGEST_QUOTE
from rankwright.formats.parquet import ParquetReader, write_parquet
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import (
    Paths,
    compression_of_bytes,
    compression_of_name,
    input_name,
    is_standard,
    list_of_paths,
    open_input,
)
from rankwright.formats.svmlight.reader import SvmlightReader
from rankwright.formats.svmlight.writer import write_svmlight


@dataclass(frozen=True, slots=True)
class Format:
    """One way to hold a dataset in files; `reader` makes a reader from the options of the format."""

    suffixes: tuple[str, ...]
    reader: Callable[..., Reader]
    write: Callable[..., None]

    @property
    def options(self) -> list[str]:
        """The names of the options for reading its files."""
        return list(signature(self.reader).parameters)


FORMATS: Mapping[str, Format] = {
    "svmlight": Format((".letor", ".svm", ".svmlight", ".libsvm"), SvmlightReader, write_svmlight),
    "csv": Format((".csv",), DelimitedReader, write_delimited),
    "tsv": Format((".tsv",), partial(DelimitedReader, delimiter="\t"), partial(write_delimited, delimiter="\t")),
    "parquet": Format((".parquet", ".pq"), ParquetReader, write_parquet),
}
TEXT_SUFFIXES = (".txt", ".dat")  # endings of LETOR's files: written as SVMlight, read as any text format
PARQUET_MAGIC = b"PAR1"
NUMBER = rb"([+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan)"
SVMLIGHT_LINE = re.compile(NUMBER + rb"([ \t]+[^\s:#]+:\S*)*[ \t]*(#.*)?", re.IGNORECASE)
SVMLIGHT_PAIR = re.compile(rb"(^|[ \t])(qid|\d+):[^ \t,;]+([ \t]|$)")
# What others call our formats, and options that only code gives.
OTHER_NAMES = dict.fromkeys(("letor", "libsvm", "svm", "svmrank", "ranklib", "txt", "text"), "svmlight")
OF_CODE = ("block_size", "n_trained")
# How other files begin, and what they are for.
OTHER_FILES = (
    (re.compile(rb'\{.*"shown"'), ". This looks like a click log: `rankwright clicks` reads it"),
    (re.compile(rb"\S+\s+\S+\s+\S+\s+\d+\s+\S+\s+\S+$"), ". This looks like a TREC run: --run takes it"),
    (re.compile(rb"\S+\s+\S+\s+\S+\s+-?\d+$"), ". This looks like TREC judgments: `evaluate QRELS --run RUN`"),
)
BEGINNING = 1 << 16  # bytes of a file in which its format is looked for


def format_named(name: str) -> Format:
    """The format of that name."""
    if name not in FORMATS:
        raise UnknownNameError("format", name, known=FORMATS, meant=OTHER_NAMES.get(name))
    return FORMATS[name]


def format_of(source: Paths) -> str:
    """The name of the format that the first file's ending shows or, where that says nothing, its beginning."""
    path = list_of_paths(source)[0]
    if not is_standard(path) and is_container(path):
        raise FileFormatError(input_name(path), "is a model file; wanted documents. Are two arguments swapped?")
    return _format_of_suffix(path) or _format_of_beginning(path)


def format_of_name(path: FilePath) -> str:
    """The name of the format in which a file with this ending is written."""
    require_type(path, (str, PathLike), "a file", "named by a text or a Path")
    name = _format_of_suffix(path) or ("svmlight" if suffix_of(path) in TEXT_SUFFIXES else None)
    if name is None:
        endings = ", ".join(suffix for kind in FORMATS.values() for suffix in kind.suffixes)
        raise SettingError(f"the ending of {fspath(path)!r} names no format; wanted one of {endings}, or the format")
    return name


def _format_of_suffix(path: FilePath) -> str | None:
    return next((name for name, kind in FORMATS.items() if suffix_of(path) in kind.suffixes), None)


def suffix_of(path: FilePath) -> str:
    """The path's ending in lower case, without the one that says how the file is compressed."""
    return (PurePath(path).with_suffix("") if compression_of_name(fspath(path)) else PurePath(path)).suffix.lower()


def _format_of_beginning(path: str) -> str:
    start = _beginning(path)
    if start.startswith(PARQUET_MAGIC):
        return "parquet"
    first = _first_line(start)
    if not first or SVMLIGHT_LINE.fullmatch(first) or SVMLIGHT_PAIR.search(first):
        return "svmlight"  # its reader reports what is wrong with an empty file, or with a line similar to its own
    if any(delimiter in first for delimiter in (b",", b"\t", b";")) and not first.startswith((b"{", b"[")):
        return "csv"
    if b"\0" in start:
        raise FileFormatError(input_name(path), "is a binary file; wanted text or Parquet")
    found = first[:LONGEST_QUOTE].decode("utf-8", "replace")
    meant = next((told for looks, told in OTHER_FILES if looks.match(first)), "")
    wanted = "wanted SVMlight text (label qid:ID index:value …), CSV or TSV with a header, or Parquet"
    raise FileFormatError(input_name(path), f"begins with {found!r}, which shows no format; {wanted}{meant}")


def begins_in_format(start: bytes, name: str) -> bool:
    """Whether a file that begins with these bytes is in the format of that name."""
    if name == "parquet" or start.startswith(PARQUET_MAGIC):
        return name == "parquet" and start.startswith(PARQUET_MAGIC)
    first = _first_line(start)
    is_svmlight = SVMLIGHT_PAIR.search(first) is not None
    delimiters = (b"\t",) if name == "tsv" else (b",", b";")
    is_table = any(delimiter in first for delimiter in delimiters) and not first.startswith((b"{", b"["))
    return is_svmlight if name == "svmlight" else is_table and not is_svmlight and b"\0" not in start


def _first_line(start: bytes) -> bytes:
    """The first line that is neither blank nor a comment; where its end was not read, without its last word."""
    *lines, last = start.split(b"\n")
    whole_words, blank, _ = last.rpartition(b" ")
    stripped = (line.strip() for line in [*lines, whole_words if blank else last])
    return next((line for line in stripped if line and not line.startswith(b"#")), b"")


def _beginning(path: str) -> bytes:
    if not is_standard(path):
        with open_input(path) as file:
            return file.read(BEGINNING)
    start = bytes(cast(BufferedReader, sys.stdin.buffer).peek(BEGINNING))
    compression = compression_of_bytes(start)
    return start if compression is None else compression.decoder().decompress(start)


def write_options(function: Callable[..., None]) -> list[str]:
    """The names of the options that the writer of a format takes."""
    return [name for name in signature(function).parameters if name not in ("data", "path")]


def check_options(name: str, allowed: Sequence[str], options: Mapping[str, Any]) -> None:
    """Raise where the format of that name does not know one of the options."""
    unknown = [option for option in options if option not in allowed]
    if unknown:
        absent = Parameter(unknown[0], python=f"option {unknown[0]!r}")
        others = [
            part for option in allowed if option not in OF_CODE for part in (", ", Parameter(option, python=option))
        ]
        raise SettingError(Message(f"{name} files have no ", absent, " here; they have ", *others[1:]))


def write(
    data: RankingDataset | Iterable[RankingDataset], path: FilePath, *, format: str | None = None, **options: Any
) -> None:
    """Write a dataset to a file; reading the file gives the same dataset.

    Rows are written in the order they had in the data they came from. What the format has no place for, such as
    preferences, is left out, and the log says so. The file appears complete or not at all.

    Parameters
    ----------
    data : RankingDataset, or iterable of them
        What to write; several are written one after another, and only one needs memory at a time.
    path : str or path-like
        Where to write; `-` is standard output. Text whose name ends in .gz or .zst is compressed.
    format : {"svmlight", "csv", "tsv", "parquet"}, optional
        The format; the default is shown by the ending of `path`.
    **options : object
        Options of the format. For svmlight: `absent`, `index_base`, `threads`, as in `write_svmlight`. For the
        others: `columns`, the names to write; for csv and tsv also `delimiter` and `threads`.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> data = rw.RankingDataset.from_arrays([[0.5], [1.5]], [1, 0], qid=["a", "a"], feature_names=["bm25"])
    >>> with TemporaryDirectory() as folder:
    ...     rw.write(data, Path(folder, "data.csv"))
    ...     print(Path(folder, "data.csv").read_text())
    qid,label,bm25
    a,1,0.5
    a,0,1.5
    <BLANKLINE>
    """
    name = format_of_name(path) if format is None else format
    function = format_named(name).write
    check_options(name, write_options(function), options)
    function(data, path, **options)
