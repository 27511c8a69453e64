"""Features from a log of clicks: of each row only what happened before the row's time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, IntArray, as_vector
from rankwright.clicks.logs.log_files import log_format
from rankwright.clicks.logs.text_logs import TEXT_FORMATS
from rankwright.errors import FileFormatError, InputError, require_input
from rankwright.formats.storage.streams import Paths, input_name, list_of_paths
from rankwright.text.collections.field_kinds import seconds_of
from rankwright.text.families import OTHER, SAME


@dataclass(frozen=True, slots=True, eq=False)
class ClickEvents:
    """Documents that were shown for queries, when, and whether they were clicked.

    Parameters
    ----------
    queries : sequence of str
        The query of each event: its id or its text.
    documents : sequence of str
        The id of the document that was shown.
    clicked : array of bool
        Whether it was clicked.
    times : array of float
        When, in seconds since 1970.
    """

    queries: Sequence[str]
    documents: Sequence[str]
    clicked: BoolArray
    times: Float64Array

    def __post_init__(self) -> None:
        n = len(self.queries)
        object.__setattr__(self, "times", as_vector(self.times, name="times", dtype=np.float64, length=n))
        object.__setattr__(self, "clicked", as_vector(self.clicked, name="clicked", dtype=np.bool_, length=n))
        require_input(len(self.documents) == n, f"there are {len(self.documents)} documents for {n} queries")
        require_input(bool(np.isfinite(self.times).all()), "each event needs its time")


def read_click_events(paths: Paths) -> ClickEvents:
    """Read a log of shown lists and clicks with the time of each list.

    Parameters
    ----------
    paths : path or sequence of paths
        Logs as `rankwright.clicks` reads them, as JSON lines or CSV, with a `time` for each list: seconds since 1970 or
        a date.

    Returns
    -------
    ClickEvents
        An event for each document that was shown.
    """
    queries: list[str] = []
    documents: list[str] = []
    clicked: list[bool] = []
    times: list[float] = []
    for path in list_of_paths(paths):
        format, name = log_format(path), input_name(path)
        if format not in ("jsonl", "csv"):
            raise FileFormatError(name, f"a {format} log has no times; click features need JSON lines or CSV")
        for line, event in TEXT_FORMATS[format](path):
            if isinstance(event, str):
                raise FileFormatError(name, f"the event cannot be read: {event}", line)
            shown, clicks, time = _event(event, name, line)
            queries += [str(event["query"])] * len(shown)
            documents += shown
            clicked += [place in clicks for place in range(1, len(shown) + 1)]
            times += [time] * len(shown)
    return ClickEvents(queries, documents, np.array(clicked, np.bool_), np.array(times, np.float64))


def _event(event: Any, name: str, line: int) -> tuple[list[str], set[int], float]:
    shown, clicks, time = event.get("shown"), event.get("clicks") or [], event.get("time")
    if event.get("query") is None or not isinstance(shown, list | tuple) or not isinstance(clicks, list | tuple):
        raise FileFormatError(name, "an event needs query, shown and clicks", line)
    seconds = None if time is None else seconds_of(time)
    if seconds is None or not np.isfinite(seconds):
        raise FileFormatError(
            name, f"an event needs its time, got {time!r}: features look at earlier events only", line
        )
    wrong = next((one for one in clicks if isinstance(one, bool) or not isinstance(one, int) or one < 1), None)
    if wrong is not None:
        raise FileFormatError(name, f"a click is a position, a whole number from 1; got {wrong!r}", line)
    return list(map(str, shown)), set(clicks), float(seconds)


@dataclass(frozen=True, slots=True, eq=False)
class _ClickHistory:
    """Events by group, and within a group by time, to be counted up to any time."""

    groups: IntArray  # ascending
    times: Float64Array
    clicks: IntArray  # before each event, and in all

    @classmethod
    def of(cls, groups: IntArray, events: ClickEvents) -> _ClickHistory:
        order = np.lexsort((events.times, groups))
        clicks = np.concatenate([[0], np.cumsum(events.clicked[order])])
        return cls(groups[order], events.times[order], clicks)

    def counts(self, groups: IntArray, times: Float64Array) -> tuple[Float64Array, Float64Array]:
        """How many events of each group there are before each time, and how many of them are clicks."""
        moments = np.unique(np.concatenate([self.times, times]))
        # A group and a moment as one number, in the order of the events.
        place = self.groups * len(moments) + np.searchsorted(moments, self.times)
        end = np.searchsorted(place, groups * len(moments) + np.searchsorted(moments, times))
        begin = np.searchsorted(self.groups, groups)
        return (end - begin).astype(np.float64), (self.clicks[end] - self.clicks[begin]).astype(np.float64)


def _overall(events: ClickEvents) -> Float64Array:
    order = np.argsort(events.times, kind="stable")
    return np.cumsum(events.clicked[order]) / np.arange(1, len(order) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class RowsInLog:
    """Rows to be described: the query's id and text, the document, and the time of each."""

    query_ids: Sequence[str]
    query_texts: Sequence[str]
    documents: Sequence[str]
    times: Float64Array

    def __post_init__(self) -> None:
        if np.isnan(self.times).any():
            raise InputError(
                "features of clicks look at events before the row's time, and a query has none: give the queries "
                "times, or one time for all of them"
            )


def click_counts(events: ClickEvents, rows: RowsInLog, queries: str) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Of each row the times it was shown, its clicks, and the log's rate, all before the row's time.

    `queries` says for which queries: the row's own, others, or any.
    """
    number_of = {document: number for number, document in enumerate(dict.fromkeys(rows.documents))}
    documents = np.array([number_of.get(one, -1) for one in events.documents], np.int64)
    own = np.array([number_of[one] for one in rows.documents], np.int64)
    rates = _rates_before(events, rows.times)
    shown, clicks = _ClickHistory.of(documents, events).counts(own, rows.times)
    if queries not in (SAME, OTHER):
        return shown, clicks, rates
    query_of_row, query_of_event = _same_queries(events, rows)
    n = len(number_of) + 1
    both = np.where((query_of_event < 0) | (documents < 0), -1, query_of_event * n + documents)
    same = _ClickHistory.of(both, events).counts(query_of_row * n + own, rows.times)
    return (*same, rates) if queries == SAME else (shown - same[0], clicks - same[1], rates)


def _same_queries(events: ClickEvents, rows: RowsInLog) -> tuple[IntArray, IntArray]:
    """Numbers of the queries of rows, and of events: -1 where no row has the event's query, by id or by text."""
    number_of = {key: number for number, key in enumerate(dict.fromkeys(rows.query_ids))}
    asked = {text: number_of[key] for text, key in zip(rows.query_texts, rows.query_ids, strict=True)} | number_of
    of_rows = np.array([number_of[key] for key in rows.query_ids], np.int64)
    return of_rows, np.array([asked.get(one, -1) for one in events.queries], np.int64)


def _rates_before(events: ClickEvents, times: Float64Array) -> Float64Array:
    """The share of clicks among all events before each time; 0 where there is none."""
    before = np.searchsorted(np.sort(events.times), times, side="left")
    overall = np.concatenate([[0.0], _overall(events)])
    return overall[before]


def click_values(family: str, counts: tuple[Float64Array, Float64Array, Float64Array], prior: float) -> Float64Array:
    """The values of a family of clicks; a rate that nothing is known of is NaN."""
    shown, clicks, rates = counts
    if family == "shown":
        return shown
    if family == "clicks":
        return clicks
    found = np.full(len(shown), np.nan)
    np.divide(clicks + prior * rates, shown + prior, out=found, where=shown + prior > 0)
    return found
