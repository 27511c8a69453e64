"""Finished files of the journal become Parquet segments, which `rankwright clicks` and `inspect` read.

A list is given some time for its clicks to come; then its file becomes a segment of the same name, whole or not at all,
and is removed. A file of events stays until every list that they can belong to is in a segment.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.clicks.interleaving import (
    Interleaved,
    InterleavingResult,
    interleaving_result,
    team_draft_propensities,
)
from rankwright.container.atomic import atomic_file
from rankwright.serve.journal import EVENTS, LISTS, ClickEvent, ServedList, held, journal_files, read_lines

log = logging.getLogger(__name__)

SETTLE_SECONDS = 10.0  # that events are kept for lists which are not on the disk yet
SEGMENTS, DOCUMENTS = "segments", "documents.parquet"  # within the folder of the journal


@dataclass(frozen=True, slots=True)
class SegmentReport:
    """What was written: segments, lists and events in them, and clicks on documents that their lists did not show."""

    segments: int = 0
    lists: int = 0
    events: int = 0
    stray_clicks: int = 0


def write_segments(
    folder: Path, *, window: float, feature_names: tuple[str, ...] = (), now: float | None = None
) -> SegmentReport:
    """Make segments of the files whose lists are all older than `window` seconds, and remove them."""
    now = time.time() if now is None else now
    n_segments = n_lists = n_events = n_stray = 0
    with _only_one(folder) as is_free:
        if not is_free:
            return SegmentReport()
        events = _events_by_list(folder)
        for path in journal_files(folder, LISTS):
            with held(path) as is_finished:
                if not is_finished:
                    continue
                lists: list[ServedList] = read_lines(path, ServedList)
                if lists and lists[-1].time > now - window:
                    continue
                target = folder / SEGMENTS / f"{path.stem}.parquet"
                if lists and not target.exists():
                    n_stray += _write(lists, events, target, feature_names)
                    n_segments, n_lists = n_segments + 1, n_lists + len(lists)
                    n_events += sum(len(events.get(one.id, {})) for one in lists)
                path.unlink()
        _remove_events(folder, now - SETTLE_SECONDS)
    return SegmentReport(n_segments, n_lists, n_events, n_stray)


@contextmanager
def _only_one(folder: Path) -> Iterator[bool]:
    """Whether no other process makes segments of this folder, and none can while this lasts."""
    (folder / SEGMENTS).mkdir(parents=True, exist_ok=True)
    lock = folder / SEGMENTS / ".lock"
    lock.touch()
    with held(lock) as is_free:
        yield is_free


def _events_by_list(folder: Path) -> dict[str, dict[str, ClickEvent]]:
    """The events of each list by their ids: an event that came several times is one."""
    found: dict[str, dict[str, ClickEvent]] = defaultdict(dict)
    for path in journal_files(folder, EVENTS):
        for event in read_lines(path, ClickEvent):
            found[event.list_id].setdefault(event.event_id, event)
    return found


def _remove_events(folder: Path, before: float) -> None:
    """Remove files of events that are older than that, and than every list that is still to come."""
    waiting = [read_lines(path, ServedList) for path in journal_files(folder, LISTS)]
    oldest = min([before, *(lists[0].time for lists in waiting if lists)])
    for path in journal_files(folder, EVENTS):
        with held(path) as is_finished:
            if not is_finished:
                continue
            if all(event.time < oldest for event in read_lines(path, ClickEvent)):
                path.unlink()


def _write(
    lists: list[ServedList], events: dict[str, dict[str, ClickEvent]], target: Path, feature_names: tuple[str, ...]
) -> int:
    """Write a segment, and how many clicks were on documents that a list did not show."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, n_stray = [], 0
    for one in lists:
        own = events.get(one.id, {})
        position = {str(document): place for place, document in enumerate(one.shown, start=1)}
        clicked = {str(document) for event in own.values() for document in event.clicked}
        n_stray += len(clicked - position.keys())
        rows.append(
            {
                "query": str(one.query),
                "shown": list(map(str, one.shown)),
                "clicks": sorted(position[document] for document in clicked & position.keys()),
                "propensity": propensities(one),
                "policy": one.policy,
                "time": one.time,
                "list": one.id,
                "teams": one.teams,
                "events": sorted(own),
            }
        )
    strings = pa.list_(pa.string())
    schema = pa.schema(
        [("query", pa.string()), ("shown", strings), ("clicks", pa.list_(pa.int32())),
         ("propensity", pa.list_(pa.float32())), ("policy", pa.string()), ("time", pa.float64()),
         ("list", pa.string()), ("teams", pa.string()), ("events", strings)]
    )  # fmt: skip
    if feature_names:
        _write_documents(lists, target.parent.parent / DOCUMENTS, feature_names)
    with atomic_file(target) as file:
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), file)
    return n_stray


def _write_documents(lists: list[ServedList], target: Path, names: tuple[str, ...]) -> None:
    """Put the features of the shown documents, as they were last served, into the one file that has them all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    latest: dict[tuple[str, str], Any] = {}
    if target.exists():
        old = pq.read_table(target)
        numbers = np.stack([old.column(name).to_numpy() for name in names], axis=1)
        keys = zip(old.column("query").to_pylist(), old.column("document").to_pylist(), strict=True)
        latest = dict(zip(keys, numbers, strict=True))
    for one in lists:
        features = np.frombuffer(one.features, np.float32).reshape(-1, len(names))
        for document, row in zip(one.shown, features, strict=False):
            latest[str(one.query), str(document)] = row
    if not latest:
        return
    ids = sorted(latest)  # a query's documents stand together
    matrix = np.array([latest[one] for one in ids])
    columns: dict[str, Any] = {"query": [query for query, _ in ids], "document": [document for _, document in ids]}
    columns |= {name: matrix[:, place] for place, name in enumerate(names)}
    with atomic_file(target) as file:
        pq.write_table(pa.table(columns), file)


def propensities(served: ServedList) -> list[float]:
    """How likely each document was to be shown where it was: certain, unless coins were thrown for the list."""
    if served.choices is None:
        return [1.0] * len(served.shown)
    n_drafted = len(served.teams)
    chances = team_draft_propensities(*served.choices, served.shown[:n_drafted])
    return [*chances, *([1.0] * (len(served.shown) - n_drafted))]


def interleaving_of(folder: Path) -> InterleavingResult:
    """Which of two interleaved rankers users prefer, by the segments so far; it may be looked at every day."""
    import pyarrow.parquet as pq

    lists, clicks = [], []
    for path in sorted((folder / SEGMENTS).glob("*.parquet")):
        for row in pq.read_table(path, columns=["shown", "teams", "clicks"]).to_pylist():
            teams = tuple(row["teams"])
            if teams:
                lists.append(Interleaved(tuple(row["shown"][: len(teams)]), teams))
                clicks.append([place for place in row["clicks"] if place <= len(teams)])
    return interleaving_result(lists, clicks)


class SegmentWriter:
    """Makes segments now and then, in whichever process comes first."""

    def __init__(self, folder: Path, *, seconds: float, window: float, feature_names: tuple[str, ...] = ()) -> None:
        self._folder, self._seconds, self._window, self._names = folder, seconds, window, feature_names
        self._stopped = threading.Event()

    def start(self) -> None:
        """Begin."""
        self._stopped.clear()
        threading.Thread(target=self._write_often, name="segments", daemon=True).start()

    def stop(self) -> None:
        """End."""
        self._stopped.set()

    def _write_often(self) -> None:
        while not self._stopped.wait(self._seconds):
            try:
                write_segments(self._folder, window=self._window, feature_names=self._names)
            except Exception:
                log.exception("segments could not be made")
