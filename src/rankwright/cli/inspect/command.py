"""`rankwright inspect`: what a data file or a model file holds, or what an objective's forces are."""

from __future__ import annotations

from typing import Annotated

import typer

from rankwright.cli.inspect.data import inspect_data
from rankwright.cli.inspect.model import Examined, inspect_model
from rankwright.cli.inspect.objective import Diagnosed, inspect_objective
from rankwright.cli.options import AsJson, DataFormat, Threads
from rankwright.errors import require

EXAMPLE = (
    "Examples: rankwright inspect train.txt.gz; rankwright inspect model.rw --data test.txt --metric ndcg@10; "
    "rankwright inspect --objective lambdarank:ndcg@10 --plot forces.svg"
)
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
        str | None, typer.Option(help="What the loss with --data is told in.", show_default=DEFAULT_METRIC)
    ] = None,
    top: Annotated[int, typer.Option(metavar="N", min=0, help="How many of MODEL's features to show.")] = 10,
    objective: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Diagnose this objective's forces, on a query of DATA or an example."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of the objective, such as margin=2; mode=paper for the papers' plain formula. "
            "May be repeated.",
        ),
    ] = None,
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
    threads: Threads = None,
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
        inspect_objective(objective, settings or (), Diagnosed(file, query, scores, format), plot, as_json)
        return
    require(not (settings or query or scores), "--set, --query and --scores go with --objective")
    if file is None:
        raise typer.BadParameter("give a data file, a model file, or an --objective")
    from rankwright.container.file import is_container

    if is_container(file):
        examined = None if data is None else Examined(data, metric or DEFAULT_METRIC, format, threads)
        inspect_model(file, examined, plot, top, as_json)
        return
    require(plot is None, f"--plot goes with --objective or a model, and {file} is none")
    require(data is None, f"--data goes with a model, and {file} is none")
    inspect_data(file, format, as_json)
