"""What `--report` does in every command: it is checked first, made last, and named at the end."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.cli.output import progress, tell_written
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.catalog.training import TrainedOnFiles, TrainingFiles
    from rankwright.report.measured import Origin
    from rankwright.report.page.document import Page

STANDARD_INPUT = "-"


def check_report_option(report: str | None, *inputs: str | None) -> None:
    """Raise, before any work, where the report cannot be written, or would read standard input a second time."""
    if report is None:
        return
    from rankwright.report.writing import check_report

    check_report(report)
    require(STANDARD_INPUT not in inputs, "--report names the files it is about: give a file, not standard input")


def check_texts(
    report: str | None, path: str | None, format: str | None, reading: Mapping[str, Any], *names: str | None
) -> dict[str, Any]:
    """The options to read the file with, without the columns of `--title` and `--text`, which go with a report."""
    if not any(names):
        return dict(reading)
    require(report is not None, "--title and --text go with --report, which shows them; --drop leaves columns out")
    require(path is not None, "--title and --text name columns of the documents that are measured: give their file")
    from rankwright.report.shown_texts import without_texts

    return without_texts(str(path), format, reading, *names)


def origin(files: Mapping[str, str | None], models: Mapping[str, str] | None = None, seed: int | None = None) -> Origin:
    """Where the results come from, and the command that was given."""
    from rankwright.report.measured import Origin

    name = Path(sys.argv[0]).name
    command = shlex.join(["rankwright", *sys.argv[1:]]) if name == "rankwright" else None
    known = {role: path for role, path in files.items() if path is not None}
    return Origin(command, known, dict(models or {}), seed)


def write_report(report: str, page: Callable[[], Page]) -> None:
    """Make the page and write it; the files are named on stderr."""
    from rankwright.report.writing import write_page

    with progress():
        made = page()
    tell_written(*write_page(made, report))


def training_page(
    trained: TrainedOnFiles, files: TrainingFiles, out: str, title: str | None = None, text: str | None = None
) -> Page:
    """The page on a ranker that was trained: measured on the test documents, or on those that chose its best step."""
    from rankwright.catalog.scoring import read_for
    from rankwright.report.measured import measured_ranker
    from rankwright.report.pages.result_pages import page_of_measured, page_of_ranker
    from rankwright.report.shown_texts import read_shown_texts

    ranker = trained.ranker
    part, path = ("test", files.test) if files.test is not None else ("validation", files.valid)
    roles = {"training documents": files.train, "validation documents": files.valid, "test documents": files.test}
    about = origin(roles, {ranker.name: out})
    if path is None:
        return page_of_ranker(ranker.name, ranker, about)
    options: dict[str, Any] = {"format": files.format, **files.options}
    if part == "validation" and files.valid_initial_scores is not None:
        options["initial_scores"] = files.valid_initial_scores
    documents = read_for(ranker.trained(), path, **options)
    texts = read_shown_texts(str(path), files.format, files.options, title=title, text=text)
    measured = measured_ranker(ranker, documents, texts)
    headed = f"{ranker.name}, trained on {Path(files.train).name}"
    chosen = " that chose its best step, so that it looks better than it is" if part == "validation" else ""
    on = f" of {Path(path).name}{chosen}"
    return page_of_measured(measured, origin({**roles, "data": path}, {ranker.name: out}), title=headed, on=on)
