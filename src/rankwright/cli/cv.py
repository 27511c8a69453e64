"""`rankwright cv`: how well a ranker does on queries it was not trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rankwright.cli.options import (
    AsJson,
    Cluster,
    DataFormat,
    FoldSeeds,
    Metrics,
    RankerName,
    Settings,
    arg,
    metric_names,
    opt,
)
from rankwright.cli.output import print_json, print_table
from rankwright.cli.voice import study_listeners, working
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.data.dataset import RankingDataset
    from rankwright.tuning.cross_validation import CrossValidation
    from rankwright.tuning.folds import Folds

EXAMPLES = (
    "Example: rankwright cv data.txt --ranker lambdamart --folds 5 --set n_trees=100 --metrics ndcg@10,map\n\n"
    "Example: rankwright cv MQ2008 --ranker ranknet --metrics ndcg@3:letor"
)


def cv(
    data: Annotated[str, arg("Documents with labels, or a LETOR folder: Fold1, Fold2, …", "DATA")],
    ranker: RankerName = "lambdamart",
    folds: Annotated[int | None, opt("How many folds to cut. Default: 5, or those of the LETOR folder.")] = None,
    settings: Settings = None,
    metrics: Metrics = None,
    select: Annotated[str | None, opt("The metric to choose steps by, such as ndcg@10.")] = None,
    valid: Annotated[
        float | None, opt("The share of each fold's training queries to hold back for choosing steps.", "SHARE")
    ] = None,
    seeds: FoldSeeds = 1,
    seed: Annotated[int, opt("The seed of the folds, and the first seed of the ranker.")] = 0,
    per_query: Annotated[str | None, opt("Write a CSV table with one row per query to this file.", "F")] = None,
    cluster: Cluster = None,
    workers: Annotated[int | None, opt("How many folds to train at a time. Default: one per core.")] = None,
    format: DataFormat = None,
    as_json: AsJson = False,
) -> None:
    """Train on all folds but one and measure on that one, for each fold in turn.

    A LETOR folder has its own folds, with validation documents to choose steps by. The overall figure is the mean of
    the folds' means; its 95 % interval is that of the mean over all queries.
    """
    from rankwright.catalog.settings import ranker_from_text
    from rankwright.metrics.evaluation import DEFAULT_METRICS
    from rankwright.tuning.cross_validation import cross_validate

    chosen = ranker_from_text(ranker, settings or (), select=select)
    names = metric_names(metrics) or DEFAULT_METRICS
    with working():
        found = cross_validate(
            chosen,
            _documents(data, folds, valid, format),
            folds=folds or 5,
            valid=valid,
            metrics=names,
            seeds=seeds,
            seed=seed,
            cluster=cluster,
            workers=workers,
            listeners=study_listeners(),
        )
    if per_query is not None:
        from rankwright.report.tables import write_rows

        write_rows(per_query, found.per_query(), ["fold", "query", *found.metrics])
    print_json(found.to_dict()) if as_json else _show(found)


def _documents(data: str, folds: int | None, valid: float | None, format: str | None) -> RankingDataset | Folds:
    from rankwright.formats.letor_folders import has_folds
    from rankwright.formats.reading import read

    if not has_folds(data):
        return read(data, format=format)
    require(folds is None and valid is None, f"{data} has folds of its own: leave out --folds and --valid")
    from rankwright.tuning.letor import letor_folds

    return letor_folds(data).testing


def _show(found: CrossValidation) -> None:
    numbers = [f"fold {fold + 1}" for fold in range(found.n_folds)]
    rows = []
    for metric in found.metrics:
        low, high = found.interval(metric)
        of_folds = [f"{found.fold_mean(metric, fold):.4f}" for fold in range(found.n_folds)]
        rows.append([metric, f"{found.mean(metric):.4f}", f"{low:.4f} to {high:.4f}", *of_folds])
    columns = ["metric", "mean", "95 % interval", *numbers]
    print_table(columns, rows, numbers=columns[1:])
    seeds = len(found.seeds)
    typer.echo(
        f"\n{found.ranker}: {found.n_folds} folds, {seeds} {'seed' if seeds == 1 else 'seeds'}, "
        f"{sum(map(len, found.query_ids))} queries"
    )
