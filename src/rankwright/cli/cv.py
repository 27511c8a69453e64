"""`rankwright cv`: how well a ranker does on queries it was not trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright.cli.data_options import reads_data
from rankwright.cli.options import (
    AsJson,
    Cluster,
    DataFormat,
    FoldSeeds,
    Metrics,
    PerQuery,
    RankerName,
    Settings,
    arg,
    metric_names,
    opt,
)
from rankwright.cli.talk.output import print_json, print_table, write_per_query
from rankwright.cli.talk.voice import study_listeners, tell, working
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.data.dataset import RankingDataset
    from rankwright.tuning.cross_validation import CrossValidation
    from rankwright.tuning.folds import Folds

EXAMPLES = (
    "Example: rankwright cv data.txt --ranker lambdamart --folds 5 --set n_trees=100 --metrics ndcg@10,map\n\n"
    "Example: rankwright cv MQ2008 --ranker ranknet --metrics ndcg@3:letor"
)


@reads_data()
def cv(
    data: Annotated[str, arg("Documents with labels, or a LETOR folder: Fold1, Fold2, …", "DATA")],
    ranker: RankerName = "lambdamart",
    folds: Annotated[int | None, opt("How many folds to cut. Default: 5, or those of the LETOR folder.")] = None,
    settings: Settings = None,
    metrics: Metrics = None,
    select: Annotated[str | None, opt("The metric to choose steps by, such as ndcg@10.")] = None,
    valid_share: Annotated[
        float | None, opt("The share of each fold's training queries to hold back for choosing steps.", "SHARE")
    ] = None,
    valid: Annotated[float | None, opt("The earlier name of --valid-share.", "SHARE", hidden=True)] = None,
    seeds: FoldSeeds = 1,
    seed: Annotated[int, opt("The seed of the folds, and the first seed of the ranker.")] = 0,
    per_query: PerQuery = None,
    cluster: Cluster = None,
    workers: Annotated[int | None, opt("How many folds to train at a time. Default: one per core.")] = None,
    format: DataFormat = None,
    as_json: AsJson = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Train on all folds but one and measure on that one, for each fold in turn.

    A LETOR folder has its own folds, with validation documents to choose steps by. The overall figure is the mean of
    the folds' means; its 95 % interval is that of the mean over all queries.
    """
    from rankwright.catalog.settings import ranker_from_text
    from rankwright.metrics.evaluation import DEFAULT_METRICS
    from rankwright.tuning.cross_validation import cross_validate

    if valid is not None:
        tell("--valid is a file of documents in other commands: the share is --valid-share now")
        valid_share = valid if valid_share is None else valid_share
    chosen = ranker_from_text(ranker, settings or (), select=select)
    names = metric_names(metrics) or DEFAULT_METRICS
    with working():
        found = cross_validate(
            chosen,
            _documents(data, folds, valid_share, format, reading),
            folds=folds or 5,
            valid=valid_share,
            metrics=names,
            seeds=seeds,
            seed=seed,
            cluster=cluster,
            workers=workers,
            listeners=study_listeners(),
        )
    if per_query is not None:
        if not per_query.endswith((".csv", ".tsv", ".txt")) and per_query != "-":
            tell("tables of queries are separated by tabs now, as in other commands; a name in .csv gives commas")
        rows = found.per_query()
        columns = {name: [row[name] for row in rows] for name in ("query", "fold", *found.metrics)}
        write_per_query(per_query, columns, as_json=as_json)
    print_json(found.to_dict()) if as_json else _show(found, err=per_query == "-")


def _documents(
    data: str, folds: int | None, valid: float | None, format: str | None, reading: dict[str, Any]
) -> RankingDataset | Folds:
    from rankwright.formats.letor_folders import has_folds
    from rankwright.formats.reading import read

    if not has_folds(data):
        return read(data, format=format, **reading)
    require(folds is None and valid is None, f"{data} has folds of its own: leave out --folds and --valid-share")
    from rankwright.tuning.letor import letor_folds

    return letor_folds(data, format=format, **reading).testing


def _show(found: CrossValidation, *, err: bool) -> None:
    """Print the means; on stderr where stdout has the table of queries."""
    table = found.shown()
    typer.echo(table.title, err=err)
    print_table(table.columns, table.rows, numbers=table.numbers, err=err)
