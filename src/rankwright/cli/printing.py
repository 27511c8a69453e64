"""How commands print their results: one JSON document, or tables on the terminal."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import typer

from rankwright.cli.verbosity import tell
from rankwright.errors import require
from rankwright.tables.text import ShownTable, ShownTables, table_lines

LABEL_WIDTH = 22  # width of the text to the left of a value in a report
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def print_json(document: Any) -> None:
    """Print one JSON document on stdout."""
    typer.echo(json.dumps(document, indent=2, allow_nan=False))


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[str] = (), err: bool = False
) -> None:
    """Print a table, on stdout or on stderr; the columns named in `numbers` are aligned right.

    Words are never cut. On a terminal, cells of text are wrapped to its width; in a file every row is one line.
    """
    on_terminal = (sys.stderr if err else sys.stdout).isatty()
    header, *lines = table_lines(columns, rows, numbers=numbers, width=_width(err))
    bold = on_terminal and "NO_COLOR" not in os.environ
    typer.echo("\n".join([f"{BOLD}{header}{PLAIN}" if bold else header, *lines]), err=err)


def print_text(text: str, *, err: bool = False) -> None:
    """Print a sentence, on a terminal wrapped between words to its width."""
    width = _width(err)
    typer.echo(text if width is None else "\n".join(textwrap.wrap(text, width, break_on_hyphens=False)), err=err)


def _width(err: bool) -> int | None:
    """The width of where results go; None for a file, which has none."""
    on_terminal = (sys.stderr if err else sys.stdout).isatty()
    return shutil.get_terminal_size().columns if on_terminal or "COLUMNS" in os.environ else None


def print_shown(table: ShownTable, *, err: bool = False) -> None:
    """Print a table with the line above it and the lines below it."""
    print_text(table.title, err=err)
    print_table(table.columns, table.rows, numbers=table.numbers, err=err)
    for note in table.notes:
        print_text(note, err=err)


def print_tables(parts: Sequence[ShownTables], markdown: bool, *, err: bool) -> None:
    """Print several results, on the terminal or as Markdown; the notes of the first, its conclusion, come last."""
    first, *more = parts
    ordered = [ShownTables(first.tables), *more, ShownTables((), first.notes)]
    if markdown:
        typer.echo("\n\n".join(part.markdown() for part in ordered), err=err)
        return
    for part in ordered:
        for table in part.tables:
            print_shown(table, err=err)
            typer.echo(err=err)
        for note in part.notes:
            print_text(note, err=err)
        if part.notes and part is not ordered[-1]:
            typer.echo(err=err)


def print_rows(rows: Iterable[tuple[str, str]], title: str = "", items: Sequence[str] = ()) -> None:
    """Print values with their labels to the left, and below them a list with a title, where it has items."""
    for label, text in rows:
        typer.echo(f"{label:{LABEL_WIDTH}}{text}")
    if items:
        typer.echo("\n".join(["", title, *(f"- {item}" for item in items)]))


def write_per_query(path: str, columns: Mapping[str, Any], *, as_json: bool) -> None:
    """Write the table of queries: separated by tabs, or by commas where the name ends in .csv; `-` is stdout."""
    require(
        not (as_json and path == "-"), "--json and the table of queries cannot both go to standard output: name a file"
    )
    from rankwright.report.table_files import write_columns

    write_columns(path, columns)


def tell_written(*paths: str | PathLike[str] | None) -> None:
    """Name the files that were written, on stderr."""
    for path in paths:
        if path is not None:
            tell(f"wrote {path}")


def require_file(out: str | None) -> None:
    """Raise where a model would go to standard output."""
    require(out != "-", "a model goes to a file, not to standard output")
