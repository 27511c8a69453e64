"""`rankwright convert`: files of one format into another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from rankwright.cli.data_options import reads_data
from rankwright.cli.options import AsJson, Threads, arg, opt
from rankwright.cli.talk.output import print_json
from rankwright.cli.talk.voice import tell, working
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.formats.conversion import Conversion

EXAMPLES = (
    "Example: rankwright convert train.txt.gz train.parquet\n\n"
    "Example: rankwright convert big.txt.gz shards --shards 64\n\n"
    "Example: rankwright convert judged.csv judged.letor.gz --query search_id --label grade --drop url,title"
)


@reads_data()
def convert(
    source: Annotated[str, arg("The file to read; - is standard input.", "SRC")],
    target: Annotated[str, arg("The file to write; - is standard output.", "DST")],
    source_format: Annotated[str | None, opt("The format of SRC.", "FORMAT", name="--from")] = None,
    target_format: Annotated[str | None, opt("The format of DST.", "FORMAT", name="--to")] = None,
    whole: Annotated[
        bool, opt("Read all of SRC into memory, so that its rows may have any order.", name="--whole")
    ] = False,
    shards: Annotated[
        int | None, opt("Write this many files into the folder DST, with about equally many documents in each.", "N")
    ] = None,
    scores: Annotated[
        str | None, opt("With --to run: one score per line, in the order of the documents of SRC.")
    ] = None,
    tag: Annotated[str | None, opt("With --to run: the name of the run.")] = None,
    threads: Threads = None,
    as_json: AsJson = False,
    *,
    reading: dict[str, Any],
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

    require(
        not (as_json and target == "-"), "--json and the data cannot both go to standard output: name a file as DST"
    )
    require("categories" not in reading, "convert writes numbers, and --categories would leave their codes alone")
    options = reading | {name: value for name, value in (("tag", tag), ("threads", threads)) if value is not None}
    with working():
        conversion = convert_files(
            source,
            target,
            source_format=source_format,
            target_format=target_format,
            scores=scores,
            shards=shards,
            whole=whole,
            **options,
        )
    if as_json:
        print_json(conversion.as_dict())
    else:
        tell(report(conversion))


def report(conversion: Conversion) -> str:
    """The line that shows a person what was converted."""
    counts = f"{conversion.queries:,} queries, {conversion.documents:,} documents, {conversion.features:,} features"
    size = "" if conversion.bytes is None else f", {conversion.bytes:,} bytes"
    return f"{conversion.source_format} to {conversion.target_format}: {counts}{size}"
