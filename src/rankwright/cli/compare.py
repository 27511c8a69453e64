"""`rankwright compare`: several systems on the same data, and which of them differ by more than chance."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from rankwright.cli import options as shared
from rankwright.cli.few_labels import FEW_LABELS, FewLabels, run_lists, unlabelled
from rankwright.cli.options import arg, flag, given, metric_names, opt, reads_data, separated
from rankwright.cli.output import echo, print_json, print_tables, progress, write_per_query
from rankwright.cli.reporting import check_report_option, check_texts, origin, write_report
from rankwright.errors import SettingError, require

if TYPE_CHECKING:
    from rankwright.catalog.training import TextSource
    from rankwright.experiments.fold_comparison import FoldComparison
    from rankwright.metrics.comparison.diff import RankingDiff
    from rankwright.metrics.comparison.gate import Gate
    from rankwright.metrics.comparison.slice_comparison import SliceComparison
    from rankwright.metrics.comparison.system_comparison import SystemComparison
    from rankwright.metrics.evaluation import ScoredLists
    from rankwright.report.measured import SearchPlace
    from rankwright.report.shown_texts import ShownTexts

EXAMPLES = (
    "Example: rankwright compare test.txt --model a.rw --scores bm25=bm25.txt --metrics ndcg@10,map\n\n"
    "Example: rankwright compare --run a.run --run b.run --qrels qrels.txt --fuse rrf\n\n"
    "Example: rankwright compare test.txt --model old=a.rw --model new=b.rw --diff old,new --top 5\n\n"
    "Example: rankwright compare test.txt --model old=a.rw --model new=b.rw --report compared.html\n\n"
    "Example: rankwright compare test.parquet --model model.rw --model bm25f.rw --index INDEX --queries queries.tsv\n\n"
    "Example: rankwright compare test.txt --model old=a.rw --model new=b.rw --fail-if-worse ndcg@10:0.002 --json\n\n"
    "Example: rankwright compare test.parquet --model a.rw --model b.rw --human people.csv --model-labels gpt.qrels"
)
OLD, NEW, WORSE = "old", "new", 1  # the systems of a gate, and the exit code where it fails
OF_RUNS, DETAILS = "TREC runs", "A closer look"

SLICE = opt(
    "Compare on slices of the queries, by documents, relevant (how many are), words (of the query's id) or features; "
    "separated by commas.",
    "NAMES",
    DETAILS,
)
SLICES = opt("A CSV or TSV file with columns to slice by: a header, and the query's id first.", "FILE", DETAILS)
FAIL_IF_WORSE = opt(
    "Exit with code 1 if the system called new is worse than the one called old by more than LOSS, beyond chance; may "
    "be repeated.",
    "METRIC:LOSS",
)
MARKDOWN = flag("--markdown", "Print the table as Markdown.")


@reads_data()
def compare(
    reading: dict[str, Any],
    data: str | None = arg("Documents with labels.", "DATA", default=None),
    model: list[str] | None = opt("A model file to compare; may be repeated.", "[NAME=]MODEL"),
    scores: list[str] | None = opt(
        "A file with one score per line, in the order of DATA; may be repeated.", "[NAME=]FILE"
    ),
    run: list[str] | None = opt("A TREC run to compare; may be repeated.", "[NAME=]RUN", OF_RUNS, name="--run"),
    qrels: str | None = opt("The TREC judgments that runs are compared by.", "F", OF_RUNS),
    subtopics: bool = flag("--subtopics", "The second column of the qrels names subtopics.", OF_RUNS),
    metrics: str | None = shared.METRICS,
    convention: str | None = opt("The name of a convention. Default: standard, or trec with --run."),
    fuse: str | None = opt(
        "Also compare all systems fused: rrf, combsum, combmnz or borda; separated by commas.", "METHODS"
    ),
    slice: str | None = SLICE,
    slices: str | None = SLICES,
    diff: str | None = opt("Two systems: show the queries that changed most, both lists side by side.", "A,B", DETAILS),
    top: int | None = opt("How many queries that lost, and that won, --diff shows. Default: 20.", "N", DETAILS, min=1),
    fail_if_worse: list[str] | None = FAIL_IF_WORSE,
    human: str | None = FEW_LABELS["human"],
    model_labels: str | None = FEW_LABELS["model_labels"],
    per_query: str | None = shared.PER_QUERY,
    report: str | None = shared.REPORT_FILE,
    title: str | None = shared.TITLE,
    text: str | None = shared.TEXT,
    markdown: bool = MARKDOWN,
    index: str | None = shared.INDEX,
    queries: str | None = shared.QUERIES,
    format: str | None = shared.DATA_FORMAT,
    as_json: bool = shared.AS_JSON,
    threads: int | None = shared.THREADS,
    seed: int = opt("The seed of the bootstrap and the tests.", default=0),
) -> None:
    """Compare models, score files or TREC runs: means with 95 % intervals, and paired tests against the best.

    A mark shows which systems are worse than the best by a randomisation test or by Wilcoxon's signed-rank test, both
    after Holm's correction for all systems and metrics. Below are the differences with their t-tests, effect sizes
    (Cohen's d_z) and numbers of queries won, tied and lost. The last lines say which is better by the metric that the
    models were trained for (or else the first one), by how much, how sure that is, how many queries it takes to be
    sure, and in which metrics another system is better.

    With --fail-if-worse, exit code 1 means that the new system loses more than is allowed, 0 that it does not, and 2
    that something is wrong with the command or its files.

    With --human, people judged some queries, drawn at random, and a model all of them: metrics and differences from the
    first system are estimated from both, without the model's bias.

    `rankwright benchmark` trains rankers and compares them over folds.
    """
    if human is not None or model_labels is not None:
        few = FewLabels(human, model_labels, metrics, convention, threads)
        few.check(per_query=per_query, report=report, title=title, text=text, fuse=fuse, slice=slice, slices=slices,
                  diff=diff, fail_if_worse=fail_if_worse or None)  # fmt: skip
        with progress():
            lists = _lists(data, model or [], scores or [], run or [], qrels, {"format": format, **reading})
            found = few.estimated(lists, is_run=bool(run))
        few.show(found, as_json=as_json)
        return
    allowed = _allowed_losses(fail_if_worse or [])
    _check_gate(allowed, [*(model or []), *(scores or []), *(run or [])])
    names = _with_gates(metric_names(metrics), allowed)
    check_report_option(report, data, qrels, *(scores or []), *(run or []))
    reading = check_texts(report, data, format, reading, title, text)
    check_slices(slice)
    texts_from = shared.text_source(index, queries)
    require(diff is not None or top is None, "--top goes with --diff")
    pair = separated(diff or "")
    require(diff is None or len(pair) == 2, f"--diff takes the names of two systems, A,B, got {diff!r}")
    methods = None if fuse is None else separated(fuse)
    options = given(metrics=names, convention=convention, threads=threads, seed=seed, fuse=methods)
    with progress():
        if run or qrels is not None:
            alone = not model and not scores and texts_from is None
            require(alone, "--run goes with --qrels alone: leave out --model, --scores and --index")
            fixed = "--run and --qrels are TREC files, whose columns are fixed"
            require(format is None and not reading, f"{fixed}: leave out --format and the options of columns")
            comparison = _compare_runs(run or [], qrels or data, subtopics, options)
        else:
            how = given(format=format, texts=texts_from) | {"options": reading}
            comparison = _compare_files(data, model or [], scores or [], options | how)
        sliced = slices_of(comparison, slice, slices)
        changed = comparison.diff(pair[0], pair[1], **given(top=top)) if pair else None
        gate = comparison.gate(allowed, old=OLD, new=NEW) if allowed else None
    details = given(slices=sliced, diff=changed)
    print_comparison(comparison, details, gate, per_query=per_query, markdown=markdown, as_json=as_json)
    if report is not None:
        from rankwright.report.pages.result_pages import page_of_comparison
        from rankwright.report.shown_texts import read_shown_texts

        texts = read_shown_texts(str(data), format, reading, title=title, text=text)
        about = origin({"data": data or qrels}, dict(map(_named, model or [])), seed)
        if texts_from is not None:
            texts = _with_queries(texts, texts_from, comparison)
            about = replace(about, search=_search_place(texts_from, model or []))
        write_report(report, lambda: page_of_comparison(comparison, about, sliced, texts, gate))
    if gate is not None and not gate.passed:
        raise typer.Exit(WORSE)


def _with_queries(texts: ShownTexts, source: TextSource, comparison: SystemComparison) -> ShownTexts:
    """The texts of the queries' file, where no column of the data has them."""
    from rankwright.report.shown_texts import ShownTexts
    from rankwright.text.collections.queries import read_queries

    if texts.queries is not None or comparison.material is None:
        return texts
    queries = read_queries(source.queries)
    by_id = dict(zip(queries.ids, queries.texts, strict=True))
    return replace(texts, queries=ShownTexts.given(None, by_id, comparison.material.data).queries)


def _search_place(source: TextSource, models: list[str]) -> SearchPlace:
    """The page on which the report's queries can be searched for."""
    from rankwright.report.measured import SearchPlace
    from rankwright.search.page.place import page_url

    given = [part for one in models for part in ("--model", one)]
    command = ["rankwright", "search", str(source.index), *given, "--queries", str(source.queries), "--page"]
    return SearchPlace(page_url(), shlex.join(command))


def _lists(
    data: str | None, models: list[str], scores: list[str], runs: list[str], qrels: str | None, reading: dict[str, Any]
) -> dict[str, ScoredLists]:
    """What each system ranked, by its name."""
    if runs:
        judged = qrels or data
        if judged is None:
            raise SettingError("--run needs --qrels, the model's judgments, which --model-labels may replace")
        return {name: run_lists(judged, path) for name, path in _systems(runs, "--run").items()}
    if data is None:
        raise SettingError("nothing to compare on: give DATA with --model or --scores, or --run with --qrels")
    from rankwright.catalog.rankers import load
    from rankwright.catalog.scoring import read_for
    from rankwright.formats.reading import read
    from rankwright.formats.sidecars import read_scores

    found = {}
    for place, (name, path) in enumerate(_systems([*models, *scores], "--model, --scores").items()):
        if place < len(models):
            ranker = load(path)
            documents = read_for(ranker.trained(), data, **reading)
            found[name] = unlabelled(ranker.predict(documents), documents)
        else:
            documents = read(data, **reading)
            found[name] = unlabelled(read_scores(path, n_docs=documents.n_docs), documents)
    return found


def _allowed_losses(texts: list[str]) -> dict[str, float]:
    """The losses that `--fail-if-worse` allows, by metric."""
    from rankwright.metrics.metric_table import parse_metric

    allowed: dict[str, float] = {}
    for text in texts:
        metric, _, loss = text.rpartition(":")
        try:
            number = float(loss)
        except ValueError:
            number = math.nan
        wanted = "--fail-if-worse takes a metric and a loss of 0 or more, such as ndcg@10:0.002"
        require(bool(metric) and 0 <= number < math.inf, f"{wanted}, got {text!r}")
        parse_metric(metric)  # before any data is read
        require(metric not in allowed, f"--fail-if-worse names {metric} twice")
        allowed[metric] = number
    return allowed


def _with_gates(names: list[str] | None, allowed: Mapping[str, float]) -> list[str] | None:
    """The metrics to compare in: those asked for, and those that a gate checks."""
    if not allowed:
        return names
    from rankwright.metrics.evaluation import DEFAULT_METRICS

    return list(dict.fromkeys([*(names or DEFAULT_METRICS), *allowed]))


def _check_gate(allowed: Mapping[str, float], systems: list[str]) -> None:
    """Raise, before any work, where a gate does not know which systems it is about."""
    names = [_named(text)[0] for text in systems]
    missing = [name for name in (OLD, NEW) if name not in names]
    told = f"--fail-if-worse asks whether {NEW} is worse than {OLD}, and no system is called {' or '.join(missing)}"
    require(not allowed or not missing, f"{told}: name both, as in --model {OLD}=a.rw --model {NEW}=b.rw")


def check_slices(names: str | None) -> None:
    """Raise, before any work, where `--slice` names nothing."""
    require(names is None or bool(separated(names)), "--slice names nothing to slice by")


def slices_of(comparison: SystemComparison, names: str | None, file: str | None) -> SliceComparison | None:
    """The comparison by the names of `--slice`, which may be columns of the file of `--slices`; or by all columns."""
    if names is None and file is None:
        return None
    from rankwright.formats.sidecars import read_query_columns

    columns: dict[str, Any] = {} if file is None else dict(read_query_columns(file))
    return comparison.slice_by(columns if names is None else {name: columns.get(name) for name in separated(names)})


def print_comparison(
    found: SystemComparison | FoldComparison,
    details: Mapping[str, SliceComparison | RankingDiff],
    gate: Gate | None = None,
    *,
    per_query: str | None,
    markdown: bool,
    as_json: bool,
) -> None:
    """Print a comparison, its details and its gate, and write its table of queries where one is asked for."""
    if per_query is not None:
        write_per_query(per_query, found.per_query(), as_json=as_json)
    if as_json:
        more = {**details} if gate is None else {**details, "gate": gate}
        print_json(found.to_dict() | {name: detail.to_dict() for name, detail in more.items()})
        return
    shown = [found.shown(), *(detail.shown() for detail in details.values())]
    print_tables(shown, markdown, err=per_query == "-")
    if gate is not None:
        echo(err=per_query == "-")
        print_tables([gate.shown()], markdown, err=per_query == "-")


def _compare_files(data: str | None, models: list[str], scores: list[str], options: dict[str, Any]) -> SystemComparison:
    if data is None:
        raise SettingError("nothing to compare on: give DATA with --model or --scores, or --run with --qrels")
    from rankwright.catalog.training import compare_files

    named = list(_systems([*models, *scores], "--model, --scores").items())
    return compare_files(data, models=dict(named[: len(models)]), scores=dict(named[len(models) :]), **options)


def _compare_runs(runs: list[str], qrels: str | None, subtopics: bool, options: dict[str, Any]) -> SystemComparison:
    if qrels is None:
        raise SettingError("--run needs --qrels, the judgments that runs are compared by")
    from rankwright.formats.trec import read_qrels, read_run
    from rankwright.metrics.runs import compare_runs

    files = _systems(runs, "--run")
    judged = read_qrels(qrels, subtopics=subtopics)
    return compare_runs({name: read_run(path) for name, path in files.items()}, judged, **options)


def _systems(texts: list[str], how: str) -> dict[str, str]:
    """The files of the systems by their names, in order."""
    named = [_named(text) for text in texts]
    names = [name for name, _ in named]
    twice = sorted({name for name in names if names.count(name) > 1})
    require(not twice, f"two systems are called {twice[0] if twice else ''}: give them names, as NAME=FILE")
    require(len(named) >= 2, f"a comparison needs two systems or more, got {len(named)}: give {how}")
    return dict(named)


def _named(text: str) -> tuple[str, str]:
    """The name and the path in `NAME=PATH`; a path alone is its own name."""
    name, equals, path = text.partition("=")
    require(not equals or bool(name and path), f"a system is NAME=FILE or FILE, got {text!r}")
    return (name, path) if equals else (text, text)
