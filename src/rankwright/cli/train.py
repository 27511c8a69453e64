"""`rankwright train`: data into a model file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rankwright.cli import options as shared
from rankwright.cli import output_kinds
from rankwright.cli.options import arg, flag, opt, reads_data
from rankwright.cli.output import echo, print_json, print_text, progress, tell_written
from rankwright.cli.reporting import check_report_option, check_texts, training_page, write_report
from rankwright.errors import require
from rankwright.tables.text import counted

if TYPE_CHECKING:
    from rankwright.catalog.training import TrainedOnFiles, TrainingFiles
    from rankwright.rankers.ranker import Ranker

EXAMPLES = (
    "Example: rankwright train train.txt --valid valid.txt --ranker lambdamart --set n_trees=200 --set "
    "early_stopping=20 --out model.rw\n\n"
    "Example: rankwright train features.parquet --with-statistics INDEX --out model.rw\n\n"
    "Example: rankwright train shards --set n_trees=500 --cluster auto --workers 4 --checkpoint run --out model.rw"
)
WHERE = "Where a forest is grown"
OF_TEXTS = "Features of texts"


@reads_data()
def train(
    reading: dict[str, Any],
    data: str = arg("The documents to train on: a file, or a folder of shards.", "TRAIN"),
    out: str = opt("The model file to write.", "MODEL", default=..., writes=output_kinds.model),
    ranker: str = shared.RANKER,
    valid: str | None = opt("Documents to choose the best step by.", "F"),
    watch: list[str] | None = opt(
        "Further documents to measure after each step, such as TRAIN itself; may be repeated.", "F"
    ),
    test: str | None = shared.TEST_FILE,
    settings: list[str] | None = shared.SETTINGS,
    select: str | None = shared.SELECT,
    seed: int | None = shared.MODEL_SEED,
    threads: int | None = shared.THREADS,
    checkpoint: str | None = opt(
        "A folder to save progress in; a killed run continues from it.", "DIR", writes=output_kinds.kept_folder
    ),
    initial_scores: str | None = opt(
        "Scores to start from, one line per document of TRAIN; the model learns the rest.", "F"
    ),
    valid_initial_scores: str | None = opt("The same for the documents of --valid.", "F"),
    pairs: str | None = opt("Preferences between documents of TRAIN, as `rankwright clicks` writes them.", "F"),
    cluster: str | None = opt(
        "What grows the trees of a forest together: local (processes here), auto (Ray, started here), or the "
        "address of a Ray cluster. Default: threads.",
        "local|auto|ADDRESS",
        WHERE,
    ),
    workers: int | None = opt(
        "With --cluster: how many workers share the documents. Default: one per core.", panel=WHERE
    ),
    with_statistics: str | None = opt(
        "Keep what scoring texts without this index needs: of its commonest terms, in how many documents they are.",
        "INDEX",
        OF_TEXTS,
    ),
    terms: int | None = opt("With --with-statistics: how many terms. Default: 100,000.", panel=OF_TEXTS),
    no_profile: bool = flag("--no-profile", "Do not keep how features and scores were spread, for `rankwright drift`."),
    allow_empty: bool = shared.ALLOW_EMPTY,
    format: str | None = shared.DATA_FORMAT,
    report: str | None = shared.REPORT_FILE,
    title: str | None = shared.TITLE,
    text: str | None = shared.TEXT,
    as_json: bool = shared.AS_JSON,
) -> None:
    """Train a ranker and write its model file.

    Trees are trained without the features in memory, so a file may be larger than the memory. Ctrl-C stops the
    training, writes the best model so far and exits with code 0; before the first step there is no model, and the
    exit code is 130.

    With --cluster, one forest is grown by many workers, each of which has some of the queries of TRAIN, a folder of
    Parquet or LETOR files; the model file is the same.
    """
    check_report_option(report, valid, test)
    reading = check_texts(report, test or valid, format, reading, title, text)
    from rankwright.catalog.settings import ranker_from_text
    from rankwright.catalog.training import TrainingFiles

    chosen = ranker_from_text(ranker, settings or (), select=select, seed=seed, threads=threads)
    require(cluster is not None or workers is None, "--workers goes with --cluster")
    require(with_statistics is not None or terms is None, "--terms goes with --with-statistics")
    require(valid is not None or not watch, "--watch goes with --valid, which chooses the step")
    require(valid is not None or valid_initial_scores is None, "--valid-initial-scores goes with --valid")
    beside = {"initial_scores": initial_scores, "valid_initial_scores": valid_initial_scores, "pairs": pairs}
    files = TrainingFiles(
        train=data, valid=valid, watch=watch or (), test=test, **beside, format=format, options=reading
    )
    where = {"checkpoint": checkpoint, "cluster": cluster, "workers": workers, "allow_empty": allow_empty}
    where |= {"with_statistics": with_statistics, "terms": terms, "profile": not no_profile}
    train_and_show(chosen, files, out, name=ranker, as_json=as_json, report=report, shown=(title, text), **where)


def train_and_show(
    ranker: Ranker,
    files: TrainingFiles,
    out: str,
    *,
    name: str,
    as_json: bool,
    report: str | None,
    shown: tuple[str | None, str | None],
    **how: Any,
) -> None:
    """Train the ranker, write its model file, and print how that went.

    `name` is what the user called the ranker; `shown` are the columns of titles and texts for the report; `how` are
    further options of `train_on_files`.
    """
    from rankwright.catalog.training import train_on_files

    with progress():
        trained = train_on_files(ranker, files, out, **how)
    if as_json:
        print_json({"model": out, "ranker": name} | trained.to_dict())
    else:
        _show(trained, out)
        tell_written(out)
    if report is not None:
        write_report(report, lambda: training_page(trained, files, out, *shown))


def _told_of_clicks(ranker: Ranker) -> Iterator[str]:
    """What training found about the bias of clicks, where it looked."""
    weights, bias = ranker.propensity_weights_, getattr(ranker, "debiasing_", None)
    if weights is not None:
        clipped = f"{weights.clipped_share:.1%} of them clipped"
        yield f"propensities: {weights.n_clicks:,} clicks count as {weights.effective_size:,.0f}, {clipped}"
    if bias is not None:
        yield f"position bias: {bias.reason}"


def _show(trained: TrainedOnFiles, out: str) -> None:
    if trained.ranker.chosen_:
        chosen = ", ".join(f"{name} {value}" for name, value in trained.ranker.chosen_.items())
        print_text(f"by the data: {chosen}")
    for line in _told_of_clicks(trained.ranker):
        print_text(line)
    if trained.statistics is not None:
        n_terms, size = trained.statistics["terms"], trained.statistics["bytes"]
        print_text(f"statistics of {counted(n_terms, 'term')} kept for texts: the file grows by {size / 1e6:.1f} MB")
    if not trained.evaluations and not trained.ranker.history_.values:
        ranker = trained.ranker
        used = int(ranker.used_features().sum())
        learned = f"{counted(ranker.n_steps_, 'step')}, {used:,} of {counted(ranker.n_features_in_, 'feature')} used"
        print_text(f"learned {ranker.name}: {learned}; no documents were held out to measure it on")
        echo(f"measure it: rankwright evaluate TEST --model {out}")
    history = trained.ranker.history_
    if history.best_step is not None:
        which = "best" if history.chosen else "last"  # bags keep every step
        echo(f"{which} {history.watched} {history.best_value:.4f} after step {history.best_step + 1}")
    for name, values in trained.ranker.watched_.items():
        kept = values[history.best_step or 0] if values else float("nan")
        echo(f"{name}: {history.watched} {kept:.4f} after that step")
    for part, evaluation in trained.evaluations.items():
        echo(f"{part}: {evaluation}")
