"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import typer

from rankwright.errors import require


def opt(
    help: str,
    metavar: str | None = None,
    panel: str | None = None,
    *,
    name: str = "",
    names: tuple[str, ...] = (),
    **more: Any,
) -> Any:
    """An option; `panel` is the box of the help text that shows it, `name` or `names` replace the parameter's name."""
    return typer.Option(*filter(None, [name, *names]), help=help, metavar=metavar, rich_help_panel=panel, **more)


def arg(help: str, metavar: str) -> Any:
    """An argument."""
    return typer.Argument(help=help, metavar=metavar)


WHERE = "auto (Ray, started here) or the address of a Ray cluster. Default: processes here."

AsJson: TypeAlias = Annotated[bool, opt("Print one JSON document.", name="--json")]
DataFormat: TypeAlias = Annotated[
    str | None, opt("svmlight, csv, tsv or parquet. Default: what the file looks like.", "FORMAT")
]
PerQuery: TypeAlias = Annotated[
    str | None,
    opt("Write a table with one row per query: by tabs, or by commas for .csv. - is standard output.", "F"),
]
Cluster: TypeAlias = Annotated[str | None, opt(WHERE)]
Threads: TypeAlias = Annotated[int | None, opt("How many threads to use. Default: one per core.")]
Metrics: TypeAlias = Annotated[str | None, opt("Names separated by commas.")]
RankerName: TypeAlias = Annotated[str, opt("The ranker's name; `rankwright list rankers` shows all names.")]
Settings: TypeAlias = Annotated[
    list[str] | None, opt("A setting of the ranker; may be repeated.", "KEY=VALUE", name="--set")
]
Select: TypeAlias = Annotated[str | None, opt("The metric to choose by, such as ndcg@10.")]
ModelSeed: TypeAlias = Annotated[int | None, opt("The same seed gives the same model.")]
TestFile: TypeAlias = Annotated[str | None, opt("Documents to measure the model on.", "F")]
ModelFile: TypeAlias = Annotated[str, opt("The model file to write.", "MODEL")]
AllowEmpty: TypeAlias = Annotated[
    bool,
    opt(
        "Write a model even if there is nothing to learn from, such as labels that are all equal.", name="--allow-empty"
    ),
]
ReportFile: TypeAlias = Annotated[
    str | None, opt("Write a report: one page of HTML, which opens anywhere and needs no network.", "FILE.html")
]
FoldSeeds: TypeAlias = Annotated[int, opt("How often to train on each fold, each time with a new seed.")]


def metric_names(metrics: str | None) -> list[str] | None:
    """The names in the text of `--metrics`, at least one and all of them known; None where it was not given."""
    if metrics is None:
        return None
    from rankwright.metrics.metric_table import parse_metric, split_metrics

    names = split_metrics(metrics)
    require(bool(names), "--metrics names no metric")
    for name in names:
        parse_metric(name)  # before any data is read
    return names
