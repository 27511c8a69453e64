"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
DataFormat: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="FORMAT", help="svmlight, csv, tsv or parquet. Default: what the file looks like."
    ),
]
PerQuery: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Write a table with one row per query, separated by tabs, to this file."),
]
Cluster: TypeAlias = Annotated[
    str | None,
    typer.Option(help="auto (Ray, started here) or the address of a Ray cluster. Default: processes here."),
]
Threads: TypeAlias = Annotated[int | None, typer.Option(help="How many threads to use. Default: one per core.")]
Metrics: TypeAlias = Annotated[str | None, typer.Option(help="Names separated by commas.")]
RankerName: TypeAlias = Annotated[
    str, typer.Option(help="The ranker's name; `rankwright list rankers` shows all names.")
]
Settings: TypeAlias = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting of the ranker; may be repeated.")
]
Select: TypeAlias = Annotated[str | None, typer.Option(help="The metric to choose by, such as ndcg@10.")]
ModelSeed: TypeAlias = Annotated[int | None, typer.Option(help="The same seed gives the same model.")]
TestFile: TypeAlias = Annotated[str | None, typer.Option(metavar="F", help="Documents to measure the model on.")]
ModelFile: TypeAlias = Annotated[str, typer.Option(metavar="MODEL", help="The model file to write.")]
FoldSeeds: TypeAlias = Annotated[int, typer.Option(help="How often to train on each fold, each time with a new seed.")]
