"""`rankwright convert`: files of one format into another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright.cli.options import AsJson, Threads
from rankwright.cli.output import print_json, tell
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.formats.conversion import Conversion

EXAMPLE = (
    "Example: rankwright convert train.txt.gz train.parquet\n\n"
    "Example: rankwright convert judged.csv judged.letor.gz --query search_id --label grade --drop url,title\n\n"
    "Formats are svmlight (LETOR), csv, tsv and parquet, shown by the file's ending or its beginning; text may be .gz "
    "or .zst. As targets also TREC's qrels (the labels) and run (with --scores). Memory holds a few queries at a time, "
    "so that a query's rows must stand together; --whole is for rows in any order."
)

DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";"}
COLUMNS, SVMLIGHT = "Columns of CSV, TSV and Parquet", "SVMlight text"


def column(part: str) -> Any:
    """An option that names the column of one part."""
    return typer.Option(help=f"The column with {part}.", metavar="NAME", rich_help_panel=COLUMNS)


def convert(
    source: Annotated[str, typer.Argument(metavar="SRC", help="The file to read; - is standard input.")],
    target: Annotated[str, typer.Argument(metavar="DST", help="The file to write; - is standard output.")],
    source_format: Annotated[str | None, typer.Option("--from", help="The format of SRC.", metavar="FORMAT")] = None,
    target_format: Annotated[str | None, typer.Option("--to", help="The format of DST.", metavar="FORMAT")] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Read all of SRC into memory: its rows have any order.")
    ] = False,
    scores: Annotated[
        str | None, typer.Option(help="With --to run: one number a line, in the order of SRC's documents.")
    ] = None,
    tag: Annotated[str | None, typer.Option(help="With --to run: the name of the run.")] = None,
    query: Annotated[str | None, column("the query id")] = None,
    label: Annotated[str | None, column("the label")] = None,
    document: Annotated[str | None, column("the document id")] = None,
    query_weight: Annotated[str | None, column("the query's weight")] = None,
    document_weight: Annotated[str | None, column("the document's weight")] = None,
    position: Annotated[str | None, column("the rank, from 0, at which the document was shown")] = None,
    features: Annotated[
        str | None,
        typer.Option(help="The features, parted by commas; other columns are left out.", rich_help_panel=COLUMNS),
    ] = None,
    drop: Annotated[
        str | None, typer.Option(help="Columns to leave out, parted by commas.", rich_help_panel=COLUMNS)
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(help="What parts the cells of SRC: comma, tab or semicolon.", rich_help_panel=COLUMNS),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option(help="The columns of a CSV or TSV without a header, parted by commas.", rich_help_panel=COLUMNS),
    ] = None,
    description: Annotated[
        str | None, typer.Option(help="CatBoost's .cd file, for CSV and TSV without a header.", rich_help_panel=COLUMNS)
    ] = None,
    absent: Annotated[
        str | None,
        typer.Option(
            help="What a feature is that a line does not name: zero or missing. A written line leaves it out.",
            rich_help_panel=SVMLIGHT,
        ),
    ] = None,
    n_features: Annotated[
        int | None, typer.Option(help="How many features there are.", rich_help_panel=SVMLIGHT)
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(help="The file of documents a query, where lines have no qid.", rich_help_panel=SVMLIGHT),
    ] = None,
    index_base: Annotated[
        int | None,
        typer.Option(help="The number of the first feature, 1 (the default) or 0.", rich_help_panel=SVMLIGHT),
    ] = None,
    allow_infinity: Annotated[bool, typer.Option("--allow-infinity", help="Let infinite features in.")] = False,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Turn a data file into one of another format."""
    from rankwright.data.columns import Columns
    from rankwright.formats.conversion import convert as convert_files

    require(
        not (as_json and target == "-"), "--json and the data cannot both go to standard output: name a file as DST"
    )
    columns = Columns(query, label, document, query_weight, document_weight, position)
    options = {
        "columns": None if columns == Columns() else columns,
        "features": None if features is None else features.split(","),
        "drop": None if drop is None else drop.split(","),
        "delimiter": None if delimiter is None else DELIMITERS.get(delimiter, delimiter),
        "names": None if names is None else names.split(","),
        "description": description,
        "absent": absent,
        "n_features": n_features,
        "group": group,
        "index_base": index_base,
        "allow_infinity": allow_infinity or None,
        "tag": tag,
        "threads": threads,
    }
    conversion = convert_files(
        source,
        target,
        source_format=source_format,
        target_format=target_format,
        scores=scores,
        whole=whole,
        **{name: value for name, value in options.items() if value is not None},
    )
    if as_json:
        print_json(conversion.as_dict())
    else:
        tell(report(conversion))


def report(conversion: Conversion) -> str:
    """The line that tells a person what was converted."""
    counts = f"{conversion.queries:,} queries, {conversion.documents:,} documents, {conversion.features:,} features"
    size = "" if conversion.bytes is None else f", {conversion.bytes:,} bytes"
    return f"{conversion.source_format} to {conversion.target_format}: {counts}{size}"
