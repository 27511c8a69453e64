"""Files of records, and which format each is in.

A record is what a file says of one document, query or judgment: values by the names of fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias

from rankwright.container.file import is_container
from rankwright.errors import FileFormatError, InputError, UnknownNameError, folded_name
from rankwright.formats.file_formats import PARQUET_MAGIC, suffix_of
from rankwright.formats.lines import LONGEST_QUOTE
from rankwright.formats.storage.places import is_folder
from rankwright.formats.storage.streams import Paths, input_name, input_names, is_standard, list_of_paths, open_input
from rankwright.text.collections.faults import CollectionProblems
from rankwright.text.collections.field_kinds import is_blank, listed_names
from rankwright.text.collections.json_records import json_records
from rankwright.text.collections.table_records import (
    Row,
    csv_rows,
    looks_like_names,
    parquet_records,
    qrels_records,
    tsv_rows,
)
from rankwright.text.collections.text_folders import files_below, folder_records
from rankwright.text.collections.trec_documents import START, trec_records

Record: TypeAlias = dict[str, Any]
# The line or row at which each record stands, and the record; a file of a folder has no line.
Records: TypeAlias = Iterator[tuple[int | None, Record]]
FOLDER, QRELS = "folder", "qrels"
READERS: Mapping[str, Callable[[str, CollectionProblems], Records]] = {
    "jsonl": json_records,
    "parquet": parquet_records,
    "trec": trec_records,
    FOLDER: folder_records,
    QRELS: qrels_records,
}
TABLES: Mapping[str, Callable[[str, CollectionProblems], Iterator[Row]]] = {"csv": csv_rows, "tsv": tsv_rows}
FORMAT_OF_SUFFIX = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".trec", ".sgml", ".sgm"), "trec"),
    ".csv": "csv",
    ".tsv": "tsv",
    ".qrels": QRELS,
}
BEGINNING = 1 << 12  # bytes of a file that tell its format


@dataclass(frozen=True, slots=True)
class RecordKind:
    """What records are of: what they are called, and how their files are told.

    A first line that has one of the `usual` names of columns is a header. `unnamed` names that many columns without
    one. With `guesses`, a first line of CSV that has none of these names may be a header by its looks. `fallback` is
    the format of text that shows none.
    """

    what: str
    formats: tuple[str, ...]
    usual: frozenset[str]
    unnamed: Callable[[int], Sequence[str]]
    guesses: bool = False
    fallback: str | None = None

    def with_names(self, columns: Mapping[str, str] | None) -> RecordKind:
        """The same kind, for files whose columns have these names, too."""
        return replace(self, usual=self.usual | {folded_name(name) for name in (columns or {}).values()})

    def has_header(self, cells: Sequence[str], format: str) -> bool:
        """Whether the first line of a table names its columns."""
        named = any(folded_name(cell) in self.usual for cell in cells)
        return named or (self.guesses and format == "csv" and looks_like_names(cells))


class RecordFiles:
    """Files that are read one after the other, as often as wanted; `format` is that of all, or each shows its own."""

    def __init__(self, source: Paths, kind: RecordKind, format: str | None = None) -> None:
        if format is not None and format not in kind.formats:
            raise UnknownNameError(f"format of {kind.what}", format, kind.formats)
        given = list_of_paths(source)
        self.name = input_names(given)
        self._kind = kind
        self._files = [found for path in given for found in _files_of(path, kind, format)]

    def read(self, problems: CollectionProblems) -> Iterator[tuple[str, int | None, Record]]:
        """Each record with its file and its place there."""
        for path, format in self._files:
            for line, record in self._records(path, format, problems):
                yield path, line, record

    def _records(self, path: str, format: str, problems: CollectionProblems) -> Records:
        if format not in TABLES:
            return READERS[format](path, problems)
        return _named_rows(path, TABLES[format](path, problems), self._kind, format)


class RecordsGiven:
    """Records that the caller has in memory."""

    def __init__(self, records: Sequence[Mapping[Any, Any]], kind: RecordKind) -> None:
        self.name = f"the {kind.what}"
        self._records = records

    def read(self, problems: CollectionProblems) -> Iterator[tuple[str, int | None, Record]]:  # noqa: ARG002
        """Each record with its number, from 1."""
        for number, record in enumerate(self._records, start=1):
            yield self.name, number, {str(name): value for name, value in record.items()}


def records_of(source: Any, kind: RecordKind, format: str | None) -> RecordFiles | RecordsGiven:
    """The records of files, or those that are given."""
    if isinstance(source, Iterable) and not isinstance(source, str | bytes):
        source = list(source)
        if source and all(isinstance(item, Mapping) for item in source):
            if format is not None:
                raise InputError(f"{kind.what} that are given have no format: leave it out")
            return RecordsGiven(source, kind)
    return RecordFiles(source, kind, format)


def _files_of(path: str, kind: RecordKind, format: str | None) -> list[tuple[str, str]]:
    """The files to read, with their formats: a folder is one of texts, unless all its files are of another format."""
    if is_standard(path) or not is_folder(path):
        if format == FOLDER:
            raise FileFormatError(path, "is a file; wanted a folder of texts")
        return [(path, format or format_of_records(path, kind))]
    inside = files_below(path)
    if not inside:
        raise FileFormatError(path, f"is an empty folder; wanted {kind.what}")
    shown = {FORMAT_OF_SUFFIX.get(suffix_of(file)) for file in inside}
    if format not in (None, FOLDER):
        return [(file, str(format)) for file in inside]
    if FOLDER not in kind.formats or (format is None and None not in shown):
        return [(file, format_of_records(file, kind)) for file in inside]
    return [(path, FOLDER)]


def format_of_records(path: str, kind: RecordKind) -> str:
    """The format that a file's ending shows or, where that says nothing, its beginning."""
    name = input_name(path)
    if not is_standard(path) and is_container(path):
        raise FileFormatError(name, f"is a model file; wanted {kind.what}. Are two arguments swapped?")
    found = FORMAT_OF_SUFFIX.get(suffix_of(path)) or _format_of_beginning(path, kind)
    if found not in kind.formats:
        problem = f"looks like {found}; {kind.what} come as {', '.join(kind.formats)}"
        raise FileFormatError(name, problem)
    return found


def _format_of_beginning(path: str, kind: RecordKind) -> str:
    with open_input(path) as file:
        start = file.read(BEGINNING)
    if start.startswith(PARQUET_MAGIC):
        return "parquet"
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    first = text.partition(b"\n")[0]
    if text.startswith(b"{"):
        return "jsonl"
    if START.search(start):
        return "trec"
    for mark, format in ((b"\t", "tsv"), (b",", "csv"), (b";", "csv")):
        cells = first.decode("utf-8", "replace").split(mark.decode())
        if len(cells) > 1 and b"\0" not in start and (kind.fallback is None or kind.has_header(cells, format)):
            return format
    if kind.fallback is not None and text and b"\0" not in start:
        return kind.fallback
    found = first[:LONGEST_QUOTE].decode("utf-8", "replace")
    problem = f"begins with {found!r}, which shows no format; wanted one of {', '.join(kind.formats)}"
    raise FileFormatError(input_name(path), problem)


def _named_rows(path: str, rows: Iterator[Row], kind: RecordKind, format: str) -> Records:
    first = next(rows, None)
    if first is None:
        raise FileFormatError(input_name(path), "is empty; wanted a line that names the columns")
    names = [cell.strip() for cell in first[1]]
    if not kind.has_header(names, format):
        rows, names = chain([first], rows), list(kind.unnamed(len(names)))
    if len(set(names)) < len(names):
        raise FileFormatError(input_name(path), "two columns have the same name; wanted different ones", first[0])
    for line, cells in rows:
        yield line, dict(zip(names, cells, strict=True))


def numbered_columns(*names: str) -> Callable[[int], list[str]]:
    """Names of columns without a header: these, then numbers."""
    return lambda n_columns: [*names, *(f"column {place}" for place in range(len(names) + 1, n_columns + 1))][
        :n_columns
    ]


def roles_of(
    file: str,
    record: Record,
    usual: Mapping[str, Sequence[str]],
    said: Mapping[str, str] | None,
    *,
    needed: Sequence[str],
) -> dict[str, str]:
    """Which field has which role: as the caller says, or by usual names; `needed` must be among them."""
    roles = dict(said or {})
    for role, name in roles.items():
        if role not in usual:
            raise InputError(f"the roles of columns are {', '.join(usual)}, got {role!r}")
        if name not in record:
            raise FileFormatError(file, f"there is no column {name!r}; there are {listed_names(record)}")
    by_name = {folded_name(name): name for name in reversed(list(record)) if name not in roles.values()}
    for role, names in usual.items():
        if role not in roles:
            found = next((by_name.pop(name) for name in names if name in by_name), None)
            roles |= {} if found is None else {role: found}
    missing = next((role for role in needed if role not in roles), None)
    if missing is not None:
        wanted = f"wanted one called {', '.join(usual[missing][:4])} or the like"
        raise FileFormatError(
            file, f"no column is known to hold the {missing}; there are {listed_names(record)}; {wanted}"
        )
    return roles


def text_in(record: Record, name: str | None) -> str:
    """The text in a field, "" where there is none."""
    value = None if name is None else record.get(name)
    return str(value).strip() if isinstance(value, str | int | float) and not is_blank(value) else ""
