"""`rankwright convert`: files of one format into another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.cli import output_kinds
from rankwright.cli.options import AS_JSON, THREADS, arg, flag, given, opt, reads_data
from rankwright.cli.output import print_json, progress, tell
from rankwright.errors import require
from rankwright.tables.text import counted

if TYPE_CHECKING:
    from rankwright.formats.conversion import Conversion

EXAMPLES = (
    "Example: rankwright convert train.txt.gz train.parquet\n\n"
    "Example: rankwright convert big.txt.gz shards --shards 64\n\n"
    "Example: rankwright convert judged.csv judged.letor.gz --query search_id --label grade --drop url,title"
)


@reads_data()
def convert(
    reading: dict[str, Any],
    source: str = arg("The file to read; - is standard input.", "SRC"),
    target: str = arg("The file to write; - is standard output.", "DST", writes=output_kinds.converted),
    source_format: str | None = opt("The format of SRC.", "FORMAT", name="--from"),
    target_format: str | None = opt("The format of DST.", "FORMAT", name="--to"),
    whole: bool = flag("--whole", "Read all of SRC into memory, so that its rows may have any order."),
    shards: int | None = opt(
        "Write this many files into the folder DST, with about equally many documents in each.", "N"
    ),
    scores: str | None = opt("With --to run: one score per line, in the order of the documents of SRC."),
    tag: str | None = opt("With --to run: the name of the run."),
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:
    """Convert a data file into another format.

    The formats are svmlight (LETOR), csv, tsv and parquet. A file's ending shows its format, or else its beginning
    does; text may be compressed as .gz or .zst. DST may also be one of TREC's files: qrels (the labels) or run (with
    --scores).

    Only a few queries are in memory at a time, so the rows of a query must stand together; --whole accepts rows in
    any order. With --shards, DST is a folder of Parquet files (or svmlight, with --to), for `rankwright train
    --cluster` and `rankwright bag`.
    """
    from rankwright.formats.conversion import convert as convert_files

    told = "--json and the data cannot both go to standard output: name a file as DST"
    require(not (as_json and target == "-"), told)
    require("categories" not in reading, "convert writes numbers, and --categories would leave their codes alone")
    formats = {"source_format": source_format, "target_format": target_format}
    options = reading | given(tag=tag, threads=threads)
    with progress():
        conversion = convert_files(source, target, **formats, scores=scores, shards=shards, whole=whole, **options)
    if as_json:
        print_json(conversion.as_dict())
    else:
        tell(report(conversion))


def report(conversion: Conversion) -> str:
    """The line that shows a person what was converted."""
    sizes = (("query", conversion.queries), ("document", conversion.documents), ("feature", conversion.features))
    counts = ", ".join(counted(number, one) for one, number in sizes)
    size = "" if conversion.bytes is None else f", {counted(conversion.bytes, 'byte')}"
    return f"{conversion.source_format} to {conversion.target_format}: {counts}{size}"
