"""Tables and documents written to files, whole or not at all."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankwright.formats.sources import atomic_text_output


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
    """Write columns separated by tabs; a value that does not count is left empty."""
    with atomic_text_output(os.fspath(path)) as file:
        file.write("\t".join(columns) + "\n")
        for row in zip(*(column.tolist() for column in columns.values()), strict=True):
            cells = ("" if isinstance(value, float) and math.isnan(value) else str(value) for value in row)
            file.write("\t".join(cells) + "\n")


def write_json(path: str | os.PathLike[str], document: Any, *, allow_nan: bool = True) -> None:
    """Write one JSON document."""
    with atomic_text_output(os.fspath(path)) as file:
        file.write(json.dumps(document, indent=2, allow_nan=allow_nan) + "\n")


def short(value: Any, digits: int = 4) -> str:
    """A value in few letters: numbers with that many digits."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
