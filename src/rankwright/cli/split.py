"""`rankwright split`: one file into files to train, validate and test on, or into folds."""

from __future__ import annotations

from typing import Any

from rankwright.cli import output_kinds
from rankwright.cli.options import AS_JSON, DATA_FORMAT, THREADS, arg, given, opt, reads_data
from rankwright.cli.output import print_json, print_table, progress

EXAMPLES = (
    "Example: rankwright split judged.csv --out parts\n\n"
    "Example: rankwright split judged.txt.gz --test 0.25 --seed 1 --out parts\n\n"
    "Example: rankwright split judged.parquet --folds 5 --out folds"
)


@reads_data()
def split(
    reading: dict[str, Any],
    data: str = arg("The documents to split; - is standard input.", "DATA"),
    out: str = opt("The folder to write to.", "DIR", default=..., writes=output_kinds.split_parts),
    valid: float | None = opt("The share of the queries to validate on, such as 0.2.", "SHARE"),
    test: float | None = opt("The share of the queries to test on. Without --valid and --test, both are 0.2.", "SHARE"),
    folds: int | None = opt("Write this many folds instead: Fold1, Fold2, …, each with train, vali and test.", "N"),
    seed: int = opt("The same seed gives the same parts.", default=0),
    format: str | None = DATA_FORMAT,
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:
    """Split a file into parts by query: train, valid and test, or folds for `rankwright cv`, `tune` and `benchmark`.

    No query is cut. Rows are copied as they are, with all their columns, in the format of DATA. Queries are drawn by
    their ids and the seed: the order of the rows has no effect. Files that exist are replaced with --force alone.
    """
    from rankwright.formats.splitting import split_file

    options = reading | given(threads=threads)
    with progress():
        found = split_file(data, out, valid=valid, test=test, folds=folds, seed=seed, format=format, **options)
    if as_json:
        print_json(found.to_dict())
    else:
        rows = [[part.path, f"{part.queries:,}", f"{part.documents:,}"] for part in found.parts]
        print_table(["file", "queries", "documents"], rows, numbers=["queries", "documents"])
