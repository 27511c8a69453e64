"""What an experiment found, and how it is shown: figures beside the paper's, statements that hold or not, a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rankwright.tables.text import ShownTable, ShownTables, counted

# Of a statement without anything drawn by chance, such as an equation.
OUR_FAULT = "nothing here depends on data or chance: it would be a fault of this library"
HOW_TO_READ = "ours ± half of the 95 % interval (the paper's)"
REPRODUCED, MOSTLY, PARTLY = "reproduced", "mostly reproduced", "reproduced in part"
NOT, UNDECIDED = "not reproduced", "undecided"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of ours with the ends of its 95 % interval, and the paper's; None for what is not known."""

    ours: float | None = None
    paper: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def holds_paper(self) -> bool | None:
        """Whether the paper's number lies in our interval; None where one of them is missing."""
        if self.paper is None or self.low is None or self.high is None:
            return None
        return self.low <= self.paper <= self.high

    def cell(self, digits: int) -> str:
        """Ours, half the width of its interval, and the paper's number in brackets."""
        ours = "-" if self.ours is None else _number(self.ours, digits)
        if self.low is not None and self.high is not None:
            ours += f" ±{(self.high - self.low) / 2:.{digits}f}"
        return ours if self.paper is None else f"{ours} ({_number(self.paper, digits)})"

    def to_dict(self) -> dict[str, float | None]:
        """The figure in types JSON can hold."""
        values = asdict(self).items()
        return {name: None if value is None or math.isnan(value) else float(value) for name, value in values}


def _number(value: float, digits: int) -> str:
    """The number with so many digits; whole numbers above 1 are counts and have none."""
    if float(value).is_integer() and abs(value) > 1:
        return f"{value:,.0f}"
    return f"{round(value, digits) + 0.0:,.{digits}f}"  # no -0.00


@dataclass(frozen=True, slots=True)
class PaperTable:
    """Figures by row and column.

    `comparable` says that the paper's figures were computed on the same data, so that ours should be close to them.
    """

    title: str
    rows: Mapping[str, Mapping[str, Figure]]
    digits: int = 4
    comparable: bool = False

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in the order in which rows name them."""
        return list(dict.fromkeys(column for row in self.rows.values() for column in row))

    def cells(self) -> Iterator[list[str]]:
        """The rows as texts, the name of the row first."""
        for name, row in self.rows.items():
            yield [name, *(row[column].cell(self.digits) if column in row else "" for column in self.columns)]

    def figures(self) -> list[Figure]:
        """All figures."""
        return [figure for row in self.rows.values() for figure in row.values()]

    def to_dict(self) -> dict[str, Any]:
        """The table in types JSON can hold."""
        rows = {name: {column: figure.to_dict() for column, figure in row.items()} for name, row in self.rows.items()}
        return {"title": self.title, "digits": self.digits, "comparable": self.comparable, "rows": rows}

    @classmethod
    def of_dict(cls, told: Mapping[str, Any]) -> PaperTable:
        """The table that `to_dict` told."""
        rows = {
            name: {column: Figure(**figure) for column, figure in row.items()} for name, row in told["rows"].items()
        }
        return cls(told["title"], rows, told["digits"], told["comparable"])


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of a paper in our words, whether it holds here, by which numbers, and if it does not, why.

    `holds` is None where the numbers are too few or too noisy to tell.
    """

    text: str
    holds: bool | None
    found: str
    why: str = OUR_FAULT

    @property
    def answer(self) -> str:
        """Yes, no, or that it cannot be told."""
        return "undecided" if self.holds is None else "holds" if self.holds else "does not hold"

    def to_dict(self) -> dict[str, Any]:
        """The statement in types JSON can hold."""
        holds = None if self.holds is None else bool(self.holds)
        why = "" if self.holds else self.why
        return {"text": self.text, "holds": holds, "answer": self.answer, "found": self.found, "why": why}


@dataclass(frozen=True, slots=True)
class Findings:
    """The tables and statements of an experiment, and notes on what they were computed with."""

    tables: Sequence[PaperTable]
    claims: Sequence[Claim]
    notes: Sequence[str] = ()

    @property
    def verdict(self) -> str:
        """The verdict in a word or two."""
        answers = [claim.holds for claim in self.claims]
        right, wrong = answers.count(True), answers.count(False)
        if 2 * (right + wrong) < len(answers) or right + wrong == 0:
            return UNDECIDED
        if wrong >= right:
            return NOT if wrong > right else PARTLY
        return REPRODUCED if right == len(answers) else MOSTLY

    @property
    def sentence(self) -> str:
        """How many statements hold, and where data is the paper's, how many figures agree."""
        answers = [claim.answer for claim in self.claims]
        wrong, open_ = answers.count("does not hold"), answers.count("undecided")
        words = f"{answers.count('holds')} of {len(answers)} statements hold"
        words += f", {wrong} {'does' if wrong == 1 else 'do'} not" if wrong else ""
        words += f", {open_} {'is' if open_ == 1 else 'are'} undecided" if open_ else ""
        near = [figure.holds_paper for table in self.tables if table.comparable for figure in table.figures()]
        known = [one for one in near if one is not None]
        if known:
            words += f"; {sum(known)} of {len(known)} figures of the paper lie in our 95 % intervals"
        return words

    def to_dict(self) -> dict[str, Any]:
        """The outcome in types JSON can hold."""
        return {
            "verdict": self.verdict,
            "sentence": self.sentence,
            "claims": [claim.to_dict() for claim in self.claims],
            "tables": [table.to_dict() for table in self.tables],
            "notes": list(self.notes),
        }


def shown_tables(document: Mapping[str, Any]) -> list[ShownTable]:
    """The tables of the document, and one of its statements."""
    found = []
    for table in map(PaperTable.of_dict, document["tables"]):
        columns = table.columns
        found.append(ShownTable(f"{table.title}: {HOW_TO_READ}", ["", *columns], list(table.cells()), columns))
    claims = document["claims"]
    if claims:
        rows = [[claim["text"], claim["answer"], claim["found"]] for claim in claims]
        reasons = [f"Why not: {claim['text']}: {claim['why']}." for claim in claims if claim.get("why")]
        title, columns = "What the paper says, and what we found", ["statement", "here", "evidence"]
        found.append(ShownTable(title, columns, rows, (), reasons))
    return found


def shown(document: Mapping[str, Any]) -> ShownTables:
    """An experiment: its tables, its notes and its verdict."""
    tables = shown_tables(document)
    verdict = f"Verdict: {document['verdict']}. {document['sentence']}."
    took = (
        f"{counted(document['parts'], 'part')} took {document['seconds']:.1f} s, "
        f"{document['processor_seconds']:.1f} s of processors. Command: {document['command']}"
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
