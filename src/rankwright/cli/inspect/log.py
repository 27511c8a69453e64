"""`rankwright inspect LOG`: what a click log holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from rankwright.cli.talk.output import LABEL_WIDTH, print_json

if TYPE_CHECKING:
    from rankwright.clicks.summary import LogSummary


def inspect_log(path: str, as_json: bool) -> None:
    """Print what a click log holds, and how much of it can tell anything."""
    from rankwright.clicks.logs.reading import read_log
    from rankwright.clicks.summary import summarise_log

    summary = summarise_log(read_log(path))
    print_json(summary.to_dict()) if as_json else typer.echo("\n".join(report(summary)))


def report(summary: LogSummary) -> Iterator[str]:
    """The lines that show a person the summary."""
    for label, text in _rows(summary):
        yield f"{label:{LABEL_WIDTH}}{text}"
    if summary.problems:
        yield ""
        yield "Found while reading:"
        yield from (f"- {problem}: {count:,}" for problem, count in summary.problems.items())


def _rows(summary: LogSummary) -> Iterator[tuple[str, str]]:
    yield "queries", f"{summary.queries:,}"
    yield "lists", f"{summary.lists:,}, {summary.lists_without_click:.1%} without a click"
    yield "distinct lists", f"{summary.distinct_lists:.1f} a query"
    yield "documents", f"{summary.documents:,}, {summary.pairs:,} documents of queries"
    yield "clicks", f"{summary.clicks:,}"
    for rank, rate in enumerate(summary.click_rate_at):
        yield ("click rate by position" if rank == 0 else ""), f"{rank + 1:>4}  {rate:6.2%}"
    if summary.later_pages:
        yield "later pages", f"{summary.later_pages:,}"
    yield "lists that can tell", f"{summary.clicked_share:.1%} belong to queries with a click"
    yield "", f"{summary.varied_share:.1%} show a document that also stood at another position"
    if summary.policies:
        yield "policies", f"{summary.policies}"
    yield "propensities", "yes" if summary.has_propensities else "none"
