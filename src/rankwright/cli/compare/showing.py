"""Several tables on the terminal, or as Markdown; what ends the first of them is said last."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from rankwright.cli.talk.output import print_table, print_text
from rankwright.tables.text import ShownTable, ShownTables


def show(parts: Sequence[ShownTables], markdown: bool, *, err: bool) -> None:
    """Print the tables, and the notes of the first part, its conclusion, at the end; on stderr where asked for."""
    first, *more = parts
    ordered = [ShownTables(first.tables), *more, ShownTables((), first.notes)]
    if markdown:
        typer.echo("\n\n".join(part.markdown() for part in ordered), err=err)
        return
    for part in ordered:
        for table in part.tables:
            _show_table(table, err=err)
        for note in part.notes:
            print_text(note, err=err)
        if part.notes and part is not ordered[-1]:
            typer.echo(err=err)


def _show_table(table: ShownTable, *, err: bool) -> None:
    print_text(table.title, err=err)
    print_table(table.columns, table.rows, numbers=table.numbers, err=err)
    for note in table.notes:
        print_text(note, err=err)
    typer.echo(err=err)
