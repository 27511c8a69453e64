"""`rankwright compare`: several systems on the same data, and which of them differ by more than chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright.cli.evaluate import write_columns
from rankwright.cli.options import AsJson, DataFormat, PerQuery
from rankwright.cli.output import print_json, print_table
from rankwright.cli.progress import study_progress
from rankwright.errors import SettingError, require

if TYPE_CHECKING:
    from rankwright.metrics.systems import SystemComparison

EXAMPLE = (
    "Example: rankwright compare test.txt --model a.rw --scores bm25=bm25.txt --metrics ndcg@10,map   ·   "
    "rankwright compare --folds MQ2008 --rankers lambdamart,ranksvm --trials 12 --results out"
)

OVER_FOLDS = "With --folds"


def compare(
    data: Annotated[str | None, typer.Argument(metavar="[DATA]", help="Documents with labels.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]MODEL", help="A model file to compare; may be repeated."),
    ] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]FILE", help="One number a line, in the order of DATA; may be repeated."),
    ] = None,
    metrics: Annotated[str | None, typer.Option(help="Names separated by commas.")] = None,
    convention: Annotated[str | None, typer.Option(help="Default: standard, or letor with --folds.")] = None,
    folds: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="A LETOR folder in place of DATA: Fold1, Fold2, … with train, vali, test."),
    ] = None,
    rankers: Annotated[
        str | None,
        typer.Option(rich_help_panel=OVER_FOLDS, help="Names separated by commas, or all, to train on each fold."),
    ] = None,
    results: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", rich_help_panel=OVER_FOLDS, help="Keeps what is finished; a killed run goes on from there."
        ),
    ] = None,
    select: Annotated[
        str | None,
        typer.Option(rich_help_panel=OVER_FOLDS, help="The metric that settings are chosen by on vali. Default: map."),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=OVER_FOLDS, help="How settings are searched for, as in rankwright tune. Default: random."
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            rich_help_panel=OVER_FOLDS, help="Configurations to try of each ranker on each fold. Default: 12."
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=OVER_FOLDS, help="auto starts Ray here, an address joins one. Default: processes here."
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(rich_help_panel=OVER_FOLDS, help="Trials at a time. Default: one a core.")
    ] = None,
    per_query: PerQuery = None,
    format: DataFormat = None,
    as_json: AsJson = False,
    threads: Annotated[int | None, typer.Option(help="Default: every core. Not with --folds.")] = None,
    seed: Annotated[int, typer.Option(help="Of the bootstrap, the tests and, with --folds, training.")] = 0,
) -> None:
    """Compare models or score files on the same data: means with 95 % intervals, and paired tests against the best.

    What differs from the best by a randomisation test, or by Wilcoxon's signed-rank test, both after Holm's correction,
    is marked. With --folds, rankers are trained on the folds of a LETOR folder, with settings searched for on vali in
    each ranker's own space, and compared on the test documents of all folds.
    """
    from rankwright.metrics.registry import split_metrics

    names = None if metrics is None else split_metrics(metrics)
    require(names is None or bool(names), "--metrics names none")
    only_folds: dict[str, Any] = {
        "rankers": rankers,
        "results": results,
        "select": select,
        "strategy": strategy,
        "trials": trials,
        "cluster": cluster,
        "workers": workers,
    }
    given = {option: value for option, value in only_folds.items() if value is not None}
    if folds is not None:
        others_absent = data is None and not model and not scores and format is None
        require(others_absent, "--folds trains its own: leave out DATA, --model, --scores and --format")
        require(threads is None, "--folds trains several rankers at a time: say how many by --workers, not --threads")
        document, comparison = _compare_folds(folds, names, convention, seed, **given)
    else:
        require(not given, f"--{next(iter(given), '')} goes with --folds")
        if data is None:
            raise SettingError("nothing to compare on: give DATA, or --folds, a LETOR folder")
        options = {"threads": threads, "seed": seed}
        comparison = _compare_on(data, model or [], scores or [], names, convention or "standard", format, options)
        document = comparison.to_dict()
    if per_query is not None:
        write_columns(comparison.per_query(), per_query)
    print_json(document) if as_json else _show(comparison)


def _compare_on(
    data: str,
    models: list[str],
    score_files: list[str],
    metrics: list[str] | None,
    convention: str,
    format: str | None,
    options: dict[str, Any],
) -> SystemComparison:
    from rankwright.catalog.rankers import load
    from rankwright.formats.reading import read, read_wide
    from rankwright.formats.sidecars import read_scores
    from rankwright.metrics.evaluation import DEFAULT_METRICS
    from rankwright.metrics.systems import compare

    given = [_named(text) for text in (*models, *score_files)]
    names = [name for name, _ in given]
    twice = sorted({name for name in names if names.count(name) > 1})
    require(not twice, f"two systems are called {twice[0] if twice else ''}: give them names, as NAME=FILE")
    require(len(given) >= 2, f"a comparison needs two systems or more, got {len(given)}: give --model, --scores")
    rankers = {name: load(path) for name, path in given[: len(models)]}
    if rankers:
        documents = read_wide(data, max(ranker.n_features_in_ for ranker in rankers.values()), format=format)
    else:
        documents = read(data, format=format)
    from_files = {name: read_scores(path, n_docs=documents.n_docs) for name, path in given[len(models) :]}
    systems: dict[str, Any] = {**rankers, **from_files}
    return compare(systems, documents, metrics or DEFAULT_METRICS, convention, **options)


def _compare_folds(
    folder: str,
    metrics: list[str] | None,
    convention: str | None,
    seed: int,
    *,
    rankers: str | None = None,
    results: str | None = None,
    cluster: str | None = None,
    workers: int | None = None,
    **search: Any,
) -> tuple[dict[str, Any], SystemComparison]:
    """The comparison of rankers over folds; `search` is what is given of how their settings are searched for."""
    from rankwright.experiments.fold_comparison import ALL, METRICS, FoldPlan, compare_on_folds

    if rankers is None:
        raise SettingError("--folds needs --rankers: names separated by commas, or all")
    names = ALL if rankers == ALL else [name.strip() for name in rankers.split(",") if name.strip()]
    plan = FoldPlan(metrics=tuple(metrics or METRICS), convention=convention or "letor", seed=seed, **search)
    with study_progress() as listeners:
        found = compare_on_folds(
            folder,
            names,
            plan=plan,
            results=results,
            cluster=cluster,
            workers=workers,
            listeners=listeners,
            tell=lambda text: typer.echo(text, err=True),
        )
    return found.to_dict(), found.comparison


def _named(text: str) -> tuple[str, str]:
    """The name and the path in `NAME=PATH`; a path alone is its own name."""
    name, equals, path = text.partition("=")
    return (name, path) if equals else (text, text)


def _show(comparison: SystemComparison) -> None:
    typer.echo(comparison.headline)
    print_table(["system", *comparison.metrics], comparison.table(), numbers=comparison.metrics)
    typer.echo(comparison.legend)
