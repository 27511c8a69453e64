"""Reading and writing datasets in any file format.

The format is the one named, or shown by the file's ending, or by its beginning where the ending says nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from io import BufferedReader
from os import fspath
from pathlib import PurePath
from typing import Any, cast

from rankwright.data.dataset import RankingDataset
from rankwright.errors import FileFormatError, SettingError, UnknownNameError
from rankwright.formats.blocks import Reader, errors_name_file
from rankwright.formats.compressed import compression_of_bytes, compression_of_name
from rankwright.formats.delimited.files import DelimitedReader, write_delimited
from rankwright.formats.lines import LONGEST_QUOTE
from rankwright.formats.parquet import ParquetReader, write_parquet
from rankwright.formats.pipeline import Documents, TakeFeatures, read_in_chunks, read_whole, stream_features
from rankwright.formats.sidecars import read_pairs, read_query_weights, read_scores, with_query_weights
from rankwright.formats.sources import FilePath, Paths, input_name, is_standard, listed, open_input, spooled
from rankwright.formats.svmlight.files import SvmlightReader, write_svmlight


@dataclass(frozen=True, slots=True)
class Format:
    """One way to hold a dataset in files.

    `reader` makes a reader from the options of the format. `jumps`: it does not go through a file from beginning to
    end.
    """

    suffixes: tuple[str, ...]
    reader: Callable[..., Reader]
    write: Callable[..., None]
    jumps: bool = False

    @property
    def options(self) -> list[str]:
        """The names of the options with which its files can be read."""
        return list(signature(self.reader).parameters)

    def read(self, paths: Paths, **options: Any) -> RankingDataset:
        """The dataset of all files."""
        return read_whole(paths, self.reader(**options))

    def iterate(self, paths: Paths, **options: Any) -> Iterator[RankingDataset]:
        """The datasets of whole queries that make up the files; memory holds a few."""
        return read_in_chunks(paths, self.reader(**options))

    def stream(self, paths: Paths, take: TakeFeatures, **options: Any) -> Documents:
        """All of the files but their features, which go to `take`."""
        return stream_features(paths, self.reader(**options), take)


FORMATS: Mapping[str, Format] = {
    "svmlight": Format((".letor", ".svm", ".svmlight", ".libsvm"), SvmlightReader, write_svmlight),
    "csv": Format((".csv",), DelimitedReader, write_delimited),
    "tsv": Format((".tsv",), partial(DelimitedReader, delimiter="\t"), partial(write_delimited, delimiter="\t")),
    "parquet": Format((".parquet", ".pq"), ParquetReader, write_parquet, jumps=True),
}

TEXT_SUFFIXES = (".txt", ".dat")  # what LETOR's files end in: written as SVMlight, but any text when read
PARQUET_MAGIC = b"PAR1"
NUMBER = rb"([+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan)"
SVMLIGHT_LINE = re.compile(NUMBER + rb"([ \t]+[^\s:#]+:\S*)*[ \t]*(#.*)?", re.IGNORECASE)
SVMLIGHT_PAIR = re.compile(rb"(^|[ \t])(qid|\d+):[^ \t,;]+([ \t]|$)")
BEGINNING = 1 << 16  # bytes of a file in which its format is looked for


def read(
    source: Paths,
    *,
    format: str | None = None,
    pairs: FilePath | None = None,
    query_weights: FilePath | None = None,
    initial_scores: FilePath | None = None,
    **options: Any,
) -> RankingDataset:
    """The dataset of a file, of several, or of standard input (`-`).

    `format` is one of svmlight (LETOR files too), csv, tsv and parquet, and found out where it is not given. `pairs`
    and `query_weights` name files of preferences and of queries' weights that stand beside, `initial_scores` one of
    scores to start training from, a line a document. The other options are those of the format's own reader: `absent`,
    `n_features`, `group`, … of `read_svmlight`; `columns`, `features`, `drop`, … of `read_delimited` and
    `read_parquet`.
    """
    name = format_of(source) if format is None else format
    chosen = format_named(name)
    with spooled(source) if chosen.jumps else nullcontext(source) as paths:
        data = chosen.read(paths, **_checked(name, chosen.options, options))
    return _with_files_beside(data, pairs, query_weights, initial_scores)


def stream(
    source: Paths,
    take: TakeFeatures,
    *,
    format: str | None = None,
    pairs: FilePath | None = None,
    query_weights: FilePath | None = None,
    initial_scores: FilePath | None = None,
    **options: Any,
) -> Documents:
    """The documents that `read` reads with the same options; their features go to `take`, and memory keeps none.

    They come a block of rows at a time, in the order of the file.
    """
    name = format_of(source) if format is None else format
    chosen = format_named(name)
    with spooled(source) if chosen.jumps else nullcontext(source) as paths:
        documents = chosen.stream(paths, take, **_checked(name, chosen.options, options))
    return replace(documents, data=_with_files_beside(documents.data, pairs, query_weights, initial_scores))


def _with_files_beside(
    data: RankingDataset, pairs: FilePath | None, query_weights: FilePath | None, initial_scores: FilePath | None
) -> RankingDataset:
    if pairs is not None:
        with errors_name_file(input_name(pairs)):
            data = data.with_preferences(read_pairs(pairs))
    if query_weights is not None:
        with errors_name_file(input_name(query_weights)):
            data = with_query_weights(data, read_query_weights(query_weights))
    if initial_scores is not None:
        with errors_name_file(input_name(initial_scores)):
            data = data.with_initial_scores(read_scores(initial_scores, n_docs=data.n_docs))
    return data


def read_wide(source: Paths, n_features: int, *, format: str | None = None, **options: Any) -> RankingDataset:
    """The dataset of a file that must have `n_features` features, as text that leaves out zeros may not show."""
    name = format_of(source) if format is None else format
    if "n_features" in format_named(name).options:
        options["n_features"] = n_features
    return read(source, format=name, **options)


def write(data: RankingDataset, path: FilePath, *, format: str | None = None, **options: Any) -> None:
    """Write the dataset into a file, in the order of the caller's data; reading it gives the same dataset.

    `format` is one of those of `read`, and shown by the file's ending where it is not given. The file appears whole or
    not at all. The other options are those of the format's own writer.
    """
    name = format_of_name(path) if format is None else format
    function = format_named(name).write
    function(data, path, **_checked(name, write_options(function), options))


def format_named(name: str) -> Format:
    """The format of that name."""
    if name not in FORMATS:
        raise UnknownNameError("format", name, known=FORMATS)
    return FORMATS[name]


def format_of(source: Paths) -> str:
    """The name of the format that the first file's ending or, where that says nothing, its beginning shows."""
    path = listed(source)[0]
    return _format_of_suffix(path) or _format_of_beginning(path)


def format_of_name(path: FilePath) -> str:
    """The name of the format that a file to be written should have by its ending."""
    name = _format_of_suffix(path) or ("svmlight" if plain_suffix(path) in TEXT_SUFFIXES else None)
    if name is None:
        endings = ", ".join(suffix for kind in FORMATS.values() for suffix in kind.suffixes)
        raise SettingError(f"the ending of {fspath(path)!r} names no format; wanted one of {endings}, or the format")
    return name


def _format_of_suffix(path: FilePath) -> str | None:
    return next((name for name, kind in FORMATS.items() if plain_suffix(path) in kind.suffixes), None)


def plain_suffix(path: FilePath) -> str:
    """The path's ending in small letters, without the one that says how it is compressed."""
    return (PurePath(path).with_suffix("") if compression_of_name(fspath(path)) else PurePath(path)).suffix.lower()


def _format_of_beginning(path: str) -> str:
    start = _beginning(path)
    if start.startswith(PARQUET_MAGIC):
        return "parquet"
    first = _first_line(start)
    if not first or SVMLIGHT_LINE.fullmatch(first) or SVMLIGHT_PAIR.search(first):
        return "svmlight"  # its reader says what is wrong with an empty file, or with a line much like its own
    if any(delimiter in first for delimiter in (b",", b"\t", b";")):
        return "csv"
    if b"\0" in start:
        raise FileFormatError(input_name(path), "is a binary file; wanted text or Parquet")
    raise FileFormatError(
        input_name(path),
        f"begins with {first[:LONGEST_QUOTE].decode('utf-8', 'replace')!r}, which shows no format; wanted SVMlight "
        f"text (label qid:ID index:value …), CSV or TSV with a header, or Parquet",
    )


def _first_line(start: bytes) -> bytes:
    """The first line that is neither blank nor a comment; where its end is not seen, without its last word."""
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
    """The names of the options that a format's writer takes."""
    return [name for name in signature(function).parameters if name not in ("data", "path")]


def _checked(name: str, known: Sequence[str], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options, all of which format `name` must know."""
    unknown = [option for option in options if option not in known]
    if unknown:
        raise SettingError(f"{name} files have no option {unknown[0]!r} here; they have {', '.join(known)}")
    return options
