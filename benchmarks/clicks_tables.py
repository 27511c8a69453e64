"""What the benchmarks of clicks share: rows printed as a table, and written as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.timing import RESULTS


def show(name: str, question: str, rows: Sequence[Mapping[str, Any]], **notes: Any) -> None:
    """Print the rows under the question, and write them with the notes to `results/`."""
    print(f"\n{question}")
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [[_text(row.get(column, "")) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    for line in (columns, *cells):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    RESULTS.mkdir(exist_ok=True)
    document = {"question": question, "rows": list(rows)} | notes
    (RESULTS / f"{name}.json").write_text(json.dumps(document, indent=2) + "\n")


def _text(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
