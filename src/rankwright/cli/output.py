"""How commands give their results: one JSON document, or a table on the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import typer

from rankwright.cli.voice import tell
from rankwright.errors import require

LABEL_WIDTH = 22  # width of the text to the left of a value in a report


def print_json(document: Any) -> None:
    """Print one JSON document on stdout."""
    typer.echo(json.dumps(document, indent=2, allow_nan=False))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[str] = ()) -> None:
    """Print a table on stdout; the columns named in `numbers` are aligned right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        right = column in set(numbers)
        table.add_column(Text(column), justify="right" if right else "left", overflow="fold", no_wrap=right)
    for row in rows:
        table.add_row(*map(Text, row))
    Console(highlight=False).print(table)


def tell_written(*paths: str | PathLike[str] | None) -> None:
    """Name the files that were written, on stderr."""
    for path in paths:
        if path is not None:
            tell(f"wrote {path}")


def require_file(out: str | None) -> None:
    """Raise where a model would go to standard output."""
    require(out != "-", "a model goes to a file, not to standard output")
