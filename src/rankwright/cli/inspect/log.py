"""`rankwright inspect LOG`: what a click log holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from rankwright.cli.talk.output import LABEL_WIDTH, print_json

if TYPE_CHECKING:
    from rankwright.clicks.log_summary import LogSummary


def inspect_log(path: str, strict: bool, as_json: bool) -> None:
    """Print what a click log holds, and how much of it can tell anything."""
    from rankwright.clicks.log_summary import summarise_log
    from rankwright.clicks.logs.log_files import read_log

    summary = summarise_log(read_log(path, strict=strict))
    print_json(summary.to_dict()) if as_json else typer.echo("\n".join(report(summary)))


def report(summary: LogSummary) -> Iterator[str]:
    """The lines that show a person the summary."""
    for label, text in summary.told():
        yield f"{label:{LABEL_WIDTH}}{text}"
    if summary.problems:
        yield ""
        yield "Found while reading:"
        yield from (f"- {problem}: {count:,}" for problem, count in summary.problems.items())
