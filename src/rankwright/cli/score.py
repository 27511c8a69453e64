"""`rankwright score`: a model's scores of the documents in a file."""

from __future__ import annotations

from typing import Annotated

from rankwright.cli.options import AsJson, Threads, arg, opt
from rankwright.cli.output import print_json
from rankwright.cli.voice import working
from rankwright.errors import require

EXAMPLES = "Example: rankwright score model.rw test.txt --out scores.txt"


def score(
    model: Annotated[str, arg("The model file.", "MODEL")],
    data: Annotated[str, arg("The documents to score; - is standard input.", "DATA")],
    out: Annotated[str, opt("The file to write; - is standard output.", "F")] = "-",
    style: Annotated[str, opt("How to write the scores: scores, trec or jsonl.", name="--format")] = "scores",
    source_format: Annotated[str | None, opt("The format of DATA.", "FORMAT", name="--from")] = None,
    whole: Annotated[
        bool, opt("Read all of DATA at once, so that its rows may have any order.", name="--whole")
    ] = False,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Score documents with a model: one line per document, in the order of the input."""
    from rankwright.catalog.rankers import load_trained
    from rankwright.catalog.scoring import score_file

    require(not (as_json and out == "-"), "--json and the scores cannot both go to standard output: give --out")
    ranker = load_trained(model)
    with working():
        n_docs = score_file(ranker, data, out, style=style, format=source_format, whole=whole, threads=threads)
    if as_json:
        print_json({"model": model, "documents": n_docs, "out": out})
