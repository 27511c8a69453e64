"""What people see of an experiment: its tables, statements and verdict as text or Markdown, from its JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankwright.reproduce.outcome import PaperTable
from rankwright.tables.text import ShownTable, ShownTables

HOW_TO_READ = "ours ± half of the 95 % interval (the paper's)"


def shown_tables(document: Mapping[str, Any]) -> list[ShownTable]:
    """The tables of the document, and one of its statements."""
    return [*_tables(document), *_claims(document)]


def _tables(document: Mapping[str, Any]) -> Iterator[ShownTable]:
    for told in document["tables"]:
        table = PaperTable.of_dict(told)
        columns = table.columns
        yield ShownTable(f"{table.title}: {HOW_TO_READ}", ["", *columns], list(table.cells()), columns)


def _claims(document: Mapping[str, Any]) -> Iterator[ShownTable]:
    if document["claims"]:
        rows = [[claim["text"], claim["answer"], claim["found"]] for claim in document["claims"]]
        reasons = [f"Why not: {claim['text']}: {claim['why']}." for claim in document["claims"] if claim.get("why")]
        yield ShownTable("What the paper says, and what we found", ["statement", "here", "evidence"], rows, (), reasons)


def shown(document: Mapping[str, Any]) -> ShownTables:
    """An experiment: its tables, its notes and its verdict."""
    tables = shown_tables(document)
    verdict = f"Verdict: {document['verdict']}. {document['sentence']}."
    took = (
        f"{document['parts']} parts took {document['seconds']:.1f} s, {document['processor_seconds']:.1f} s of "
        f"processors. Command: {document['command']}"
    )
    return ShownTables(tables, [*document["notes"], verdict, took])


def verdict_table(documents: Sequence[Mapping[str, Any]]) -> ShownTable:
    """A row for each experiment: the verdict, and what it rests on."""
    rows = [
        [one["experiment"], one["verdict"], one["sentence"], f"{one['processor_seconds']:.1f}"] for one in documents
    ]
    # Experiments that take the same parts tell the same seconds, which were spent once.
    spent = {(*one["parts_of"], *(source["name"] for source in one["data"])): one for one in documents}
    total = sum(one["processor_seconds"] for one in spent.values())
    columns = ["experiment", "verdict", "because", "seconds"]
    note = f"seconds are processor seconds, {total:.0f} in all; parts that experiments share are counted once"
    return ShownTable("Verdicts", columns, rows, ["seconds"], [note])
