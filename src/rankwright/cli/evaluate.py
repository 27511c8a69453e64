"""`rankwright evaluate`: metrics of a file of scores, of a model, or of a TREC run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rankwright.cli import options as shared
from rankwright.cli.few_labels import FEW_LABELS, FewLabels, run_lists, unlabelled
from rankwright.cli.options import arg, metric_names, opt, reads_data
from rankwright.cli.output import echo, print_json, print_table, print_text, progress, write_per_query
from rankwright.cli.reporting import check_report_option, check_texts, origin, write_report
from rankwright.errors import SettingError, require

if TYPE_CHECKING:
    from rankwright.arrays import Float64Array
    from rankwright.catalog.training import TextSource
    from rankwright.data.dataset import RankingDataset
    from rankwright.metrics.convention_comparison import ConventionComparison
    from rankwright.metrics.evaluation import Evaluation
    from rankwright.report.page.document import Page
    from rankwright.report.shown_texts import ShownTexts

    Scored: TypeAlias = tuple[Float64Array, RankingDataset]

EXAMPLES = (
    "Example: rankwright evaluate test.txt --scores scores.txt --metrics ndcg@10,map:mslr --convention letor\n\n"
    "Example: rankwright evaluate test.parquet --model a.rw --human people.csv --model-labels gpt.qrels"
)


@reads_data()
def evaluate(
    reading: dict[str, Any],
    data: str = arg("Documents with labels, or with --run TREC qrels; - is standard input.", "DATA"),
    scores: str | None = opt("One score per line, in the order of the documents; - is standard input."),
    model: str | None = opt("A model file that scores the documents.", "MODEL"),
    run: str | None = opt("A TREC run to evaluate against the qrels in DATA."),
    metrics: str | None = shared.METRICS,
    convention: str | None = opt("The name of a convention, or all. Default: standard, or trec with --run."),
    human: str | None = FEW_LABELS["human"],
    model_labels: str | None = FEW_LABELS["model_labels"],
    per_query: str | None = shared.PER_QUERY,
    report: str | None = shared.REPORT_FILE,
    title: str | None = shared.TITLE,
    text: str | None = shared.TEXT,
    index: str | None = shared.INDEX,
    queries: str | None = shared.QUERIES,
    format: str | None = shared.DATA_FORMAT,
    as_json: bool = shared.AS_JSON,
    threads: int | None = shared.THREADS,
    seed: int = opt("The seed of the bootstrap.", default=0),
) -> None:
    """Evaluate scores against labels: means with 95 % intervals, under a named convention.

    `--convention all` shows the same scores under every convention, and says why they differ. `rankwright list
    metrics` and `rankwright list conventions` show the names. Any rule of a convention can be changed, as in
    --convention 'standard(gain=linear, empty=skip)'.

    With --human, people judged some queries, drawn at random, and a model all of them: metrics are estimated from both,
    without the model's bias and with narrower intervals than people's labels alone would give.
    """
    texts_from = shared.text_source(index, queries)
    require(texts_from is None or model is not None, "--index and --queries go with --model")
    if human is not None or model_labels is not None:
        few = FewLabels(human, model_labels, metrics, convention, threads)
        few.check(per_query=per_query, report=report, title=title, text=text)
        with progress():
            how = (data, scores, model, format, reading, texts_from)
            lists = run_lists(data, run) if run else unlabelled(*_scored(*how))
            found = few.estimated({Path(run or model or scores or "").stem: lists}, is_run=run is not None)
        few.show(found, as_json=as_json)
        return
    from rankwright.metrics.convention_comparison import compare_conventions
    from rankwright.metrics.evaluation import DEFAULT_METRICS
    from rankwright.metrics.evaluation import evaluate as evaluate_scores

    names = metric_names(metrics) or DEFAULT_METRICS
    check_report_option(report, data, scores)
    require(run is None or not (title or text), "--title and --text name columns of documents, and a run has none")
    reading = check_texts(report, data, format, reading, title, text)
    require(report is None or convention != "all", "--report needs one convention, not all")
    options: dict[str, Any] = {"threads": threads, "seed": seed}
    if convention == "all":
        require(per_query is None, "--per-query needs one convention, not all")
        require(run is None, "--convention all needs --scores: a run is counted under one convention")
        with progress():
            comparison = compare_conventions(
                *_scored(data, scores, model, format, reading, texts_from), names, **options
            )
        print_json(comparison.to_dict()) if as_json else _show_comparison(comparison)
        return
    with progress():
        if run is None:
            scored = _scored(data, scores, model, format, reading, texts_from)
            evaluation = evaluate_scores(*scored, names, convention or "standard", **options)
            system = model or scores
        else:
            others_absent = scores is None and model is None and format is None
            require(others_absent, "--run goes with qrels alone: leave out --scores, --model and --format")
            from rankwright.formats.trec import read_qrels, read_run
            from rankwright.metrics.runs import evaluate_run

            evaluation = evaluate_run(read_run(run), read_qrels(data), names, convention or "trec", **options)
            scored, system = None, run
    if per_query is not None:
        write_per_query(per_query, evaluation.per_query(), as_json=as_json)
    print_json(evaluation.to_dict()) if as_json else _show(evaluation, err=per_query == "-")
    if report is not None:
        from rankwright.report.shown_texts import read_shown_texts

        texts = read_shown_texts(data, format, reading, title=title, text=text)
        write_report(report, lambda: _page(evaluation, scored, str(system), model, data, seed, texts))


def _page(
    evaluation: Evaluation,
    scored: Scored | None,
    system: str,
    model: str | None,
    data: str,
    seed: int,
    texts: ShownTexts,
) -> Page:
    """The page on what was evaluated: with lists where there are scores, with explanations where there is a model."""
    from rankwright.catalog.rankers import load
    from rankwright.metrics.evaluation import ScoredLists
    from rankwright.report.measured import Measured
    from rankwright.report.pages.result_pages import page_of_measured

    name = Path(system).stem
    lists = {} if scored is None else {name: ScoredLists.of_dataset(*scored)}
    documents = None if scored is None else scored[1]
    rankers = {} if model is None else {name: load(model)}
    measured = Measured({name: evaluation}, None, lists, documents, rankers, texts)
    about = origin({"data": data, "system": None if model else system}, {} if model is None else {name: model}, seed)
    return page_of_measured(measured, about, title=f"{system} on {data}", on=f" of {Path(data).name}")


def _scored(
    data: str,
    scores: str | None,
    model: str | None,
    format: str | None,
    reading: dict[str, Any],
    texts: TextSource | None,
) -> Scored:
    from rankwright.formats.reading import read
    from rankwright.formats.sidecars import read_scores

    require(scores is None or model is None, "give either --scores or --model, not both")
    if model is not None:
        from rankwright.catalog.rankers import load
        from rankwright.catalog.scoring import read_for

        ranker = load(model)
        if texts is None:
            documents = read_for(ranker.trained(), data, format=format, **reading)
        else:
            documents = texts.with_features(read(data, format=format, **reading), [ranker])
        ranker.warn_if_seen(documents)
        return ranker.predict(documents), documents
    if scores is None:
        raise SettingError("nothing to evaluate: give --scores, one number a line, --model, or --run, a TREC run")
    require((data, scores) != ("-", "-"), "DATA and --scores cannot both be standard input")
    documents = read(data, format=format, **reading)
    return read_scores(scores, n_docs=documents.n_docs), documents


def _show(evaluation: Evaluation, *, err: bool) -> None:
    """Print the means; on stderr where stdout has the table of queries."""
    print_text(evaluation.headline, err=err)
    rows = [
        [name, f"{result.mean:.4f}", f"{result.interval.low:.4f} to {result.interval.high:.4f}", str(result.n_queries)]
        for name, result in evaluation.results.items()
    ]
    columns = ["metric", "mean", "95 % interval", "queries"]
    print_table(columns, rows, numbers=columns[1:], err=err)


def _show_comparison(comparison: ConventionComparison) -> None:
    echo(comparison.headline)
    print_table(["convention", *comparison.metrics], comparison.table(), numbers=comparison.metrics)
    echo()
    print_table(["convention", "why it differs from standard"], list(comparison.why.items()))
