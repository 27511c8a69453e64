"""Logs as text: JSON lines, CSV with a line for each list or for each shown document, and Yandex's blocks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from io import TextIOWrapper
from itertools import chain
from typing import Any, TypeAlias, cast

import numpy as np

from rankwright.clicks.logs.log_blocks import LOWEST_FIRST, MOST_PROPENSITY, LogBlock, LogFault, Naming, Problems
from rankwright.errors import FileFormatError
from rankwright.formats.lines import bounded_lines, csv_rows
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import input_name, open_input

LISTS_AT_A_TIME = 1 << 16
DOCUMENTS_AT_A_TIME = 1 << 20  # fewer lists make a block where lists are long
LONGEST_EVENT = 4 << 20  # bytes: as Python's values, an event takes up to thirty times as much
LONGEST_LIST = 1_000_000  # documents
SHORT = 60  # characters of a faulty line that are shown
MOST_DETAIL = 100  # characters of an event that are shown
LONG_COLUMNS = ("query", "document", "position", "click")
LIST_COLUMNS = ("query", "shown", "clicks")

# Where events end in a file: the line, and the event, or in words what is wrong with it.
Events: TypeAlias = Iterator[tuple[int, dict[str, Any] | str]]
Rows: TypeAlias = Iterator[tuple[int, list[str]]]  # of a CSV file: the line, and the cells


def text_blocks(path: FilePath, format: str, naming: Naming, problems: Problems) -> Iterator[LogBlock]:
    """The lists of a file, block by block."""
    gathered = Gathered(naming, problems)
    with closing(cast(Any, TEXT_FORMATS[format](path))) as events:
        for line, event in events:
            if isinstance(event, str):
                problems.note(LogFault.BROKEN, line, event)
            else:
                gathered.add(event, line)
            if len(gathered.lists) >= LISTS_AT_A_TIME or gathered.n_documents >= DOCUMENTS_AT_A_TIME:
                yield gathered.block()
    if gathered.lists:
        yield gathered.block()


@dataclass(slots=True, eq=False)
class Gathered:
    """Lists gathered one by one until they make a block.

    Of each list: the query, the documents, which of them were clicked, the first rank, propensities, and the policy.
    """

    naming: Naming
    problems: Problems
    lists: list[tuple[str, list[str], list[bool], int, list[float], str]] = field(default_factory=list)
    n_documents: int = 0

    def add(self, event: Mapping[str, Any], line: int) -> None:
        """Take an event with `query`, `shown` and `clicks` (positions from 1); it is left out if something is wrong."""
        query, shown, clicks = event.get("query"), event.get("shown"), event.get("clicks")
        if query is None or query == "":
            self.problems.note(LogFault.NO_QUERY, line, f"its fields are {', '.join(map(repr, event))}"[:MOST_DETAIL])
            return
        if not isinstance(shown, list | tuple) or (clicks is not None and not isinstance(clicks, list | tuple)):
            self.problems.note(LogFault.BROKEN, line, "shown and clicks must be lists")
            return
        if not shown:
            self.problems.note(LogFault.EMPTY, line)
            return
        extras = self._extras(event, len(shown), line)
        if extras is None:
            return
        texts = list(map(str, shown))
        if not _is_unicode(str(query), *texts):
            self.problems.note(LogFault.BROKEN, line, "an id is no text in Unicode")
            return
        if len(set(texts)) < len(texts):
            self.problems.note(LogFault.SHOWN_TWICE, line)
        self.lists.append((str(query), texts, self._clicked(clicks or (), len(shown), line), *extras))
        self.n_documents += len(texts)

    def _clicked(self, clicks: Sequence[Any], n_shown: int, line: int) -> list[bool]:
        clicked = [False] * n_shown
        for position in clicks:
            if not isinstance(position, int) or isinstance(position, bool):
                self.problems.note(LogFault.NO_POSITION, line, repr(position)[:MOST_DETAIL])
            elif not 1 <= position <= n_shown:
                self.problems.note(LogFault.NOT_SHOWN, line, f"position {position!r} of {n_shown}")
            elif clicked[position - 1]:
                self.problems.note(LogFault.REPEATED, line)
            else:
                clicked[position - 1] = True
        return clicked

    def _extras(self, event: Mapping[str, Any], n_shown: int, line: int) -> tuple[int, list[float], str] | None:
        """The rank of the first document, propensities and the policy; None if something is wrong with them."""
        first, chances = event.get("first", 1), event.get("propensity")
        if not isinstance(first, int) or not 1 <= first <= LOWEST_FIRST:
            self.problems.note(LogFault.BROKEN, line, f"first must be a position from 1 to {LOWEST_FIRST:,}")
            return None
        if chances is None or isinstance(chances, int | float):
            chances = [np.nan if chances is None else chances] * n_shown
        is_fitting = isinstance(chances, list | tuple) and len(chances) == n_shown
        if not is_fitting or not all(map(_may_be_propensity, chances)):
            wanted = "propensity must be one number above 0, or one for each shown document"
            self.problems.note(LogFault.BROKEN, line, wanted)
            return None
        return first - 1, list(map(float, chances)), str(event.get("policy", ""))

    def block(self) -> LogBlock:
        """The lists so far as a block; the next ones make another."""
        queries, shown, clicked, first_ranks, chances, policies = zip(*self.lists, strict=True)
        self.lists, self.n_documents = [], 0
        first, propensities = np.array(first_ranks, np.int32), np.array([*chain(*chances)], np.float32)
        return LogBlock(
            self.naming.queries.of_texts(queries),
            np.cumsum([0, *map(len, shown)], dtype=np.int64),
            self.naming.documents.of_texts([*chain(*shown)]),
            np.array([*chain(*clicked)], np.bool_),
            first if first.any() else None,
            None if np.isnan(propensities).all() else propensities,
            self.naming.policies.of_texts(policies) if any(policies) else None,
        )


def _is_unicode(*texts: str) -> bool:
    """Whether texts can be encoded: JSON may hold halves of characters, which cannot."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


def _may_be_propensity(value: object) -> bool:
    """Whether it is a number above 0, or NaN for one that is not known."""
    return isinstance(value, int | float) and not value <= 0 and not value > MOST_PROPENSITY


def json_events(path: FilePath) -> Events:
    """Read JSON lines, an event each."""
    with open_input(path) as file:
        for number, line in enumerate(bounded_lines(file.readline, input_name(path), LONGEST_EVENT), start=1):
            if line.strip():
                yield number, _json_event(line)


def _json_event(line: bytes) -> dict[str, Any] | str:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        event = None
    return event if isinstance(event, dict) else f"no JSON object: {line.decode('utf-8', 'replace').strip()[:SHORT]!r}"


def yandex_events(path: FilePath) -> Events:
    r"""Read Yandex's blocks: `query \t ids separated by commas : clicked ids separated by commas`, ended by `;`."""
    with open_input(path) as file:
        for number, line in enumerate(bounded_lines(file.readline, input_name(path)), start=1):
            for text in map(str.strip, line.decode("utf-8", "replace").split(";")):
                if text:
                    yield number, _yandex_event(text)


def _yandex_event(text: str) -> dict[str, Any] | str:
    """The event of one block; clicked ids become positions, 0 for what was not shown."""
    query, tab, rest = text.partition("\t")
    shown, colon, clicked = rest.partition(":")
    if not tab or not colon:
        return repr(text[:SHORT])
    documents = [one.strip() for one in shown.split(",") if one.strip()]
    place_of = {document: place for place, document in reversed(list(enumerate(documents, start=1)))}
    clicks = [place_of.get(one.strip(), 0) for one in clicked.split(",") if one.strip()]
    return {"query": query.strip(), "shown": documents, "clicks": clicks}


def csv_events(path: FilePath) -> Events:
    """Read CSV or TSV with a line for each list (`shown`, `clicks`) or for each document (`document`, `click`)."""
    with (
        open_input(path) as raw,
        TextIOWrapper(cast(Any, raw), encoding="utf-8-sig", errors="replace", newline="") as file,
    ):
        lines = bounded_lines(file.readline, input_name(path), LONGEST_EVENT)
        first = next(lines, "")
        delimiter = "\t" if "\t" in first else ","
        _, header = next(csv_rows([first], delimiter, input_name(path)), (1, []))
        names = [name.strip() for name in header]
        rows = csv_rows(lines, delimiter, input_name(path), lines_before=1)
        if set(LIST_COLUMNS) <= set(names):
            yield from _list_rows(names, rows)
        elif set(LONG_COLUMNS) <= set(names):
            yield from _long_rows(names, rows, input_name(path))
        else:
            wanted = f"wanted {', '.join(LIST_COLUMNS)}, or {', '.join(LONG_COLUMNS)}"
            raise FileFormatError(input_name(path), f"found the columns {', '.join(names)[:200]}; {wanted}", 1)


def _list_rows(names: list[str], rows: Rows) -> Events:
    """A line for each list; ids and positions are separated by blanks within a cell."""
    for line, cells in rows:
        event: Any = dict(zip(names, cells, strict=False))
        try:
            event |= {
                "shown": event["shown"].split(),
                "clicks": [int(one) for one in event["clicks"].split()],
                "first": int(event.get("first") or 1),
                "propensity": [float(one) for one in event.get("propensity", "").split()] or None,
            }
        except (KeyError, ValueError) as error:
            event = str(error)[:SHORT]
        yield line, event


def _long_rows(names: list[str], rows: Rows, file: str) -> Events:
    """A line for each shown document: a new list begins where session, query or list changes, or positions restart."""
    whose = [name for name in ("session", "list", "query", "policy", "time") if name in names]
    documents: list[tuple[str, float | None, bool]] = []
    before: tuple[str, ...] = ()
    start, last, line = 1, 0, 1
    for line, cells in rows:
        row = dict(zip(names, cells, strict=False))
        try:
            position, click = int(row["position"]), float(row["click"]) > 0
            chance = float(row["propensity"]) if row.get("propensity") else None
            key = tuple(row[name] for name in whose)
        except (KeyError, ValueError) as error:
            yield line, str(error)[:SHORT]
            continue
        if key != before or position != last + 1:
            if documents:
                yield line - 1, _long_event(dict(zip(whose, before, strict=True)), start, documents)
            start, before, documents = position, key, []
        if len(documents) == LONGEST_LIST:
            raise FileFormatError(file, f"the list has more than {LONGEST_LIST:,} documents", line)
        documents.append((row["document"], chance, click))
        last = position
    if documents:
        yield line, _long_event(dict(zip(whose, before, strict=True)), start, documents)


def _long_event(
    whose: dict[str, Any], first: int, documents: Sequence[tuple[str, float | None, bool]]
) -> dict[str, Any]:
    shown, chances, clicked = zip(*documents, strict=True)
    clicks = [place for place, click in enumerate(clicked, start=1) if click]
    return whose | {
        "shown": shown,
        "clicks": clicks,
        "first": first,
        "propensity": None if None in chances else chances,
    }


TEXT_FORMATS: Mapping[str, Callable[[FilePath], Events]] = {
    "jsonl": json_events,
    "csv": csv_events,
    "yandex": yandex_events,
}
