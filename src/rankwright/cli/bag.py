"""`rankwright bag`: a bagged model, or a study of how much bagging steadies one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.cli import options as shared
from rankwright.cli import output_kinds
from rankwright.cli.options import arg, flag, given, metric_names, opt, reads_data
from rankwright.cli.output import echo, print_json, print_table, progress, tell, tell_written
from rankwright.cli.reporting import check_report_option, check_texts, origin, write_report
from rankwright.cli.train import train_and_show
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.experiments.variance import VarianceStudy

EXAMPLES = (
    "Example: rankwright bag train.txt --bags 20 --set max_leaves=7 --out model.rw\n\n"
    "Example: rankwright bag shards --overfit --cluster auto --checkpoint bags --out model.rw\n\n"
    "Example: rankwright bag --study train.txt --valid valid.txt --test test.txt --samples 10 --bags 20 --out study"
)
OF_STUDY, WHERE = "With --study", "Where bags are trained"


@reads_data()
def bag(
    reading: dict[str, Any],
    data: str = arg("The documents to train on: a file, or a folder of Parquet shards.", "TRAIN"),
    out: str = opt(
        "The model file to write, or with --study the folder.", "OUT", default=..., writes=output_kinds.bagged
    ),
    study: bool = flag("--study", "Measure how much bagging steadies the metrics.", OF_STUDY),
    ranker: str = opt(
        "The ranker to bag: lambdamart makes bl-mart, mart makes bagboo, others make bagging.", default="lambdamart"
    ),
    bags: int | None = opt("How many bags to train. Default: the ranker's own."),
    overfit: bool | None = opt(
        "Whether each bag keeps all its steps. Default: the ranker's own.", name="--overfit/--no-overfit"
    ),
    valid: str | None = opt("Documents to choose the best steps by.", "F"),
    test: str | None = shared.TEST_FILE,
    settings: list[str] | None = shared.SETTINGS,
    select: str | None = shared.SELECT,
    seed: int | None = shared.MODEL_SEED,
    threads: int | None = shared.THREADS,
    checkpoint: str | None = opt(
        "A folder to save finished bags in; a killed run continues from them.", "DIR", writes=output_kinds.kept_folder
    ),
    cluster: str | None = opt(
        "What trains the bags: local (processes here), auto (Ray, started here), or the address of a Ray "
        "cluster. Default: threads.",
        "local|auto|ADDRESS",
        WHERE,
    ),
    workers: int | None = opt("With --cluster: how many at a time. Default: one per core.", panel=WHERE),
    samples: int = opt("How many samples of the queries.", panel=OF_STUDY, default=10),
    sample_fraction: float = opt("The share of the queries in each sample.", panel=OF_STUDY, default=0.5),
    metrics: str | None = opt("Names separated by commas; the pictures show the first metric.", panel=OF_STUDY),
    convention: str = opt("The name of a convention.", panel=OF_STUDY, default="standard"),
    picture: str = opt("svg, png or pdf.", panel=OF_STUDY, default="svg"),
    allow_empty: bool = shared.ALLOW_EMPTY,
    format: str | None = shared.DATA_FORMAT,
    report: str | None = shared.REPORT_FILE,
    title: str | None = shared.TITLE,
    text: str | None = shared.TEXT,
    as_json: bool = shared.AS_JSON,
) -> None:
    """Train a bag of rankers, each on its own sample of queries, and write the model file.

    Ctrl-C keeps the finished bags. With --cluster, bags are trained by processes here or on many machines; the model
    is the same. If TRAIN is a folder of shards, each bag reads only the queries it drew.

    With --study, four rankers are trained on random samples of the queries and measured on the same test queries:
    LambdaMART, LambdaMART with randomisation, and BL-MART without and with overfitting. The folder OUT gets the table
    and the curves, as CSV, JSON and pictures. Without --test or --valid, queries of TRAIN are held back for them.
    """
    check_report_option(report, valid, test)
    if not study:
        require(cluster is not None or workers is None, "--workers goes with --cluster")
        from rankwright.catalog.settings import bag_of
        from rankwright.catalog.training import TrainingFiles

        reading = check_texts(report, test or valid, format, reading, title, text)
        options = {"select": select, "seed": seed, "threads": threads}
        chosen = bag_of(ranker, settings or (), n_bags=bags, overfit=overfit, **options)
        files = TrainingFiles(train=data, valid=valid, test=test, format=format, options=reading)
        where = {"checkpoint": checkpoint, "cluster": cluster, "workers": workers, "allow_empty": allow_empty}
        shown = (title, text)
        train_and_show(chosen, files, out, name=chosen.name, as_json=as_json, report=report, shown=shown, **where)
        return
    require(title is None and text is None, "the report of --study shows no lists: leave out --title and --text")
    require(ranker == "lambdamart", "--study compares LambdaMART with BL-MART: leave out --ranker")
    require(cluster is None and workers is None, "--study trains here: leave out --cluster and --workers")
    require(overfit is None and checkpoint is None, "--study has no use for --overfit and --checkpoint: leave them out")
    from rankwright.catalog.training import read_parts
    from rankwright.experiments import variance

    measured = tuple(metric_names(metrics) or variance.METRICS)
    plan = variance.StudyPlan(
        n_samples=samples, sample_fraction=sample_fraction, metrics=measured, convention=convention, seed=seed or 0
    )
    variance.check_picture(picture)
    chosen_settings = _study_settings(settings or [], bags, select)
    with progress():
        parts = variance.study_parts(*read_parts(data, valid, test, format=format, **reading), seed=plan.seed)
        found = variance.study_variance(*parts, plan, settings=chosen_settings, threads=threads, tell=tell)
    paths = variance.write_study(found, out, picture=picture)
    if as_json:
        print_json(found.to_dict() | {"files": [str(path) for path in paths]})
    else:
        _show(found)
        tell_written(*paths)
    if report is not None:
        files_given = {"training documents": data, "validation documents": valid, "test documents": test}
        write_report(report, lambda: variance.study_page(found, origin(files_given, seed=plan.seed)))


def _study_settings(settings: list[str], bags: int | None, select: str | None) -> dict[str, Any]:
    from rankwright.catalog.settings import ranker_from_text
    from rankwright.settings.text import values_of, with_none

    # Wrong settings are reported before any data is read.
    kind = type(ranker_from_text("bl-mart", settings, n_bags=bags, select=select))
    return with_none(kind, values_of(settings)) | given(n_bags=bags, select=select)


def _show(study: VarianceStudy) -> None:
    rows: dict[str, list[str]] = {}
    for row in study.table():
        rows.setdefault(row["ranker"], [row["ranker"]]).extend([f"{row['mean']:.4f}", f"{row['variance'] * 1e6:.2f}"])
    columns = [name for metric in study.plan.metrics for name in (metric, f"var {metric}")]
    print_table(["", *columns], rows.values(), numbers=columns)
    echo(
        f"\nmeans and variances (× 10⁻⁶) over {study.plan.n_samples} samples of {study.plan.sample_fraction:.0%} of "
        f"the training queries; convention {study.plan.convention}"
    )
    from rankwright.experiments.variance import WITH

    changes = [
        f"{row['metric']} {row['variance_change']:+.1%}"
        for row in study.table()
        if row["ranker"] == WITH and row["variance_change"] is not None
    ]
    echo(f"variance of {WITH} against LambdaMART with randomisation: {', '.join(changes)}")
