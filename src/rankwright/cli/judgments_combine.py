"""`rankwright judgments combine`: one label out of the grades of several raters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankwright.cli import judgment_options as shared
from rankwright.cli import output_kinds
from rankwright.cli.options import AS_JSON, THREADS, arg, flag, opt, separated
from rankwright.cli.output import print_json, print_shown, progress, tell, tell_written
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.judgments.combining.combined_labels import CombinedLabels

EXAMPLES = (
    "Example: rankwright judgments combine ratings.csv --out labels.csv\n\n"
    "Example: rankwright judgments combine ratings.csv --features documents.parquet --out train.parquet\n\n"
    "Example: rankwright judgments combine people.csv gpt=labels.qrels --trusted ann,bob --out labels.qrels\n\n"
    "Example: rankwright judgments combine ratings.csv --features documents.parquet --preferences --out train.parquet"
)


def judgments_combine(
    files: list[str] | None = arg(
        "Files of judgments or stores; RATER=FILE where a file does not say who judged.", "FILE…", default=None
    ),
    out: str | None = opt(
        "Labels as .csv, .tsv, .parquet or .qrels; with --features, data to train on.",
        "OUT",
        writes=output_kinds.combined,
    ),
    features: str | None = opt("The documents, with features and the ids of queries and documents.", "DATA"),
    preferences: bool = flag(
        "--preferences",
        "With --features: also write the pairs, by the chance that one is better, beside OUT as .pairs.",
    ),
    method: str = opt("ordinal, dawid-skene, mean, median or majority.", default="ordinal"),
    trusted: str | None = opt("Raters that the others are measured by, separated by commas.", "NAMES"),
    click_model: list[str] | None = shared.CLICK_MODEL,
    format: str | None = shared.FORMAT,
    scale: str | None = shared.SCALE,
    models: str | None = shared.MODELS,
    column: list[str] | None = shared.COLUMN,
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:
    """Make one label of the grades that several raters gave a document: people, language models, clicks.

    What raters are like is learned from documents that several of them graded: how lenient, noisy and careless each
    is, and which grades it avoids. Out come the expected grade, the chances of all grades and a weight. The model is
    compared with the mean, the median and the majority on grades that were held out; labels are drawn to the mean as
    far as the model does not help.

    With --features, OUT is data to train on, with labels and weights of documents. With --preferences, `rankwright
    train OUT --pairs PAIRS` trains a pairwise ranker on the chances that one document is better than another.
    """
    from rankwright.judgments.combining.combined_labels import combine

    require(features is None or out is not None, "--features goes with --out, the data to write")
    require(features is not None or not preferences, "--preferences goes with --features")
    reading = shared.how_to_read(format, scale, models, column, threads)
    with progress():
        table = shared.read_given(files or [], reading, click_model)
        labels = combine(table, method=method, trusted=separated(trusted or ""), scale=reading["scale"])
    found = labels.to_dict()
    if out is not None:
        found |= _write(labels, out, features, preferences)
    print_json(found) if as_json else print_shown(labels.shown())


def _write(labels: CombinedLabels, out: str, features: str | None, preferences: bool) -> dict[str, Any]:
    """Write labels, or data that has them; what was written, for JSON."""
    from rankwright.formats.file_formats import write
    from rankwright.formats.reading import read
    from rankwright.formats.sidecars import write_pairs
    from rankwright.formats.trec import write_qrels
    from rankwright.report.table_files import write_columns

    if features is None:
        if out.removesuffix(".gz").endswith(".qrels"):
            write_qrels(labels.qrels(), out)
        else:
            write_columns(out, labels.columns())
        tell_written(out)
        return {"out": out}
    data = read(features)
    n_missing = labels.n_missing_from(data)
    if n_missing:
        tell(f"{n_missing:,} labels are of documents that {features} does not have, and are left out")
    written: dict[str, Any] = {"out": out, "labels_without_features": n_missing}
    made = labels.preferences_for(data) if preferences else labels.labelled(data)
    write(replace(made, preferences=None), out)
    tell_written(out)
    if preferences:
        pairs = output_kinds.pairs_beside(out)
        write_pairs(made, pairs)
        tell_written(pairs)
        written |= {"pairs_file": pairs, "pairs": 0 if made.preferences is None else len(made.preferences)}
    return written
