"""What was wrong with a collection while it was read: counted and named, or refused where the reader is strict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import fspath

from rankwright.errors import FileFormatError
from rankwright.escapes import escaped_line
from rankwright.formats.lines import LONGEST_QUOTE
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import is_standard


class CollectionFault:
    """What may be wrong, and what is done about it."""

    NO_RECORD = "lines that hold no JSON object (left out)"
    NO_ID = "documents without an id (left out)"
    DUPLICATE = "documents whose id came before (left out)"
    IN_INDEX = "documents whose id the index has (left out)"
    EMPTY = "documents without text (kept)"
    ENCODING = "texts that are not UTF-8 (read as Windows-1252)"
    HALF_CHARACTER = "texts with halves of characters (replaced)"
    BINARY = "files that hold no text (left out)"
    NO_NUMBER = "values that are no number (missing)"
    NO_DATE = "values that are no date (missing)"
    NO_TEXT = "values that are no text (left out)"
    LATE_FIELD = "documents with a field that the first documents do not have (the field is left out)"
    NO_END = "documents without an end (left out)"
    NO_QUERY = "queries without an id or a text (left out)"
    DUPLICATE_QUERY = "queries whose id came before (left out)"
    NO_GRADE = "judgments without a grade (left out)"
    DUPLICATE_GRADE = "judgments of a pair that was judged before (the mean counts)"
    UNKNOWN_QUERY = "judgments of unknown queries (left out)"
    UNKNOWN_DOCUMENT = "judgments of unknown documents (left out)"


@dataclass(slots=True, eq=False)
class CollectionProblems:
    """What was wrong so far; if `strict`, the first problem is raised as an error.

    Attributes
    ----------
    counts : dict from str to int
        How often each problem was met.
    first : dict from str to str
        Where each was met first, and with what.
    """

    strict: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def note(self, problem: str, path: FilePath, line: int | None = None, found: str = "", times: int = 1) -> None:
        """Count a problem of a file."""
        detail = f": {escaped_line(found[:LONGEST_QUOTE])}" if found else ""
        name = "standard input" if is_standard(path) else fspath(path)
        if self.strict:
            raise FileFormatError(name, f"{problem.partition(' (')[0]}{detail}", line)
        self.counts[problem] += times
        self.first.setdefault(problem, f"{name}{'' if line is None else f':{line}'}{detail}")

    def lines(self) -> list[str]:
        """A line for each kind of problem: how often it was met, and where first."""
        return [f"{problem}: {count:,}, first at {self.first[problem]}" for problem, count in self.counts.items()]

    def to_dict(self) -> dict[str, int]:
        """How often each problem was met, as `--json` tells it."""
        return dict(self.counts)

    def __iter__(self) -> Iterator[str]:
        return iter(self.lines())
