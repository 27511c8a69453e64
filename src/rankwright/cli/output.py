"""What commands print: results on stdout, as one JSON document or as tables, and talk on stderr.

With -q only warnings are said on stderr, with -v every stage and the log.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum
from functools import wraps
from os import PathLike
from typing import Any

import typer

from rankwright.cli.options import taking
from rankwright.errors import require
from rankwright.escapes import escaped, escaped_line
from rankwright.progress.display import progress_shown, say
from rankwright.tables.text import ShownTable, ShownTables, table_lines

OWN_LOGGER = "rankwright"
LABEL_WIDTH = 22  # width of the text to the left of a value in a report
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


class Verbosity(IntEnum):
    """How much is said."""

    QUIET = 0
    USUAL = 1
    VERBOSE = 2


_verbosity: ContextVar[Verbosity] = ContextVar("verbosity", default=Verbosity.USUAL)

OPTIONS = {
    "verbose": (bool, typer.Option(False, "--verbose", "-v", help="Say more: every stage, and the log.")),
    "quiet": (
        bool,
        typer.Option(False, "--quiet", "-q", help="Show no progress; warnings and errors are still shown."),
    ),
}


def with_verbosity(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options -v and -q, which it need not know of."""

    @wraps(command)
    def run(*, verbose: bool = False, quiet: bool = False, **options: Any) -> None:
        require(not (verbose and quiet), "give either --verbose or --quiet, not both")
        with saying(Verbosity.VERBOSE if verbose else Verbosity.QUIET if quiet else Verbosity.USUAL):
            command(**options)

    return taking(run, OPTIONS)


@contextmanager
def saying(verbosity: Verbosity) -> Iterator[None]:
    """Say this much in the block; the library's log goes to stderr, above the line of progress."""
    logger, handler, token = logging.getLogger(OWN_LOGGER), _StderrHandler(), _verbosity.set(verbosity)
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if verbosity is Verbosity.VERBOSE else logging.WARNING)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]
        _verbosity.reset(token)


class _StderrHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def tell(text: str) -> None:
    """Say a line on stderr, unless the command is quiet."""
    if _verbosity.get() is not Verbosity.QUIET:
        say(text)


@contextmanager
def progress() -> Iterator[None]:
    """Show what the block is doing, how far it is and how long it still takes, unless the command is quiet."""
    verbosity = _verbosity.get()
    with progress_shown(shows=verbosity is not Verbosity.QUIET, lists_stages=verbosity is Verbosity.VERBOSE):
        yield


def echo(text: str = "", *, err: bool = False) -> None:
    """Print lines on stdout or on stderr, with control characters escaped: texts of files reach the terminal here."""
    typer.echo(escaped(text), err=err)


def echo_escaped(text: str) -> None:
    """Print lines whose texts are escaped already, so that codes for bold letters reach the terminal."""
    typer.echo(text)


def print_json(document: Any) -> None:
    """Print one JSON document on stdout; JSON escapes control characters in a way of its own."""
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
    echo(text if width is None else "\n".join(textwrap.wrap(text, width, break_on_hyphens=False)), err=err)


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
        echo("\n\n".join(part.markdown() for part in ordered), err=err)
        return
    for part in ordered:
        for table in part.tables:
            print_shown(table, err=err)
            echo(err=err)
        for note in part.notes:
            print_text(note, err=err)
        if part.notes and part is not ordered[-1]:
            echo(err=err)


def print_rows(rows: Iterable[tuple[str, str]], title: str = "", items: Sequence[str] = ()) -> None:
    """Print values with their labels to the left, and below them a list with a title, where it has items."""
    for label, text in rows:
        echo(f"{label:{LABEL_WIDTH}}{escaped_line(text)}")
    if items:
        echo("\n".join(["", title, *(f"- {escaped_line(item)}" for item in items)]))


def write_per_query(path: str, columns: Mapping[str, Any], *, as_json: bool) -> None:
    """Write the table of queries: separated by tabs, or by commas where the name ends in .csv; `-` is stdout."""
    told = "--json and the table of queries cannot both go to standard output: name a file"
    require(not (as_json and path == "-"), told)
    from rankwright.report.table_files import write_columns

    write_columns(path, columns)
    if path != "-":
        tell_written(path)


def tell_written(*paths: str | PathLike[str] | None) -> None:
    """Name the files that were written, on stderr."""
    for path in paths:
        if path is not None:
            tell(f"wrote {path}")
