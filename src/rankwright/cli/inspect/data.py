"""`rankwright inspect DATA`: what a data file holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from rankwright.cli.talk.output import LABEL_WIDTH, print_json
from rankwright.cli.talk.voice import working
from rankwright.progress.stages import announce

if TYPE_CHECKING:
    from rankwright.profile.data_summary import NumberRange, Summary

NAMES_SHOWN = 10


def inspect_data(path: str, reading: dict[str, Any], as_json: bool) -> None:
    """Print what a data file holds and what looks wrong in it."""
    from rankwright.formats.reading import read
    from rankwright.profile.data_summary import summarise

    with working():
        data = read(path, **reading)
        announce("looking for what is suspicious")
        summary = summarise(data)
    print_json(summary.as_dict()) if as_json else typer.echo("\n".join(report(summary)))


def report(summary: Summary) -> Iterator[str]:
    """The lines that show a person the summary."""
    for label, text in _rows(summary):
        yield f"{label:{LABEL_WIDTH}}{text}"
    if summary.remarks:
        yield ""
        yield "Worth a second look:"
        yield from (f"- {remark}" for remark in summary.remarks)


def _rows(summary: Summary) -> Iterator[tuple[str, str]]:
    yield "queries", f"{summary.queries:,}, {summary.queries_with_nothing_relevant:,} with nothing relevant"
    yield "documents", f"{summary.documents:,}"
    if summary.documents_per_query is not None:
        yield "documents a query", _spread(summary.documents_per_query)
    yield "features", f"{summary.features:,}"
    yield from _label_rows(summary)
    yield "missing values", _missing(summary)
    yield "constant features", _listed(summary.constant_features)
    yield "duplicate features", _listed([" = ".join(group) for group in summary.duplicate_features])
    if summary.also_has:
        yield "also has", ", ".join(summary.also_has)


def _label_rows(summary: Summary) -> Iterator[tuple[str, str]]:
    if summary.labels:
        for place, (label, count) in enumerate(summary.labels.items()):
            yield ("labels" if place == 0 else ""), f"{label:>4}  {count:>12,}  {count / summary.documents:6.1%}"
    elif summary.label_spread is not None:
        yield "labels", _spread(summary.label_spread)
    if summary.unjudged:
        yield "unjudged", f"{summary.unjudged:,} documents"
    yield "queries of one label", f"{summary.queries_with_one_label:,}"


def _spread(spread: NumberRange) -> str:
    return f"{spread.smallest:,g} to {spread.largest:,g}, median {spread.median:,g}, mean {spread.mean:,.4g}"


def _missing(summary: Summary) -> str:
    if not summary.missing_values:
        return "none"
    worst = sorted(summary.missing_share_of.items(), key=lambda item: -item[1])
    share = summary.missing_values / (summary.documents * summary.features)
    return f"{share:.2%}, in {len(worst)} features: " + _listed([f"{name} ({part:.0%})" for name, part in worst])


def _listed(names: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return (", ".join(names[:NAMES_SHOWN]) + more) or "none"
