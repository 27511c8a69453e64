"""`rankwright drift`: what moved between a model's training data and documents of today."""

from __future__ import annotations

from typing import Any

from rankwright.cli.options import AS_JSON, DATA_FORMAT, THREADS, arg, reads_data
from rankwright.cli.output import print_json, print_table, print_text, progress

EXAMPLES = (
    "Example: rankwright drift model.rw today.txt\n\n"
    "Example: rankwright drift model.rw journal/documents.parquet --json"
)
SHOWN = 10  # features in the table


@reads_data()
def drift(
    reading: dict[str, Any],
    model: str = arg("A model file whose training left a profile.", "MODEL"),
    data: str = arg("The documents that it scores now; they need no labels.", "DATA"),
    format: str | None = DATA_FORMAT,
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:
    """Tell what moved since a model was trained: features, scores, and whether its ranking should be distrusted.

    A feature counts as moved where its population stability index is above 0.1 and above what chance gives for so many
    documents and features; documents of one query, which are alike, count as fewer. The ranking should be distrusted
    where scores moved, or features that carry a tenth of the model's importance.
    """
    from rankwright.catalog.drift import drift_of, required_profile
    from rankwright.catalog.rankers import load_trained
    from rankwright.formats.reading import DataFile

    trained = load_trained(model)
    required_profile(trained)
    with progress():
        documents = trained.features.file(DataFile(data, format=format, **reading)).read()
        report = drift_of(trained, documents, threads=threads)
    if as_json:
        print_json({"model": model} | report.to_dict())
        return
    for line in report.lines():
        print_text(line)
    rows = [
        [one.name, f"{one.index:.3f}", f"{one.alarm_above:.3f}", f"{one.missing[0]:.1%}", f"{one.missing[1]:.1%}"]
        for one in report.features[:SHOWN]
    ]
    columns = ["feature", "PSI", "alarm above", "missing then", "missing now"]
    print_table(columns, rows, numbers=columns[1:])
