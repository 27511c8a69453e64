"""`rankwright score`: a model's scores of the documents in a file, or the best documents of each query."""

from __future__ import annotations

from typing import Any

from rankwright.cli import output_kinds
from rankwright.cli.options import AS_JSON, DATA_FORMAT, THREADS, arg, flag, opt, reads_data
from rankwright.cli.output import print_json, progress, tell
from rankwright.errors import SettingError, require
from rankwright.tables.text import counted

EXAMPLES = (
    "Example: rankwright score model.rw test.txt --out scores.txt\n\n"
    "Example: rankwright score model.rw test.txt --top 10 --out ranked.csv"
)


@reads_data()
def score(
    reading: dict[str, Any],
    model: str = arg("The model file.", "MODEL"),
    data: str = arg("The documents to score; - is standard input.", "DATA"),
    out: str = opt("The file to write; - is standard output.", "F", default="-", writes=output_kinds.scored),
    top: int | None = opt("Write the best K documents of each query, best first.", "K", min=1),
    style: str | None = opt(
        "How to write: scores, csv, tsv, parquet, jsonl or trec. Default: what the ending of --out shows; .txt and "
        "standard output get scores, one per line, or csv with --top.",
        "STYLE",
        name="--to",
    ),
    format: str | None = DATA_FORMAT,
    whole: bool = flag("--whole", "Read all of DATA at once, so that its rows may have any order."),
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:
    """Score documents with a model: one line per document, in the order of the input.

    With --top, or as csv, tsv or parquet, the documents of each query are written best first, with query, document,
    rank (from 1) and score.
    """
    from rankwright.catalog.rankers import load_trained
    from rankwright.catalog.scoring import score_file, style_of
    from rankwright.container.file import is_container

    require(not (as_json and out == "-"), "--json and the scores cannot both go to standard output: give --out")
    if data != "-" and is_container(data) and not is_container(model):
        raise SettingError(f"{data} is a model file, and the model comes first: rankwright score {data} {model}")
    ranker = load_trained(model)
    chosen = style_of(out, style, top)
    how: dict[str, Any] = {"style": chosen, "top": top, "format": format, "whole": whole, "threads": threads}
    with progress():
        n_docs = score_file(ranker, data, out, options=reading, **how)
    if out != "-":
        best = "" if top is None else f"the best {top} of each query among "
        tell(f"wrote {out}: {best}{counted(n_docs, 'document')}, as {chosen}")
    if as_json:
        print_json({"model": model, "documents": n_docs, "out": out})
