"""`rankwright inspect`: what a data file or a model file holds, or what an objective's forces are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from rankwright.cli.inspect_objective import ObjectiveSettings, inspect_objective
from rankwright.cli.options import AsJson, DataFormat
from rankwright.cli.output import LABEL_WIDTH, print_json
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.profile.summary import NumberRange, Summary

EXAMPLE = (
    "Examples: rankwright inspect train.txt.gz; rankwright inspect model.rw --data test.txt --metric ndcg@10; "
    "rankwright inspect --objective lambdarank:ndcg@10 --plot forces.svg"
)
NAMES_SHOWN = 10
DEFAULT_METRIC = "ndcg@10"


def inspect(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA|MODEL", help="A data file of any format that can be read, - for standard input; or a model."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="F", help="Documents on which to tell what MODEL loses without each feature."),
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="What the loss with --data is told in.", show_default="ndcg@10")
    ] = None,
    top: Annotated[int, typer.Option(metavar="N", min=0, help="How many of MODEL's features to show.")] = 10,
    objective: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Diagnose this objective's forces, on a query of DATA or an example."),
    ] = None,
    settings: ObjectiveSettings = None,
    query: Annotated[str | None, typer.Option(metavar="Q", help="The id of DATA's query. Default: the first.")] = None,
    scores: Annotated[
        str | None, typer.Option(metavar="F", help="A score for each document of DATA. Default: random ones.")
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Draw the forces on the query's documents, or how MODEL's training went: .svg, .png, .pdf.",
        ),
    ] = None,
    format: DataFormat = None,
    threads: Annotated[int | None, typer.Option(help="Default: every core.")] = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a data file holds and what in it deserves a second look, or what a model file holds.

    A model's features are shown by what their splits gained; with --data also by what the metric loses when a
    feature's values are shuffled among all documents, and for SortNet how stable its order is. With --objective, tell
    what its forces on a query are.
    """
    require(data is not None or metric is None, "--metric goes with --data")
    if objective is not None:
        require(data is None, "--data goes with a model: give the documents to diagnose on as DATA")
        inspect_objective(objective, settings or (), file, query, scores, plot, format, as_json)
        return
    require(not (settings or query or scores), "--set, --query and --scores go with --objective")
    if file is None:
        raise typer.BadParameter("give a data file, a model file, or an --objective")
    _inspect_file(file, data, metric or DEFAULT_METRIC, plot, format, threads, top, as_json)


def _inspect_file(
    path: str,
    data: str | None,
    metric: str,
    plot: str | None,
    format: str | None,
    threads: int | None,
    top: int,
    as_json: bool,
) -> None:
    from rankwright.container.file import is_container

    if is_container(path):
        _inspect_model(path, data, metric, plot, format, threads, top, as_json)
    else:
        require(plot is None, f"--plot goes with --objective or a model, and {path} is none")
        require(data is None, f"--data goes with a model, and {path} is none")
        _inspect_data(path, format, as_json)


def _inspect_model(
    path: str,
    data: str | None,
    metric: str,
    plot: str | None,
    format: str | None,
    threads: int | None,
    top: int,
    as_json: bool,
) -> None:
    from rankwright.catalog.inspection import describe_model
    from rankwright.cli.model_report import show_model

    model, examined, permuted = describe_model(path), {}, None
    if plot is not None:
        _draw_training(path, plot)
    if data is not None:
        from rankwright.catalog.rankers import load
        from rankwright.formats.reading import read_wide
        from rankwright.rankers.permutation import permutation_importance

        ranker = load(path).set_params(threads=threads)
        documents = read_wide(data, ranker.n_features_in_, format=format)
        examined = ranker.examine(documents)
        permuted = permutation_importance(ranker, documents, metric, threads=threads)
    if as_json:
        print_json(model.to_dict() | examined | {"permutation": None if permuted is None else permuted.to_dict()})
    else:
        show_model(model, examined, permuted, top)


def _draw_training(model: str, plot: str) -> None:
    from rankwright.catalog.rankers import load
    from rankwright.report.training import draw_training

    draw_training(load(model), plot)
    typer.echo(f"wrote {plot}", err=True)


def _inspect_data(path: str, format: str | None, as_json: bool) -> None:
    from rankwright.formats.reading import read
    from rankwright.profile.summary import summarise

    summary = summarise(read(path, format=format))
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
