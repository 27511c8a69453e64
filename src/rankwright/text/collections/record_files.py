"""Files of records, and which format each is in.

A record is what a file says of one document, query or judgment: values by the names of fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from rankwright.errors import FileFormatError, UnknownNameError
from rankwright.formats.file_formats import suffix_of
from rankwright.formats.storage.places import is_folder
from rankwright.formats.storage.streams import Paths, input_name, input_names, is_standard, list_of_paths, open_input
from rankwright.text.collections.faults import CollectionProblems
from rankwright.text.collections.json_records import json_records

Record: TypeAlias = dict[str, Any]
Records: TypeAlias = Iterator[tuple[int | None, Record]]  # the line or row at which each stands, and the record
SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
BEGINNING = 1 << 12  # bytes of a file that tell its format

READERS: Mapping[str, Callable[[str, CollectionProblems], Records]] = {"jsonl": json_records}


class RecordFiles:
    """Files that are read one after the other, as often as wanted; `format` is that of all, or each shows its own."""

    def __init__(self, source: Paths, format: str | None = None) -> None:
        if format is not None and format not in READERS:
            raise UnknownNameError("format of documents", format, READERS)
        given = list_of_paths(source)
        self.name = input_names(given)
        self._files = [(path, format or format_of_records(path)) for path in given]

    def read(self, problems: CollectionProblems) -> Iterator[tuple[str, int | None, Record]]:
        """Each record with its file and its place there."""
        for path, format in self._files:
            for line, record in READERS[format](path, problems):
                yield path, line, record


def format_of_records(path: str) -> str:
    """The format that a file's ending shows or, where that says nothing, its beginning."""
    if not is_standard(path) and is_folder(path):
        return "folder"
    known = SUFFIXES.get(suffix_of(path))
    if known is not None:
        return known
    with open_input(path) as file:
        start = file.read(BEGINNING)
    if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{":
        return "jsonl"
    raise FileFormatError(input_name(path), f"shows no format; wanted one of {', '.join(READERS)}")
