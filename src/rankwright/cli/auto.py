"""`rankwright auto`: the best blend of rankers that a search within a budget finds, and what it is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.cli import options as shared
from rankwright.cli import output_kinds
from rankwright.cli.options import arg, given, opt, reads_data
from rankwright.cli.output import echo, print_json, print_table, print_text, progress, tell_written
from rankwright.cli.reporting import check_report_option, origin, write_report
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.auto.auto_ranker import AutoRanker

EXAMPLES = (
    "Example: rankwright auto train.txt --budget 10m --out best.rw\n\n"
    "Example: rankwright auto train.txt --trials 12 --study search --report search.html --out best.rw\n\n"
    "Example: rankwright auto train.txt --budget 1h --limit-cost 300 --limit-size 2MB --out best.rw"
)


@reads_data()
def auto(
    reading: dict[str, Any],
    data: str = arg("The documents to train on.", "DATA"),
    out: str = opt("The model file to write.", "OUT", default=..., writes=output_kinds.model),
    budget: str | None = opt("How long to search and train, in processor time of each worker. Default: 10m.", "TIME"),
    trials: int | None = opt("Instead of --budget: how many configurations; the outcome is then reproducible.", "N"),
    metric: str | None = opt("The metric to search for. Default: ndcg@10."),
    folds: int | None = opt("How many folds to measure on. Default: 5 of little data, 3 of more."),
    limit_cost: int | None = opt("The most trees and layers of nets that a document may visit.", "N"),
    limit_size: str | None = opt("The most bytes of the model file, such as 5MB.", "SIZE"),
    study: str | None = opt(
        "A folder that keeps every trial; the same command goes on where a killed one stopped.",
        "DIR",
        writes=output_kinds.kept_folder,
    ),
    test: str | None = shared.TEST_FILE,
    cluster: str | None = shared.CLUSTER,
    workers: int | None = opt("How many trials run at a time. Default: one per core."),
    seed: int | None = shared.MODEL_SEED,
    threads: int | None = shared.THREADS,
    allow_empty: bool = shared.ALLOW_EMPTY,
    format: str | None = shared.DATA_FORMAT,
    report: str | None = shared.REPORT_FILE,
    as_json: bool = shared.AS_JSON,
) -> None:
    """Search families of rankers and their settings, blend the best, and tell what that is worth on new queries.

    Each configuration is measured on folds of the queries. The estimate is honest: the whole choice is repeated on
    samples of the queries, and measured on those that a sample lacks. Beside it stands the gain over bl-mart with its
    defaults, and whether it is more than chance.

    Ctrl-C ends the search; the best so far is trained on all queries and written.
    """
    check_report_option(report, data, test)
    require(budget is None or trials is None, "--budget and --trials are two limits: give one of them")
    shared.metric_names(metric)
    from rankwright.auto.auto_ranker import AutoRanker
    from rankwright.auto.settings import bytes_of, seconds_of

    if budget is not None:
        seconds_of(budget)  # before any data is read
    if limit_size is not None:
        bytes_of(limit_size)
    from rankwright.catalog.training import evaluate_file
    from rankwright.cluster.opening import open_engine
    from rankwright.formats.reading import DataFile

    limits = {"limit_cost": limit_cost, "limit_size": limit_size}
    own = {"budget": budget, "trials": trials, "metric": metric, "folds": folds, "seed": seed, "threads": threads}
    ranker = AutoRanker(**given(**own, **limits))
    ranker.check()
    file = DataFile(data, format=format, **reading)
    tested = None if test is None else DataFile(test, format=format, **reading)
    for one in (file, tested):
        if one is not None:
            one.check_readable()
    with progress(), open_engine(cluster, workers) as engine:
        ranker.on(engine).fit(file, checkpoint=study, allow_empty=allow_empty)
        ranker.on(None).save(out)
        measured = None if tested is None else evaluate_file(ranker, tested, threads=threads)
    found = ranker.report_
    if as_json:
        tests = {} if measured is None else {"test": measured.to_dict()}
        print_json({"model": out, "ranker": ranker.trained_.ranker} | found.to_dict() | tests)
    else:
        _show(ranker)
        if measured is not None:
            echo(f"test: {measured}")
    tell_written(out)
    if report is not None:
        from rankwright.report.pages.auto_page import page_of_auto

        files = {"training documents": data, "test documents": test}
        write_report(report, lambda: page_of_auto(ranker, origin(files, {"chosen model": out}, seed), measured))


def _show(ranker: AutoRanker) -> None:
    table = ranker.report_.shown()
    print_table(table.columns, table.rows, numbers=table.numbers)
    echo("")
    for line in ranker.report_.lines():
        print_text(line)
