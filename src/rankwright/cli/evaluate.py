"""`rankwright evaluate`: what metrics say of a file of scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer

from rankwright.cli.options import AsJson, DataFormat, PerQuery
from rankwright.cli.output import print_json, print_table
from rankwright.errors import SettingError, require

if TYPE_CHECKING:
    from rankwright.arrays import Float64Array
    from rankwright.data.dataset import RankingDataset
    from rankwright.metrics.comparison import ConventionComparison
    from rankwright.metrics.evaluation import Evaluation


class Options(TypedDict):
    """How to evaluate, whatever is evaluated."""

    threads: int | None
    seed: int


EXAMPLE = "Example: rankwright evaluate test.txt --scores scores.txt --metrics ndcg@10,map:mslr --convention letor"


def evaluate(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="Documents with labels; or TREC qrels, with --run. - is stdin.")
    ],
    scores: Annotated[
        str | None, typer.Option(help="One number a line, in the order of DATA's documents. - is stdin.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="MODEL", help="A model file whose scores to evaluate.")] = None,
    run: Annotated[str | None, typer.Option(help="A TREC run, evaluated against the qrels in DATA.")] = None,
    metrics: Annotated[str | None, typer.Option(help="Names separated by commas.")] = None,
    convention: Annotated[
        str | None, typer.Option(help="A name, or all. Default: standard, or trec with --run.")
    ] = None,
    per_query: PerQuery = None,
    format: DataFormat = None,
    as_json: AsJson = False,
    threads: Annotated[int | None, typer.Option(help="Default: every core.")] = None,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
) -> None:
    """Evaluate scores against labels: means with 95 % intervals, under a named convention.

    --convention all shows the same scores under every convention, with a line each on why they differ. The names are
    told by `rankwright list metrics` and `rankwright list conventions`; any rule of a convention can be changed in
    place: --convention 'standard(gain=linear, empty=skip)'.
    """
    from rankwright.metrics.evaluation import DEFAULT_METRICS
    from rankwright.metrics.registry import split_metrics

    names = list(DEFAULT_METRICS) if metrics is None else split_metrics(metrics)
    require(bool(names), "--metrics names none")
    options: Options = {"threads": threads, "seed": seed}
    if convention == "all":
        require(per_query is None, "--per-query needs one convention, not all")
        require(run is None, "--convention all needs --scores: a run is counted under one convention")
        comparison = _compare(*_scored(data, scores, model, format), names, options)
        print_json(comparison.to_dict()) if as_json else _show_comparison(comparison)
        return
    if run is None:
        evaluation = _evaluate(*_scored(data, scores, model, format), names, convention or "standard", options)
    else:
        others_absent = scores is None and model is None and format is None
        require(others_absent, "--run goes with qrels alone: leave out --scores, --model and --format")
        evaluation = _evaluate_run(data, run, names, convention or "trec", options)
    if per_query is not None:
        _write_per_query(evaluation, per_query)
    print_json(evaluation.to_dict()) if as_json else _show(evaluation)


def _scored(
    data: str, scores: str | None, model: str | None, format: str | None
) -> tuple[Float64Array, RankingDataset]:
    from rankwright.formats.reading import read, read_wide
    from rankwright.formats.sidecars import read_scores

    require(scores is None or model is None, "give either --scores or --model, not both")
    if model is not None:
        from rankwright.catalog.rankers import load

        ranker = load(model)
        documents = read_wide(data, ranker.n_features_in_, format=format)
        return ranker.predict(documents), documents
    if scores is None:
        raise SettingError("nothing to evaluate: give --scores, one number a line, --model, or --run, a TREC run")
    require((data, scores) != ("-", "-"), "DATA and --scores cannot both be standard input")
    documents = read(data, format=format)
    return read_scores(scores, n_docs=documents.n_docs), documents


def _evaluate(
    scores: Float64Array, documents: RankingDataset, metrics: list[str], convention: str, options: Options
) -> Evaluation:
    from rankwright.metrics.evaluation import evaluate

    return evaluate(scores, documents, metrics, convention, **options)


def _evaluate_run(qrels: str, run: str, metrics: list[str], convention: str, options: Options) -> Evaluation:
    from rankwright.formats.trec import read_qrels, read_run
    from rankwright.metrics.runs import evaluate_run

    return evaluate_run(read_run(run), read_qrels(qrels), metrics, convention, **options)


def _compare(
    scores: Float64Array, documents: RankingDataset, metrics: list[str], options: Options
) -> ConventionComparison:
    from rankwright.metrics.comparison import compare_conventions

    return compare_conventions(scores, documents, metrics, **options)


def _show(evaluation: Evaluation) -> None:
    typer.echo(evaluation.headline)
    rows = [
        [name, f"{result.mean:.4f}", f"{result.interval.low:.4f} to {result.interval.high:.4f}", str(result.n_queries)]
        for name, result in evaluation.results.items()
    ]
    columns = ["metric", "mean", "95 % interval", "queries"]
    print_table(columns, rows, numbers=columns[1:])


def _show_comparison(comparison: ConventionComparison) -> None:
    typer.echo(comparison.headline)
    print_table(["convention", *comparison.metrics], comparison.table(), numbers=comparison.metrics)
    typer.echo()
    print_table(["convention", "why it differs from standard"], list(comparison.why.items()))


def _write_per_query(evaluation: Evaluation, path: str) -> None:
    write_columns(evaluation.per_query(), path)


def write_columns(columns: Mapping[str, Any], path: str) -> None:
    """Write columns separated by tabs; a value that does not count is left empty."""
    from rankwright.formats.sources import atomic_text_output

    with atomic_text_output(path) as file:
        file.write("\t".join(columns) + "\n")
        for row in zip(*(column.tolist() for column in columns.values()), strict=True):
            cells = ("" if isinstance(value, float) and math.isnan(value) else str(value) for value in row)
            file.write("\t".join(cells) + "\n")
