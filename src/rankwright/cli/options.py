"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
DataFormat: TypeAlias = Annotated[
    str | None,
    typer.Option("--format", metavar="FORMAT", help="svmlight, csv, tsv or parquet. Default: as the file shows."),
]
PerQuery: TypeAlias = Annotated[
    str | None, typer.Option(help="Write a table with a row a query, separated by tabs, to this file.")
]
Cluster: TypeAlias = Annotated[
    str | None, typer.Option(help="auto starts Ray here, an address joins one. Default: processes here.")
]
