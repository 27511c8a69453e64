"""`rankwright compare`: several systems on the same data, and which of them differ by more than chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from rankwright.cli.compare.closer import CloserLook, separated
from rankwright.cli.compare.showing import show
from rankwright.cli.data_options import reads_data
from rankwright.cli.options import WHERE, AsJson, DataFormat, Metrics, PerQuery, ReportFile, arg, metric_names, opt
from rankwright.cli.reporting import check_asked, origin, write_asked
from rankwright.cli.talk.output import print_json, write_per_query
from rankwright.cli.talk.voice import study_listeners, tell, working
from rankwright.errors import SettingError, require

if TYPE_CHECKING:
    from rankwright.experiments.fold_comparison import FoldComparison
    from rankwright.metrics.systems import SystemComparison
    from rankwright.report.page.document import Page

EXAMPLES = (
    "Example: rankwright compare test.txt --model a.rw --scores bm25=bm25.txt --metrics ndcg@10,map\n\n"
    "Example: rankwright compare MQ2008 --rankers lambdamart,ranksvm --trials 12 --results out\n\n"
    "Example: rankwright compare --run a.run --run b.run --qrels qrels.txt --fuse rrf\n\n"
    "Example: rankwright compare test.txt --model old=a.rw --model new=b.rw --diff old,new --top 5\n\n"
    "Example: rankwright compare test.txt --model old=a.rw --model new=b.rw --report compared.html"
)

OF_RANKERS, OF_RUNS, CLOSER = "With --rankers", "TREC runs", "A closer look"


@reads_data()
def compare(
    data: Annotated[str | None, arg("Documents with labels, or with --rankers a LETOR folder.", "DATA")] = None,
    model: Annotated[list[str] | None, opt("A model file to compare; may be repeated.", "[NAME=]MODEL")] = None,
    scores: Annotated[
        list[str] | None, opt("A file with one score per line, in the order of DATA; may be repeated.", "[NAME=]FILE")
    ] = None,
    run: Annotated[
        list[str] | None, opt("A TREC run to compare; may be repeated.", "[NAME=]RUN", OF_RUNS, name="--run")
    ] = None,
    qrels: Annotated[str | None, opt("The TREC judgments that runs are compared by.", "F", OF_RUNS)] = None,
    subtopics: Annotated[
        bool, opt("The second column of the qrels names subtopics.", panel=OF_RUNS, name="--subtopics")
    ] = False,
    metrics: Metrics = None,
    convention: Annotated[
        str | None, opt("The name of a convention. Default: standard; letor with --rankers, trec with --run.")
    ] = None,
    fuse: Annotated[
        str | None,
        opt("Also compare all systems fused: rrf, combsum, combmnz or borda; separated by commas.", "METHODS"),
    ] = None,
    slice: Annotated[
        str | None,
        opt(
            "Compare on slices of the queries, by documents, relevant (how many are), words (of the query's id) or "
            "features; separated by commas.",
            "NAMES",
            CLOSER,
        ),
    ] = None,
    slices: Annotated[
        str | None,
        opt("A CSV or TSV file with columns to slice by: a header, and the query's id first.", "FILE", CLOSER),
    ] = None,
    diff: Annotated[
        str | None, opt("Two systems: show the queries that changed most, both lists side by side.", "A,B", CLOSER)
    ] = None,
    top: Annotated[
        int | None, opt("How many queries that lost, and that won, --diff shows. Default: 20.", "N", CLOSER, min=1)
    ] = None,
    rankers: Annotated[
        str | None, opt("The rankers to train on each fold: names separated by commas, or all.", panel=OF_RANKERS)
    ] = None,
    folds: Annotated[
        str | None, opt("How many folds to cut. Default: 5, or those of the LETOR folder.", "N", OF_RANKERS)
    ] = None,
    results: Annotated[
        str | None, opt("A folder that keeps what is finished; a killed run continues from it.", "DIR", OF_RANKERS)
    ] = None,
    select: Annotated[
        str | None, opt("The metric to choose settings by, on vali. Default: map.", panel=OF_RANKERS)
    ] = None,
    strategy: Annotated[
        str | None, opt("How to search for settings, as in rankwright tune. Default: random.", panel=OF_RANKERS)
    ] = None,
    trials: Annotated[
        int | None, opt("How many configurations to try for each ranker and fold. Default: 12.", panel=OF_RANKERS)
    ] = None,
    seeds: Annotated[
        int | None,
        opt("How often to train with the chosen settings, each time with a new seed. Default: 1.", "K", OF_RANKERS),
    ] = None,
    cluster: Annotated[str | None, opt(WHERE, panel=OF_RANKERS)] = None,
    workers: Annotated[
        int | None, opt("How many trials to run at a time. Default: one per core.", panel=OF_RANKERS)
    ] = None,
    per_query: PerQuery = None,
    report: ReportFile = None,
    markdown: Annotated[bool, opt("Print the table as Markdown.", name="--markdown")] = False,
    format: DataFormat = None,
    as_json: AsJson = False,
    threads: Annotated[int | None, opt("How many threads to use. Default: one per core. Not with --rankers.")] = None,
    seed: Annotated[int, opt("The seed of the bootstrap, the tests and, with --rankers, the training.")] = 0,
    *,
    reading: dict[str, Any],
) -> None:
    """Compare models, score files or TREC runs: means with 95 % intervals, and paired tests against the best.

    A mark shows which systems are worse than the best by a randomisation test or by Wilcoxon's signed-rank test, both
    after Holm's correction for all systems and metrics. Below are the differences with their t-tests, effect sizes
    (Cohen's d_z) and numbers of queries won, tied and lost. The last line says in one sentence which is better, by how
    much, how sure that is, and how many queries it takes to be sure.

    With --rankers, rankers are trained on the folds of DATA and compared on the test documents of all folds. Their
    settings are searched for on validation documents, in each ranker's own space. --seeds separates the effect of the
    training seed from that of the queries.
    """
    names = metric_names(metrics)
    check_asked(report, data, qrels, *(scores or []), *(run or []))
    only_rankers: dict[str, Any] = {
        "rankers": rankers,
        "results": results,
        "select": select,
        "strategy": strategy,
        "trials": trials,
        "seeds": seeds,
        "cluster": cluster,
        "workers": workers,
    }
    data, n_folds = _old_folds(data, folds)
    given, found = _given(only_rankers), None
    look = CloserLook.asked(slice, slices, diff, top)
    methods = {"fuse": separated(fuse)} if fuse is not None else {}
    with working():
        if rankers is not None or n_folds is not None or folds is not None:
            others_absent = not model and not scores and not run and qrels is None
            require(others_absent, "--rankers trains its own: leave out --model, --scores, --run and --qrels")
            require(not methods and diff is None, "--rankers keeps no lists: leave out --fuse and --diff")
            require(threads is None, "--rankers trains several at a time: say how many by --workers, not --threads")
            plan: dict[str, Any] = {"metrics": names and tuple(names), "convention": convention, "seed": seed}
            how_to_read = _given({"format": format}) | reading
            found = _compare_folds(data, n_folds, reading=how_to_read, **given, **_given(plan))
            comparison = found.comparison
        else:
            require(not given, f"--{next(iter(given), '')} goes with --rankers")
            options = _given({"metrics": names, "convention": convention, "threads": threads, "seed": seed}) | methods
            if run or qrels is not None:
                require(not model and not scores, "--run goes with --qrels alone: leave out --model and --scores")
                fixed = "--run and --qrels are TREC files, whose columns are fixed"
                require(format is None and not reading, f"{fixed}: leave out --format and the options of columns")
                comparison = _compare_runs(run or [], qrels or data, subtopics, options)
            else:
                how = _given({"format": format}) | {"options": reading}
                comparison = _compare_files(data, model or [], scores or [], options | how)
        looked = look.at(comparison)
    whole: SystemComparison | FoldComparison = comparison if found is None else found
    if per_query is not None:
        write_per_query(per_query, comparison.per_query(), as_json=as_json)
    if as_json:
        print_json(whole.to_dict() | {name: part.to_dict() for name, part in looked.items()})
    else:
        show([whole.shown(), *(part.shown() for part in looked.values())], markdown, err=per_query == "-")
    write_asked(report, lambda: _page(comparison, looked.get("slices"), data or qrels, model or [], seed))


def _page(comparison: SystemComparison, slices: Any, data: str | None, models: list[str], seed: int) -> Page:
    from rankwright.report.pages.systems_page import page_of_comparison

    return page_of_comparison(comparison, origin({"data": data}, dict(map(_named, models)), seed), slices)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that have a value; what has none keeps its default."""
    return {option: value for option, value in options.items() if value is not None}


def _old_folds(data: str | None, folds: str | None) -> tuple[str | None, int | None]:
    """DATA and the number of folds; `--folds` once took the LETOR folder."""
    if folds is None or folds.isdecimal():
        return data, None if folds is None else int(folds)
    require(data is None, "--folds trains its own: leave out DATA, or give a number of folds")
    tell(f"--folds is a number of folds in other commands: write rankwright compare {folds} --rankers … now")
    return folds, None


def _compare_files(data: str | None, models: list[str], scores: list[str], options: dict[str, Any]) -> SystemComparison:
    if data is None:
        raise SettingError("nothing to compare on: give DATA with --model or --scores, or --run with --qrels")
    from rankwright.catalog.comparison import compare_files

    files = _systems([*models, *scores], "--model, --scores")
    named = list(files.items())
    return compare_files(data, models=dict(named[: len(models)]), scores=dict(named[len(models) :]), **options)


def _compare_runs(runs: list[str], qrels: str | None, subtopics: bool, options: dict[str, Any]) -> SystemComparison:
    if qrels is None:
        raise SettingError("--run needs --qrels, the judgments that runs are compared by")
    from rankwright.formats.trec import read_qrels, read_run
    from rankwright.metrics.runs import compare_runs

    files = _systems(runs, "--run")
    judged = read_qrels(qrels, subtopics=subtopics)
    return compare_runs({name: read_run(path) for name, path in files.items()}, judged, **options)


def _systems(given: list[str], how: str) -> dict[str, str]:
    """The files of the systems by their names, in order."""
    named = [_named(text) for text in given]
    names = [name for name, _ in named]
    twice = sorted({name for name in names if names.count(name) > 1})
    require(not twice, f"two systems are called {twice[0] if twice else ''}: give them names, as NAME=FILE")
    require(len(named) >= 2, f"a comparison needs two systems or more, got {len(named)}: give {how}")
    return dict(named)


def _compare_folds(
    data: str | None,
    folds: int | None,
    *,
    rankers: str | None = None,
    results: str | None = None,
    cluster: str | None = None,
    workers: int | None = None,
    reading: dict[str, Any],
    **plan: Any,
) -> FoldComparison:
    """The comparison of rankers over folds; `plan` has the options of its plan."""
    from rankwright.experiments.fold_comparison import ALL, ComparisonPlan, compare_on_folds

    if rankers is None:
        raise SettingError("--folds needs --rankers: names separated by commas, or all")
    if data is None:
        raise SettingError("--rankers needs DATA: a LETOR folder, or documents to cut into folds")
    names = ALL if rankers == ALL else separated(rankers)
    where: dict[str, Any] = {"results": results, "cluster": cluster, "workers": workers, "folds": folds}
    how: dict[str, Any] = {"reading": reading, "listeners": study_listeners(), "tell": tell}
    return compare_on_folds(data, names, plan=ComparisonPlan(**plan), **where, **how)


def _named(text: str) -> tuple[str, str]:
    """The name and the path in `NAME=PATH`; a path alone is its own name."""
    name, equals, path = text.partition("=")
    return (name, path) if equals else (text, text)
