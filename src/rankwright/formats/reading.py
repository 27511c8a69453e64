"""Reading and writing datasets in any file format.

The format is the one that is named, or shown by the file's ending, or by its beginning where the ending says nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from io import BufferedReader
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any, cast

from rankwright.container.file import is_container
from rankwright.data.dataset import RankingDataset
from rankwright.errors import FileFormatError, Message, Parameter, SettingError, UnknownNameError, require_type
from rankwright.formats.blocks import Reader, errors_name_file
from rankwright.formats.category_texts import must_be_found
from rankwright.formats.delimited.files import DelimitedReader, write_delimited
from rankwright.formats.lines import LONGEST_QUOTE
from rankwright.formats.parquet import ParquetReader, write_parquet
from rankwright.formats.pipeline import Documents, TakeRows, read_in_chunks, read_whole, stream_rows
from rankwright.formats.sidecars import read_pairs, read_query_weights, read_scores, with_query_weights
from rankwright.formats.sources import FilePath, Paths, input_name, is_standard, listed, open_input, spooled
from rankwright.formats.storage.compressed import compression_of_bytes, compression_of_name
from rankwright.formats.svmlight.feature_names import names_beside
from rankwright.formats.svmlight.files import write_svmlight
from rankwright.formats.svmlight.parser import SvmlightReader


@dataclass(frozen=True, slots=True)
class Format:
    """One way to hold a dataset in files.

    `reader` makes a reader from the options of the format. `jumps`: whether it reads files in another order than from
    beginning to end.
    """

    suffixes: tuple[str, ...]
    reader: Callable[..., Reader]
    write: Callable[..., None]
    jumps: bool = False

    @property
    def options(self) -> list[str]:
        """The names of the options for reading its files."""
        return list(signature(self.reader).parameters)

    def read(self, paths: Paths, **options: Any) -> RankingDataset:
        """The dataset of all files."""
        return read_whole(paths, self.reader(**options))

    def iterate(self, paths: Paths, *, whole: bool = False, **options: Any) -> Iterator[RankingDataset]:
        """The datasets of whole queries that make up the files; memory holds a few. With `whole` there is one."""
        reader = self.reader(**options)
        return iter([read_whole(paths, reader)]) if whole else read_in_chunks(paths, reader)


FORMATS: Mapping[str, Format] = {
    "svmlight": Format((".letor", ".svm", ".svmlight", ".libsvm"), SvmlightReader, write_svmlight),
    "csv": Format((".csv",), DelimitedReader, write_delimited),
    "tsv": Format((".tsv",), partial(DelimitedReader, delimiter="\t"), partial(write_delimited, delimiter="\t")),
    "parquet": Format((".parquet", ".pq"), ParquetReader, write_parquet, jumps=True),
}

TEXT_SUFFIXES = (".txt", ".dat")  # endings of LETOR's files: written as SVMlight, read as any text format
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
    """Read a dataset from a file, several files, or standard input.

    Parameters
    ----------
    source : str, path-like, or a sequence of them
        The file, or the files that make up the dataset; `-` is standard input. Text may be compressed (.gz, .zst).
    format : {"svmlight", "csv", "tsv", "parquet"}, optional
        The format; LETOR files are svmlight. The default finds it by the ending or the beginning of the file.
    pairs : str or path-like, optional
        A file of preferences that belongs to the data; `read_pairs` describes it.
    query_weights : str or path-like, optional
        A file with a line `query weight` for each query.
    initial_scores : str or path-like, optional
        A file of scores that training starts from, one line for each document.
    **options : object
        Options of the format. For svmlight, those of `read_svmlight`: `absent`, `n_features`, `group`, `index_base`,
        `allow_infinity`, `threads`, `block_size`, and `feature_names`: a file with a name for each feature, one a line,
        or a list of them; feature_names.txt beside the data is found by itself, unless this is "none".
        For csv, tsv and parquet, those of `from_frame`: `columns`, `features`, `drop`, `allow_infinity`; and
        `categories`, the columns whose texts are categories, which trees can split on. For csv and
        tsv also `delimiter` (found in the first line by default), `names` (the columns of a file without a header),
        `description` (CatBoost's file of column types) and `threads`.

    Returns
    -------
    RankingDataset
        The documents of all files. Rows may be in any order, but a query must be in one file.

    Raises
    ------
    FileFormatError
        Where a file is not as it should be; the message names file, line or row, what was found and what was wanted.
    SettingError
        Where the format has no such option.

    Examples
    --------
    >>> import rankwright as rw
    >>> from tempfile import TemporaryDirectory
    >>> data = rw.synthetic.random_polynomial(20)
    >>> with TemporaryDirectory() as folder:
    ...     rw.write(data, f"{folder}/train.csv.gz")
    ...     again = rw.read(f"{folder}/train.csv.gz")
    >>> again.equals(data)
    True
    """
    name = format_of(source) if format is None else format
    chosen = format_named(name)
    with _readable(source, chosen, options) as paths:
        data = chosen.read(paths, **_checked(name, chosen.options, options, source))
    return _with_files_beside(data, pairs, query_weights, initial_scores)


def stream(
    source: Paths,
    take: TakeRows,
    *,
    format: str | None = None,
    pairs: FilePath | None = None,
    query_weights: FilePath | None = None,
    initial_scores: FilePath | None = None,
    **options: Any,
) -> Documents:
    """The documents that `read` reads with the same options, without features; rows with these go to `take`.

    They come a block at a time, in the order of the file.
    """
    name = format_of(source) if format is None else format
    chosen = format_named(name)
    with _readable(source, chosen, options) as paths:
        documents = stream_rows(paths, chosen.reader(**_checked(name, chosen.options, options, source)), take)
    return replace(documents, data=_with_files_beside(documents.data, pairs, query_weights, initial_scores))


def iterate(
    source: Paths, *, format: str | None = None, whole: bool = False, **options: Any
) -> Iterator[RankingDataset]:
    """The datasets of whole queries that make up what `read` reads with the same options; with `whole` there is one."""
    name = format_of(source) if format is None else format
    chosen = format_named(name)
    return chosen.iterate(source, whole=whole, **_checked(name, chosen.options, options, source))


def _readable(source: Paths, chosen: Format, options: Mapping[str, Any]) -> AbstractContextManager[Paths]:
    """The files; a copy of standard input where it is read twice, or not from beginning to end."""
    again = chosen.jumps or must_be_found(options.get("categories", ()))
    return spooled(source) if again else nullcontext(source)


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


def read_wide(source: Paths, n_features: int | None, *, format: str | None = None, **options: Any) -> RankingDataset:
    """The dataset of a file that has `n_features` features, though text that leaves out zeros may show fewer.

    None takes the features that the file shows.
    """
    name = format_of(source) if format is None else format
    if n_features is not None and "n_features" in format_named(name).options:
        options["n_features"] = n_features
    return read(source, format=name, **options)


def write(data: RankingDataset, path: FilePath, *, format: str | None = None, **options: Any) -> None:
    """Write a dataset to a file; reading the file gives the same dataset.

    Rows are written in the order they had in the data they came from. What the format has no place for, such as
    preferences, is left out, and the log says so. The file appears complete or not at all.

    Parameters
    ----------
    data : RankingDataset
        What to write.
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
    function(data, path, **_checked(name, write_options(function), options))


def format_named(name: str) -> Format:
    """The format of that name."""
    if name not in FORMATS:
        raise UnknownNameError("format", name, known=FORMATS)
    return FORMATS[name]


def format_of(source: Paths) -> str:
    """The name of the format that the first file's ending shows or, where that says nothing, its beginning."""
    path = listed(source)[0]
    if not is_standard(path) and is_container(path):
        raise FileFormatError(input_name(path), "is a model file; wanted documents. Are two arguments swapped?")
    return _format_of_suffix(path) or _format_of_beginning(path)


def format_of_name(path: FilePath) -> str:
    """The name of the format in which a file with this ending is written."""
    require_type(path, (str, PathLike), "a file", "named by a text or a Path")
    name = _format_of_suffix(path) or ("svmlight" if plain_suffix(path) in TEXT_SUFFIXES else None)
    if name is None:
        endings = ", ".join(suffix for kind in FORMATS.values() for suffix in kind.suffixes)
        raise SettingError(f"the ending of {fspath(path)!r} names no format; wanted one of {endings}, or the format")
    return name


def _format_of_suffix(path: FilePath) -> str | None:
    return next((name for name, kind in FORMATS.items() if plain_suffix(path) in kind.suffixes), None)


def plain_suffix(path: FilePath) -> str:
    """The path's ending in lower case, without the one that says how the file is compressed."""
    return (PurePath(path).with_suffix("") if compression_of_name(fspath(path)) else PurePath(path)).suffix.lower()


def _format_of_beginning(path: str) -> str:
    start = _beginning(path)
    if start.startswith(PARQUET_MAGIC):
        return "parquet"
    first = _first_line(start)
    if not first or SVMLIGHT_LINE.fullmatch(first) or SVMLIGHT_PAIR.search(first):
        return "svmlight"  # its reader reports what is wrong with an empty file, or with a line similar to its own
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


def _checked(
    name: str, known: Sequence[str], options: Mapping[str, Any], source: Paths | None = None
) -> Mapping[str, Any]:
    """The options, after a check that the format knows all of them; with names of features from a file beside them."""
    if source is not None and "feature_names" in known and options.get("feature_names") is None:
        options = {**options, "feature_names": names_beside(listed(source))}
    unknown = [option for option in options if option not in known]
    if unknown:
        absent = Parameter(unknown[0], python=f"option {unknown[0]!r}")
        others = [part for option in known for part in (", ", Parameter(option, python=option))]
        raise SettingError(Message(f"{name} files have no ", absent, " here; they have ", *others[1:]))
    return options
