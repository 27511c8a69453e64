"""`rankwright benchmark`: rankers trained on the folds of a data set, and compared on its test documents."""

from __future__ import annotations

from typing import Any

from rankwright.cli import options as shared
from rankwright.cli import output_kinds
from rankwright.cli.compare import MARKDOWN, SLICE, SLICES, check_slices, print_comparison, slices_of
from rankwright.cli.options import given, metric_names, opt, reads_data, separated
from rankwright.cli.output import progress, tell
from rankwright.cli.reporting import check_report_option, origin, write_report

EXAMPLES = (
    "Example: rankwright benchmark MQ2008 --rankers lambdamart,ranksvm --trials 12 --results out\n\n"
    "Example: rankwright benchmark data.csv --rankers lambdamart,lambdarank --folds 5 --seeds 3"
)


@reads_data()
def benchmark(
    reading: dict[str, Any],
    data: str = shared.FOLDS_DATA,
    rankers: str = opt("The rankers to train on each fold: names separated by commas, or all.", "NAMES", default=...),
    folds: int | None = shared.FOLDS,
    strategy: str = opt("How to search for settings, as in rankwright tune.", default="random"),
    trials: int | None = opt("How many configurations to try for each ranker and fold. Default: 12."),
    select: str = opt("The metric to choose settings by, on the validation documents.", default="map"),
    seeds: int = opt("How often to train with the chosen settings, each time with a new seed.", "K", default=1),
    seed: int = opt("The seed of the folds, the training, the bootstrap and the tests.", default=0),
    results: str | None = opt(
        "A folder that keeps what is finished; a killed run continues from it.", "DIR", writes=output_kinds.kept_folder
    ),
    metrics: str | None = shared.METRICS,
    convention: str = opt("The name of a convention.", default="letor"),
    slice: str | None = SLICE,
    slices: str | None = SLICES,
    per_query: str | None = shared.PER_QUERY,
    report: str | None = shared.REPORT_FILE,
    markdown: bool = MARKDOWN,
    cluster: str | None = shared.CLUSTER,
    workers: int | None = opt("How many trials to run at a time. Default: one per core."),
    format: str | None = shared.DATA_FORMAT,
    as_json: bool = shared.AS_JSON,
) -> None:
    """Train rankers on the folds of DATA, and compare them on the test documents of all folds.

    The settings of each ranker are searched for on the validation documents of each fold, in the ranker's own space.
    The tables are those of `rankwright compare`: means with 95 % intervals, and paired tests against the best.
    --seeds separates the effect of the training seed from that of the queries.
    """
    from rankwright.experiments.fold_comparison import ALL, METRICS, ComparisonPlan, compare_on_folds
    from rankwright.tuning.studies.study import announce_study

    names = metric_names(metrics)
    check_report_option(report, data)
    check_slices(slice)
    search: dict[str, Any] = {"strategy": strategy, "trials": trials, "select": select, "seeds": seeds, "seed": seed}
    plan = ComparisonPlan(tuple(names or METRICS), convention, **search)
    where: dict[str, Any] = {"cluster": cluster, "workers": workers, "listeners": [announce_study], "tell": tell}
    reading = given(format=format) | reading
    with progress():
        compared = ALL if rankers == ALL else separated(rankers)
        found = compare_on_folds(data, compared, plan=plan, results=results, folds=folds, reading=reading, **where)
        sliced = slices_of(found.comparison, slice, slices)
    print_comparison(found, given(slices=sliced), per_query=per_query, markdown=markdown, as_json=as_json)
    if report is not None:
        from rankwright.report.pages.result_pages import page_of_comparison

        about = origin({"data": data}, seed=seed)
        write_report(report, lambda: page_of_comparison(found.comparison, about, sliced))
