"""`rankwright score`: a model's scores of the documents in a file."""

from __future__ import annotations

from typing import Annotated

import typer

from rankwright.cli.options import AsJson, Threads
from rankwright.cli.output import print_json
from rankwright.errors import require

EXAMPLES = "Example: rankwright score model.rw test.txt --out scores.txt"


def score(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model file.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help="The documents to score; - is standard input.")],
    out: Annotated[str, typer.Option(metavar="F", help="The file to write; - is standard output.")] = "-",
    style: Annotated[str, typer.Option("--format", help="How to write the scores: scores, trec or jsonl.")] = "scores",
    source_format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="The format of DATA.")] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Read all of DATA at once, so that its rows may have any order.")
    ] = False,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Score documents with a model: one line per document, in the order of the input."""
    from rankwright.catalog.kinds import load_trained
    from rankwright.catalog.scoring import score_file

    require(not (as_json and out == "-"), "--json and the scores cannot both go to standard output: give --out")
    ranker = load_trained(model)
    n_docs = score_file(ranker, data, out, style=style, format=source_format, whole=whole, threads=threads)
    if as_json:
        print_json({"model": model, "documents": n_docs, "out": out})
