"""`rankwright drift`: what moved between a model's training data and documents of today."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.cli.options import AS_JSON, DATA_FORMAT, REPORT_FILE, THREADS, arg, reads_data
from rankwright.cli.output import print_json, print_table, print_text, progress
from rankwright.cli.reporting import check_report_option, origin, write_report

if TYPE_CHECKING:
    from rankwright.catalog.drift import DriftReport

EXAMPLES = (
    "Example: rankwright drift model.rw today.txt\n\n"
    "Example: rankwright drift model.rw journal/documents.parquet --json\n\n"
    "Example: rankwright drift model.rw today.txt --report drift.html"
)
SHOWN = 10  # features in the table


@reads_data()
def drift(
    reading: dict[str, Any],
    model: str = arg("A model file whose training left a profile.", "MODEL"),
    data: str = arg("The documents that it scores now; they need no labels.", "DATA"),
    format: str | None = DATA_FORMAT,
    report: str | None = REPORT_FILE,
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:
    """Tell what moved since a model was trained: features, scores, and whether its ranking should be distrusted.

    A feature counts as moved where its population stability index is above 0.1, and chance would hardly do so: in 5 %
    of such samples for all features and scores together. Documents of one query are alike, and count as fewer. The
    ranking should be distrusted where scores moved, or features that carry a tenth of the model's importance.
    """
    from rankwright.catalog.drift import drift_of, required_profile
    from rankwright.catalog.rankers import load
    from rankwright.formats.reading import DataFile

    check_report_option(report, model, data)
    ranker = load(model)
    trained = ranker.trained()
    required_profile(trained)
    with progress():
        documents = trained.features.file(DataFile(data, format=format, **reading)).read()
        found = drift_of(trained, documents, threads=threads)
    if as_json:
        print_json({"model": model} | found.to_dict())
    else:
        _show(found)
    if report is not None:
        from rankwright.report.pages.drift_page import page_of_drift

        name, about = Path(model).name, origin({"data": data}, {Path(model).name: model})
        write_report(report, lambda: page_of_drift(found, name, ranker, documents, about))


def _show(found: DriftReport) -> None:
    for line in found.lines():
        print_text(line)
    rows = [
        [one.name, f"{one.index:.3f}", f"{one.chance:.1%}", f"{one.missing[0]:.1%}", f"{one.missing[1]:.1%}"]
        for one in found.features[:SHOWN]
    ]
    columns = ["feature", "PSI", "chance", "missing then", "missing now"]
    print_table(columns, rows, numbers=columns[1:])
