"""`rankwright inspect`: what a data file or a model file holds, or what an objective's forces are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from rankwright.cli import options as shared
from rankwright.cli.data_options import reads_data
from rankwright.cli.inspect_model import inspect_model
from rankwright.cli.inspect_objective import inspect_objective
from rankwright.cli.options import arg, flag, metric_names, opt
from rankwright.cli.printing import print_json, print_rows
from rankwright.cli.verbosity import progress
from rankwright.errors import require
from rankwright.progress.stages import announce
from rankwright.tables.text import counted

if TYPE_CHECKING:
    from rankwright.profile.data_summary import NumberRange, Summary

EXAMPLES = (
    "Example: rankwright inspect train.txt.gz\n\n"
    "Example: rankwright inspect log.jsonl.gz\n\n"
    "Example: rankwright inspect model.rw --data test.txt --metric ndcg@10\n\n"
    "Example: rankwright inspect --objective lambdarank:ndcg@10 --plot forces.svg"
)
OF_MODEL, OF_OBJECTIVE, OF_LOG = "A model", "An objective", "A click log"
DEFAULT_METRIC = "ndcg@10"
NAMES_SHOWN = 10


@reads_data(query="query_column")
def inspect(
    file: str | None = arg(
        "A data file, - for standard input; a click log; or a model file.", "DATA|MODEL", default=None
    ),
    data: str | None = opt("Documents to examine MODEL on: how much worse it is without each feature.", "F", OF_MODEL),
    metric: str | None = opt(
        "The metric to examine MODEL by, with --data.", panel=OF_MODEL, show_default=DEFAULT_METRIC
    ),
    top: int = opt("How many features of MODEL to show.", "N", OF_MODEL, min=0, default=10),
    objective: str | None = opt(
        "Diagnose the forces of this objective, on a query of DATA or on an example.", "NAME", OF_OBJECTIVE
    ),
    settings: list[str] | None = opt(
        "A setting of the objective, such as margin=2; mode=paper is the plain formula of the papers. May be repeated.",
        "KEY=VALUE",
        OF_OBJECTIVE,
        name="--set",
    ),
    query: str | None = opt("The id of a query of DATA. Default: the first query.", "Q", OF_OBJECTIVE),
    scores: str | None = opt("One score per document of DATA. Default: random scores.", "F", OF_OBJECTIVE),
    strict: bool = flag("--strict", "Stop at the first event that cannot be read.", OF_LOG),
    plot: str | None = opt(
        "Draw the forces on the documents of the query, or the training of MODEL: .svg, .png or .pdf.", "FILE"
    ),
    format: str | None = shared.DATA_FORMAT,
    threads: int | None = shared.THREADS,
    as_json: bool = shared.AS_JSON,
    *,
    reading: dict[str, Any],
) -> None:
    """Describe a data file and point out what looks wrong in it, or describe a click log or a model file.

    The features of a model are listed by how much their splits gained. With --data, they are also listed by how much
    the metric drops when the values of a feature are shuffled among all documents; for SortNet, the stability of its
    order is shown as well.

    With --objective, diagnose the forces of an objective on the documents of one query.
    """
    require(data is not None or metric is None, "--metric goes with --data")
    metric_names(metric)
    reading = {"format": format} | reading
    if objective is not None:
        require(not strict, "--strict goes with a click log, not with --objective")
        require(data is None, "--data goes with a model: give the documents to diagnose on as DATA")
        shown: dict[str, Any] = {"query": query, "scores": scores, "plot": plot, "as_json": as_json}
        inspect_objective(objective, settings or (), file, reading, **shown)
        return
    require(not (settings or query or scores), "--set, --query and --scores go with --objective")
    if file is None:
        raise typer.BadParameter("give a data file, a model file, or an --objective")
    from rankwright.container.file import is_container
    from rankwright.imports.format_table import source_of

    if is_container(file) or source_of(file) is not None:
        require(not strict, f"--strict goes with a click log, and {file} is a model")
        how: dict[str, Any] = {"metric": metric or DEFAULT_METRIC, "threads": threads, "plot": plot}
        inspect_model(file, data, reading, top=top, as_json=as_json, **how)
        return
    require(plot is None, f"--plot goes with --objective or a model, and {file} is none")
    require(data is None, f"--data goes with a model, and {file} is none")
    from rankwright.clicks.logs.log_files import looks_like_log

    if format is None and looks_like_log(file):
        _inspect_log(file, strict, as_json)
        return
    require(not strict, f"--strict goes with a click log, and {file} does not look like one")
    _inspect_data(file, reading, as_json)


def _inspect_log(path: str, strict: bool, as_json: bool) -> None:
    """Print what a click log holds, and how much of it is of use."""
    from rankwright.clicks.log_summary import summarise_log
    from rankwright.clicks.logs.log_files import read_log

    summary = summarise_log(read_log(path, strict=strict))
    problems = [f"{problem}: {count:,}" for problem, count in summary.problems.items()]
    print_json(summary.to_dict()) if as_json else print_rows(summary.told(), "Found while reading:", problems)


def _inspect_data(path: str, reading: dict[str, Any], as_json: bool) -> None:
    """Print what a data file holds and what looks wrong in it."""
    from rankwright.formats.reading import read
    from rankwright.profile.data_summary import summarise

    with progress():
        data = read(path, **reading)
        announce("looking for what is suspicious")
        summary = summarise(data)
    if as_json:
        print_json(summary.as_dict())
    else:
        print_rows(data_rows(summary), "Worth a second look:", [str(remark) for remark in summary.remarks])


def data_rows(summary: Summary) -> Iterator[tuple[str, str]]:
    """The labels and texts that show a person the summary."""
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
        yield "unjudged", counted(summary.unjudged, "document")
    yield "queries of one label", f"{summary.queries_with_one_label:,}"


def _spread(spread: NumberRange) -> str:
    return f"{spread.smallest:,g} to {spread.largest:,g}, median {spread.median:,g}, mean {spread.mean:,.4g}"


def _missing(summary: Summary) -> str:
    if not summary.missing_values:
        return "none"
    worst = sorted(summary.missing_share_of.items(), key=lambda item: -item[1])
    share = summary.missing_values / (summary.documents * summary.features)
    return f"{share:.2%}, in {counted(len(worst), 'feature')}: " + _listed(
        [f"{name} ({part:.0%})" for name, part in worst]
    )


def _listed(names: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return (", ".join(names[:NAMES_SHOWN]) + more) or "none"
