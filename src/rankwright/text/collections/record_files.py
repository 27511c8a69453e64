"""Files of records, and which format each is in.

A record is what a file says of one document, query or judgment: values by the names of fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from rankwright.container.file import is_container
from rankwright.errors import FileFormatError, UnknownNameError
from rankwright.formats.file_formats import PARQUET_MAGIC, suffix_of
from rankwright.formats.lines import LONGEST_QUOTE
from rankwright.formats.storage.places import is_folder
from rankwright.formats.storage.streams import Paths, input_name, input_names, is_standard, list_of_paths, open_input
from rankwright.text.collections.faults import CollectionProblems
from rankwright.text.collections.json_records import json_records
from rankwright.text.collections.table_records import csv_records, parquet_records, tsv_records
from rankwright.text.collections.text_folders import files_below, folder_records
from rankwright.text.collections.trec_documents import START, trec_records

Record: TypeAlias = dict[str, Any]
# The line or row at which each record stands, and the record; a file of a folder has no line.
Records: TypeAlias = Iterator[tuple[int | None, Record]]
FOLDER = "folder"
READERS: Mapping[str, Callable[[str, CollectionProblems], Records]] = {
    "jsonl": json_records,
    "csv": csv_records,
    "tsv": tsv_records,
    "parquet": parquet_records,
    "trec": trec_records,
    FOLDER: folder_records,
}
FORMAT_OF_SUFFIX = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".trec", ".sgml", ".sgm"), "trec"),
    ".csv": "csv",
    ".tsv": "tsv",
}
BEGINNING = 1 << 12  # bytes of a file that tell its format


class RecordFiles:
    """Files that are read one after the other, as often as wanted; `format` is that of all, or each shows its own."""

    def __init__(self, source: Paths, format: str | None = None) -> None:
        if format is not None and format not in READERS:
            raise UnknownNameError("format of documents", format, READERS)
        given = list_of_paths(source)
        self.name = input_names(given)
        self._files = [found for path in given for found in _files_of(path, format)]

    def read(self, problems: CollectionProblems) -> Iterator[tuple[str, int | None, Record]]:
        """Each record with its file and its place there."""
        for path, format in self._files:
            for line, record in READERS[format](path, problems):
                yield path, line, record


def _files_of(path: str, format: str | None) -> list[tuple[str, str]]:
    """The files to read, with their formats: a folder is one of texts, unless all its files are of another format."""
    if is_standard(path) or not is_folder(path):
        if format == FOLDER:
            raise FileFormatError(path, "is a file; wanted a folder of texts")
        return [(path, format or format_of_records(path))]
    inside = files_below(path)
    if not inside:
        raise FileFormatError(path, "is an empty folder; wanted documents")
    shown = {FORMAT_OF_SUFFIX.get(suffix_of(file)) for file in inside}
    if format not in (None, FOLDER):
        return [(file, str(format)) for file in inside]
    if format is None and None not in shown:
        return [(file, format_of_records(file)) for file in inside]
    return [(path, FOLDER)]


def format_of_records(path: str) -> str:
    """The format that a file's ending shows or, where that says nothing, its beginning."""
    if not is_standard(path) and is_container(path):
        raise FileFormatError(input_name(path), "is a model file; wanted documents. Are two arguments swapped?")
    known = FORMAT_OF_SUFFIX.get(suffix_of(path))
    if known is not None:
        return known
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
    if b"\0" not in start and any(mark in first for mark in (b"\t", b",", b";")):
        return "tsv" if b"\t" in first else "csv"
    found = first[:LONGEST_QUOTE].decode("utf-8", "replace")
    problem = f"begins with {found!r}, which shows no format; wanted one of {', '.join(READERS)}"
    raise FileFormatError(input_name(path), problem)
