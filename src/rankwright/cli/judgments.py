"""`rankwright judgments`: what judgments of several raters tell, and the store they are kept in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.cli import judgment_options as shared
from rankwright.cli import output_kinds
from rankwright.cli.options import AS_JSON, REPORT_FILE, THREADS, arg, opt
from rankwright.cli.output import print_json, print_tables, progress, tell, tell_written
from rankwright.cli.reporting import check_report_option, origin, write_report
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.judgments.judgment_table import Judgments

EXAMPLES = (
    "Example: rankwright judgments ratings.csv\n\n"
    "Example: rankwright judgments people.csv gpt=labels.qrels --models gpt --scale 0,3 --json\n\n"
    "Example: rankwright judgments new.jsonl --store judged.db --export all.csv\n\n"
    "Example: rankwright judgments combine ratings.csv --features documents.parquet --out train.parquet"
)
STORE, EXPORT = "The store", "Writing judgments"


def judgments(
    files: list[str] | None = arg(
        "Files of judgments; RATER=FILE where a file does not say who judged.", "FILE…", default=None
    ),
    store: str | None = opt("Add the judgments to this store, and tell what it holds.", "F", STORE),
    export: str | None = opt(
        "Write all judgments: .csv, .tsv, .jsonl, .parquet or .qrels.", "OUT", EXPORT, writes=output_kinds.judged
    ),
    export_as: str | None = opt(
        "csv, tsv, jsonl, parquet, qrels or preferences. Default: what OUT ends in.", "FORMAT", EXPORT, name="--as"
    ),
    rater: str | None = opt("Write only what this rater said.", "NAME", EXPORT),
    click_model: list[str] | None = shared.CLICK_MODEL,
    format: str | None = shared.FORMAT,
    scale: str | None = shared.SCALE,
    models: str | None = shared.MODELS,
    column: list[str] | None = shared.COLUMN,
    report: str | None = REPORT_FILE,
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:
    """Tell what judgments are worth: coverage, agreement, who is strict or careless, what contradicts itself.

    Agreement is told by Krippendorff's α and Fleiss' κ, and by Cohen's κ for each pair of raters, with 95 % intervals.
    `rankwright judgments combine` makes one label of many grades; `rankwright judgments next` tells what to judge.

    A store is one SQLite file that several processes may write to at once. What was added is on the disk when the
    command ends; adding it again changes nothing.
    """
    from rankwright.judgments.judgment_summary import summarise_judgments

    require(export is not None or (rater is None and export_as is None), "--rater and --as go with --export")
    check_report_option(report, *(files or []))
    reading = shared.how_to_read(format, scale, models, column, threads)
    with progress():
        table = _table(files or [], store, reading, click_model)
        summary = summarise_judgments(table)
    if export is not None:
        _export(table, export, export_as, rater)
    print_json(summary.to_dict()) if as_json else print_tables([summary.shown()], False, err=False)
    if report is not None:
        from rankwright.report.pages.judgment_page import page_of_judgments

        named = {
            f"judgments {place}": path for place, path in enumerate([*(files or []), *([store] if store else [])], 1)
        }
        write_report(report, lambda: page_of_judgments(summary, origin(named)))


def _table(
    files: list[str], store: str | None, reading: dict[str, object], click_models: list[str] | None
) -> Judgments:
    """What was given, or where there is a store, all that it holds once that was added."""
    if store is None:
        return shared.read_given(files, reading, click_models, tells=False)
    from rankwright.judgments.judgment_store import JudgmentStore

    given = shared.read_given(files, reading, click_models) if files or click_models else None
    with JudgmentStore(store, create=given is not None) as opened:
        if given is not None:
            n_new = opened.add_table(given)
            tell(f"added {n_new:,} judgments to {store}; {len(given) - n_new:,} were there already")
        return opened.judgments()


def _export(table: Judgments, path: str, format: str | None, rater: str | None) -> None:
    from rankwright.judgments.files.judgment_files import write_judgments

    if rater is not None:
        table = table.take(table.raters == table.places_of_raters([rater])[0])
    write_judgments(table, path, format=format)
    tell_written(path)
