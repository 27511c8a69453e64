"""`rankwright inspect`: what a data file holds, or what an objective's forces are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from rankwright.cli.inspect_objective import ObjectiveSettings, inspect_objective
from rankwright.cli.options import AsJson, DataFormat
from rankwright.cli.output import print_json
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.data.summary import Spread, Summary

EXAMPLE = (
    "Example: rankwright inspect train.txt.gz, or rankwright inspect --objective lambdarank:ndcg@10 --plot forces.svg"
)
LABEL_WIDTH = 22
NAMES_SHOWN = 10


def inspect(
    data: Annotated[
        str | None,
        typer.Argument(metavar="DATA", help="The data file, of any format that can be read; - for standard input."),
    ] = None,
    objective: Annotated[
        str | None, typer.Option(metavar="NAME", help="Diagnose this objective's forces on a query instead.")
    ] = None,
    settings: ObjectiveSettings = None,
    query: Annotated[str | None, typer.Option(metavar="Q", help="The id of DATA's query. Default: the first.")] = None,
    scores: Annotated[
        str | None, typer.Option(metavar="F", help="A score for each document of DATA. Default: random ones.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the forces on the query's documents: .svg, .png or .pdf.")
    ] = None,
    format: DataFormat = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a data file holds, and what in it deserves a second look; or what an objective's forces are."""
    if objective is not None:
        inspect_objective(objective, settings or (), data, query, scores, plot, format, as_json)
        return
    require(not (settings or query or scores or plot), "--set, --query, --scores and --plot go with --objective")
    if data is None:
        raise typer.BadParameter("give a data file, or an --objective")
    from rankwright.data.reading import read
    from rankwright.data.summary import summarise

    summary = summarise(read(data, format=format))
    print_json(summary.as_dict()) if as_json else typer.echo("\n".join(report(summary)))


def report(summary: Summary) -> Iterator[str]:
    """The lines that tell a person what the summary says."""
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


def _spread(spread: Spread) -> str:
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
