"""`rankwright compare`: several systems on the same data, and which of them differ by more than chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright.cli.options import WHERE, AsJson, DataFormat, Metrics, PerQuery, arg, metric_names, opt
from rankwright.cli.output import print_json, print_table
from rankwright.cli.voice import study_listeners, tell, working
from rankwright.errors import SettingError, require

if TYPE_CHECKING:
    from rankwright.experiments.fold_comparison import FoldComparison
    from rankwright.metrics.systems import SystemComparison

EXAMPLES = (
    "Example: rankwright compare test.txt --model a.rw --scores bm25=bm25.txt --metrics ndcg@10,map\n\n"
    "Example: rankwright compare --folds MQ2008 --rankers lambdamart,ranksvm --trials 12 --results out"
)

OVER_FOLDS = "With --folds"


def compare(
    data: Annotated[str | None, arg("Documents with labels.", "[DATA]")] = None,
    model: Annotated[list[str] | None, opt("A model file to compare; may be repeated.", "[NAME=]MODEL")] = None,
    scores: Annotated[
        list[str] | None, opt("A file with one score per line, in the order of DATA; may be repeated.", "[NAME=]FILE")
    ] = None,
    metrics: Metrics = None,
    convention: Annotated[
        str | None, opt("The name of a convention. Default: standard, or letor with --folds.")
    ] = None,
    folds: Annotated[
        str | None, opt("A LETOR folder in place of DATA: Fold1, Fold2, … with train, vali and test files.", "DIR")
    ] = None,
    rankers: Annotated[
        str | None, opt("The rankers to train on each fold: names separated by commas, or all.", panel=OVER_FOLDS)
    ] = None,
    results: Annotated[
        str | None, opt("A folder that keeps what is finished; a killed run goes on from it.", "DIR", OVER_FOLDS)
    ] = None,
    select: Annotated[
        str | None, opt("The metric to choose settings by, on vali. Default: map.", panel=OVER_FOLDS)
    ] = None,
    strategy: Annotated[
        str | None, opt("How to search for settings, as in rankwright tune. Default: random.", panel=OVER_FOLDS)
    ] = None,
    trials: Annotated[
        int | None, opt("How many configurations to try for each ranker and fold. Default: 12.", panel=OVER_FOLDS)
    ] = None,
    cluster: Annotated[str | None, opt(WHERE, panel=OVER_FOLDS)] = None,
    workers: Annotated[
        int | None, opt("How many trials to run at a time. Default: one per core.", panel=OVER_FOLDS)
    ] = None,
    per_query: PerQuery = None,
    format: DataFormat = None,
    as_json: AsJson = False,
    threads: Annotated[int | None, opt("How many threads to use. Default: one per core. Not with --folds.")] = None,
    seed: Annotated[int, opt("The seed of the bootstrap, the tests and, with --folds, the training.")] = 0,
) -> None:
    """Compare models or score files on the same data: means with 95 % intervals, and paired tests against the best.

    A mark shows which systems are worse than the best by a randomisation test or by Wilcoxon's signed-rank test, both
    after Holm's correction.

    With --folds, rankers are trained on the folds of a LETOR folder and compared on the test documents of all folds.
    Their settings are searched for on the validation documents, in each ranker's own space.
    """
    names = metric_names(metrics)
    only_folds: dict[str, Any] = {
        "rankers": rankers,
        "results": results,
        "select": select,
        "strategy": strategy,
        "trials": trials,
        "cluster": cluster,
        "workers": workers,
    }
    given = _given(only_folds)
    if folds is not None:
        others_absent = data is None and not model and not scores and format is None
        require(others_absent, "--folds trains its own: leave out DATA, --model, --scores and --format")
        require(threads is None, "--folds trains several rankers at a time: say how many by --workers, not --threads")
        plan: dict[str, Any] = {"metrics": names and tuple(names), "convention": convention, "seed": seed}
        found = _compare_folds(folds, **given, **_given(plan))
        document, comparison = found.to_dict(), found.comparison
    else:
        require(not given, f"--{next(iter(given), '')} goes with --folds")
        if data is None:
            raise SettingError("nothing to compare on: give DATA, or --folds, a LETOR folder")
        from rankwright.catalog.comparison import compare_files

        models, score_files = _systems(model or [], scores or [])
        options: dict[str, Any] = {"metrics": names, "convention": convention, "format": format, "threads": threads}
        with working():
            comparison = compare_files(data, models=models, scores=score_files, seed=seed, **_given(options))
        document = comparison.to_dict()
    if per_query is not None:
        from rankwright.report.tables import write_columns

        write_columns(per_query, comparison.per_query())
    print_json(document) if as_json else _show(comparison)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that have a value; what has none keeps its default."""
    return {option: value for option, value in options.items() if value is not None}


def _systems(models: list[str], score_files: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The files of models and of scores, by the names of the systems."""
    given = [_named(text) for text in (*models, *score_files)]
    names = [name for name, _ in given]
    twice = sorted({name for name in names if names.count(name) > 1})
    require(not twice, f"two systems are called {twice[0] if twice else ''}: give them names, as NAME=FILE")
    require(len(given) >= 2, f"a comparison needs two systems or more, got {len(given)}: give --model, --scores")
    return dict(given[: len(models)]), dict(given[len(models) :])


def _compare_folds(
    folder: str,
    *,
    rankers: str | None = None,
    results: str | None = None,
    cluster: str | None = None,
    workers: int | None = None,
    **plan: Any,
) -> FoldComparison:
    """The comparison of rankers over folds; `plan` has the options of its plan."""
    from rankwright.experiments.fold_comparison import ALL, ComparisonPlan, compare_on_folds

    if rankers is None:
        raise SettingError("--folds needs --rankers: names separated by commas, or all")
    names = ALL if rankers == ALL else [name.strip() for name in rankers.split(",") if name.strip()]
    where: dict[str, Any] = {"results": results, "cluster": cluster, "workers": workers}
    with working():
        listeners = study_listeners()
        return compare_on_folds(folder, names, plan=ComparisonPlan(**plan), listeners=listeners, tell=tell, **where)


def _named(text: str) -> tuple[str, str]:
    """The name and the path in `NAME=PATH`; a path alone is its own name."""
    name, equals, path = text.partition("=")
    return (name, path) if equals else (text, text)


def _show(comparison: SystemComparison) -> None:
    typer.echo(comparison.headline)
    print_table(["system", *comparison.metrics], comparison.table(), numbers=comparison.metrics)
    typer.echo(comparison.legend)
