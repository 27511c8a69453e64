"""`rankwright convert`: files of one format into another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from rankwright.cli.options import AsJson, Threads, arg, opt
from rankwright.cli.output import print_json
from rankwright.cli.voice import tell, working
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.formats.conversion import Conversion

EXAMPLES = (
    "Example: rankwright convert train.txt.gz train.parquet\n\n"
    "Example: rankwright convert judged.csv judged.letor.gz --query search_id --label grade --drop url,title"
)

DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";"}
COLUMNS, SVMLIGHT = "Columns of CSV, TSV and Parquet", "SVMlight text"


def column(part: str) -> Any:
    """An option that names the column of one part."""
    return opt(f"The column with {part}.", "NAME", COLUMNS)


def convert(
    source: Annotated[str, arg("The file to read; - is standard input.", "SRC")],
    target: Annotated[str, arg("The file to write; - is standard output.", "DST")],
    source_format: Annotated[str | None, opt("The format of SRC.", "FORMAT", name="--from")] = None,
    target_format: Annotated[str | None, opt("The format of DST.", "FORMAT", name="--to")] = None,
    whole: Annotated[
        bool, opt("Read all of SRC into memory, so that its rows may have any order.", name="--whole")
    ] = False,
    scores: Annotated[
        str | None, opt("With --to run: one score per line, in the order of the documents of SRC.")
    ] = None,
    tag: Annotated[str | None, opt("With --to run: the name of the run.")] = None,
    query: Annotated[str | None, column("the query id")] = None,
    label: Annotated[str | None, column("the label")] = None,
    document: Annotated[str | None, column("the document id")] = None,
    query_weight: Annotated[str | None, column("the query's weight")] = None,
    document_weight: Annotated[str | None, column("the document's weight")] = None,
    position: Annotated[str | None, column("the rank, from 0, at which the document was shown")] = None,
    features: Annotated[
        str | None, opt("The features, separated by commas; other columns are left out.", panel=COLUMNS)
    ] = None,
    drop: Annotated[str | None, opt("The columns to leave out, separated by commas.", panel=COLUMNS)] = None,
    delimiter: Annotated[
        str | None, opt("What separates the cells of SRC: comma, tab or semicolon.", panel=COLUMNS)
    ] = None,
    names: Annotated[
        str | None, opt("The columns of a CSV or TSV without a header, separated by commas.", panel=COLUMNS)
    ] = None,
    description: Annotated[
        str | None, opt("A .cd file of CatBoost, for CSV and TSV without a header.", panel=COLUMNS)
    ] = None,
    absent: Annotated[
        str | None,
        opt(
            "What a feature is where a line does not name it: zero or missing. Lines are written without it.",
            panel=SVMLIGHT,
        ),
    ] = None,
    n_features: Annotated[int | None, opt("How many features there are.", panel=SVMLIGHT)] = None,
    group: Annotated[
        str | None, opt("A file with the number of documents of each query, where lines have no qid.", panel=SVMLIGHT)
    ] = None,
    index_base: Annotated[
        int | None, opt("The number of the first feature, 1 (the default) or 0.", panel=SVMLIGHT)
    ] = None,
    allow_infinity: Annotated[bool, opt("Accept infinite features.", name="--allow-infinity")] = False,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Convert a data file into another format.

    The formats are svmlight (LETOR), csv, tsv and parquet. A file's ending shows its format, or else its beginning
    does; text may be compressed as .gz or .zst. DST may also be one of TREC's files: qrels (the labels) or run (with
    --scores).

    Only a few queries are in memory at a time, so the rows of a query must stand together; --whole accepts rows in
    any order.
    """
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
    with working():
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
    """The line that shows a person what was converted."""
    counts = f"{conversion.queries:,} queries, {conversion.documents:,} documents, {conversion.features:,} features"
    size = "" if conversion.bytes is None else f", {conversion.bytes:,} bytes"
    return f"{conversion.source_format} to {conversion.target_format}: {counts}{size}"
