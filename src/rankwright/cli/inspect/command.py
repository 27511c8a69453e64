"""`rankwright inspect`: what a data file or a model file holds, or what an objective's forces are."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rankwright.cli.data_options import reads_data
from rankwright.cli.inspect.data import inspect_data
from rankwright.cli.inspect.log import inspect_log
from rankwright.cli.inspect.model import Examined, inspect_model
from rankwright.cli.inspect.objective import Diagnosed, inspect_objective
from rankwright.cli.options import AsJson, DataFormat, Threads, arg, metric_names, opt
from rankwright.errors import require

EXAMPLES = (
    "Example: rankwright inspect train.txt.gz\n\n"
    "Example: rankwright inspect log.jsonl.gz\n\n"
    "Example: rankwright inspect model.rw --data test.txt --metric ndcg@10\n\n"
    "Example: rankwright inspect --objective lambdarank:ndcg@10 --plot forces.svg"
)
OF_MODEL, OF_OBJECTIVE, OF_LOG = "A model", "An objective", "A click log"
DEFAULT_METRIC = "ndcg@10"


@reads_data(hidden=("query",))
def inspect(
    file: Annotated[
        str | None, arg("A data file, - for standard input; a click log; or a model file.", "DATA|MODEL")
    ] = None,
    data: Annotated[
        str | None, opt("Documents to examine MODEL on: how much worse it is without each feature.", "F", OF_MODEL)
    ] = None,
    metric: Annotated[
        str | None,
        opt("The metric to examine MODEL by, with --data.", panel=OF_MODEL, show_default=DEFAULT_METRIC),
    ] = None,
    top: Annotated[int, opt("How many features of MODEL to show.", "N", OF_MODEL, min=0)] = 10,
    objective: Annotated[
        str | None,
        opt("Diagnose the forces of this objective, on a query of DATA or on an example.", "NAME", OF_OBJECTIVE),
    ] = None,
    settings: Annotated[
        list[str] | None,
        opt(
            "A setting of the objective, such as margin=2; mode=paper is the plain formula of the papers. "
            "May be repeated.",
            "KEY=VALUE",
            OF_OBJECTIVE,
            name="--set",
        ),
    ] = None,
    query: Annotated[str | None, opt("The id of a query of DATA. Default: the first query.", "Q", OF_OBJECTIVE)] = None,
    scores: Annotated[
        str | None, opt("One score per document of DATA. Default: random scores.", "F", OF_OBJECTIVE)
    ] = None,
    strict: Annotated[bool, opt("Stop at the first event that cannot be read.", panel=OF_LOG, name="--strict")] = False,
    plot: Annotated[
        str | None,
        opt("Draw the forces on the documents of the query, or the training of MODEL: .svg, .png or .pdf.", "FILE"),
    ] = None,
    format: DataFormat = None,
    threads: Threads = None,
    as_json: AsJson = False,
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
    if objective is not None:
        require(not strict, "--strict goes with a click log, not with --objective")
        require(data is None, "--data goes with a model: give the documents to diagnose on as DATA")
        inspect_objective(
            objective, settings or (), Diagnosed(file, query, scores, {"format": format} | reading), plot, as_json
        )
        return
    require(not (settings or query or scores), "--set, --query and --scores go with --objective")
    if file is None:
        raise typer.BadParameter("give a data file, a model file, or an --objective")
    from rankwright.container.file import is_container
    from rankwright.imports.table import source_of

    if is_container(file) or source_of(file) is not None:
        require(not strict, f"--strict goes with a click log, and {file} is a model")
        examined = (
            None if data is None else Examined(data, metric or DEFAULT_METRIC, {"format": format} | reading, threads)
        )
        inspect_model(file, examined, plot, top, as_json)
        return
    require(plot is None, f"--plot goes with --objective or a model, and {file} is none")
    require(data is None, f"--data goes with a model, and {file} is none")
    from rankwright.clicks.logs.log_files import looks_like_log

    if format is None and looks_like_log(file):
        inspect_log(file, strict, as_json)
        return
    require(not strict, f"--strict goes with a click log, and {file} does not look like one")
    inspect_data(file, {"format": format} | reading, as_json)
