"""Tables and documents written to files, whole or not at all."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.errors import SettingError, UnknownNameError
from rankwright.formats.file_formats import suffix_of
from rankwright.formats.storage.streams import atomic_text_output

if TYPE_CHECKING:
    from rankwright.compression.curve import Compressed

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t", "": "\t"}  # by the ending of a table's name
CURVE_KINDS = ("csv", "json")


def write_rows(
    path: str | os.PathLike[str], rows: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None
) -> None:
    """Write rows as CSV under a header of `columns`, by default those of the first row; None is left empty."""
    listed = list(rows)
    with atomic_text_output(os.fspath(path)) as file:
        table = csv.DictWriter(file, list(listed[0]) if columns is None else columns, lineterminator="\n")
        table.writeheader()
        table.writerows(listed)


def write_columns(path: str | os.PathLike[str], columns: Mapping[str, Any]) -> None:
    """Write columns as text, separated as `delimiter_of` says; None and NaN are left empty."""
    with atomic_text_output(os.fspath(path)) as file:
        table = csv.writer(file, delimiter=delimiter_of(path), lineterminator="\n")
        table.writerow(columns)
        listed = [column.tolist() if hasattr(column, "tolist") else column for column in columns.values()]
        for row in zip(*listed, strict=True):
            table.writerow(["" if value is None or value != value else value for value in row])


def delimiter_of(path: str | os.PathLike[str]) -> str:
    """What separates the columns of a table: a comma where the name ends in .csv, a tab in other names of text."""
    ending = suffix_of(path)
    if ending not in DELIMITERS:
        wanted = ".csv for commas, .tsv or .txt for tabs"
        raise SettingError(f"a table of this kind is text, and {os.fspath(path)!r} ends otherwise; wanted {wanted}")
    return DELIMITERS[ending]


def write_json(path: str | os.PathLike[str], document: Any, *, allow_nan: bool = True) -> None:
    """Write one JSON document."""
    with atomic_text_output(os.fspath(path)) as file:
        file.write(json.dumps(document, indent=2, allow_nan=allow_nan) + "\n")


def write_curve(compressed: Compressed, path: str | os.PathLike[str]) -> None:
    """Write a row for each model that a compression tried: .csv, or .json with the whole result."""
    if curve_kind(path) == "csv":
        write_rows(path, (point.to_dict() | {"chosen": int(point is compressed.chosen)} for point in compressed.points))
    else:
        write_json(path, compressed.to_dict())


def curve_kind(path: str | os.PathLike[str]) -> str:
    """How the curve of a compression is written, by the ending of its name: csv or json."""
    kind = Path(path).suffix.lower().lstrip(".")
    if kind not in CURVE_KINDS:
        raise UnknownNameError("kind of table", kind, known=CURVE_KINDS)
    return kind
