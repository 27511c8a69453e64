"""Logs as text: JSON lines, CSV with a line for each list or for each shown document, and Yandex's blocks."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from io import TextIOWrapper
from typing import Any, cast

from rankwright.clicks.logs.events import BROKEN, Gathered
from rankwright.errors import FileFormatError
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import input_name, open_input

SHORT = 60  # characters of a faulty line that are shown
LONG_COLUMNS = ("query", "document", "position", "click")
LIST_COLUMNS = ("query", "shown", "clicks")


def json_events(path: FilePath, gathered: Gathered) -> Iterator[None]:
    """Read JSON lines, an event each; yields after every line."""
    with open_input(path) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                event = _json(line)
                if event is None:
                    gathered.problems.note(BROKEN, number, f"no JSON object: {_shown(line)!r}")
                else:
                    gathered.add(event, number)
            yield


def _json(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _shown(line: bytes) -> str:
    return line.decode("utf-8", "replace").strip()[:SHORT]


def yandex_events(path: FilePath, gathered: Gathered) -> Iterator[None]:
    r"""Read Yandex's blocks: `query \t ids separated by commas : clicked ids separated by commas`, ended by `;`."""
    with open_input(path) as file:
        for number, line in enumerate(file, start=1):
            for piece in line.decode("utf-8", "replace").split(";"):
                text = piece.strip()
                if not text:
                    continue
                event = yandex_event(text)
                if event is None:
                    gathered.problems.note(BROKEN, number, repr(text[:SHORT]))
                else:
                    gathered.add(event, number)
                yield


def yandex_event(text: str) -> dict[str, Any] | None:
    """The event of one block; clicked ids become positions, 0 for what was not shown."""
    query, tab, rest = text.partition("\t")
    shown, colon, clicked = rest.partition(":")
    if not tab or not colon:
        return None
    documents = [one.strip() for one in shown.split(",") if one.strip()]
    place_of = {document: place for place, document in reversed(list(enumerate(documents, start=1)))}
    clicks = [place_of.get(one.strip(), 0) for one in clicked.split(",") if one.strip()]
    return {"query": query.strip(), "shown": documents, "clicks": clicks}


def csv_events(path: FilePath, gathered: Gathered) -> Iterator[None]:
    """Read CSV or TSV with a line for each list (`shown`, `clicks`) or for each document (`document`, `click`)."""
    with (
        open_input(path) as raw,
        TextIOWrapper(cast(Any, raw), encoding="utf-8-sig", errors="replace", newline="") as file,
    ):
        first = file.readline()
        delimiter = "\t" if "\t" in first else ","
        names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
        rows = csv.reader(file, delimiter=delimiter)
        if set(LIST_COLUMNS) <= set(names):
            yield from _list_rows(names, rows, gathered)
        elif set(LONG_COLUMNS) <= set(names):
            yield from _long_rows(names, rows, gathered)
        else:
            wanted = f"wanted {', '.join(LIST_COLUMNS)}, or {', '.join(LONG_COLUMNS)}"
            raise FileFormatError(input_name(path), f"found the columns {', '.join(names)[:200]}; {wanted}", 1)


def _list_rows(names: list[str], rows: Any, gathered: Gathered) -> Iterator[None]:
    """A line for each list; ids and positions are separated by blanks within a cell."""
    for cells in rows:
        event: dict[str, Any] = dict(zip(names, cells, strict=False))
        try:
            event["shown"] = event["shown"].split()
            event["clicks"] = [int(one) for one in event["clicks"].split()]
            event["first"] = int(event.get("first") or 1)
            event["propensity"] = [float(one) for one in event.get("propensity", "").split()] or None
        except (KeyError, ValueError) as error:
            gathered.problems.note(BROKEN, rows.line_num + 1, str(error)[:SHORT])
        else:
            gathered.add(event, rows.line_num + 1)
        yield


def _long_rows(names: list[str], rows: Any, gathered: Gathered) -> Iterator[None]:
    """A line for each shown document: a new list begins where session, query or list changes, or positions restart."""
    whose = [name for name in ("session", "list", "query", "policy", "time") if name in names]
    documents: list[tuple[str, float | None, bool]] = []
    before: tuple[Any, ...] | None = None
    start, last = 1, 0
    head: dict[str, Any] = {}

    def finish(line: int) -> None:
        if documents:
            chances = [chance for _, chance, _ in documents]
            clicks = [place for place, (_, _, click) in enumerate(documents, start=1) if click]
            event = head | {"shown": [one for one, _, _ in documents], "clicks": clicks, "first": start}
            event["propensity"] = None if None in chances else chances
            gathered.add(event, line)
            documents.clear()

    for cells in rows:
        line = rows.line_num + 1
        row = dict(zip(names, cells, strict=False))
        try:
            position, click = int(row["position"]), float(row["click"]) > 0
            chance = float(row["propensity"]) if row.get("propensity") else None
            key = tuple(row[name] for name in whose)
        except (KeyError, ValueError) as error:
            gathered.problems.note(BROKEN, line, str(error)[:SHORT])
            continue
        if key != before or position != last + 1:
            finish(line - 1)
            start, before, head = position, key, {name: row[name] for name in whose}
        documents.append((row["document"], chance, click))
        last = position
        yield
    finish(rows.line_num + 1)
    yield
