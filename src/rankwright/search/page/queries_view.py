"""The list of queries: each with its metric under each ranker, worst first, and the differences as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankwright.search.measured import MeasuredQueries, MeasuredQuery
from rankwright.search.page.address import PageState
from rankwright.search.page.search_view import Bar

ORDERS = {"worst": "worst first", "loss": "largest loss first", "gain": "largest gain first", "list": "as in the list"}
ON_A_PAGE = 100
MOST_BARS = 400  # of the picture; of more queries, an even sample is drawn
HEIGHT = 60  # of a bar of the largest difference


@dataclass(frozen=True, slots=True)
class QueryRow:
    """A query in the table."""

    query: MeasuredQuery
    first: float | None
    second: float | None
    difference: float | None
    bar: Bar | None
    address: str
    judge: str


@dataclass(frozen=True, slots=True)
class Column:
    """A bar of the picture of all differences."""

    x: float
    y: float
    height: float
    direction: str


@dataclass(frozen=True, slots=True)
class QueriesView:
    """The table of queries, a part of it at a time."""

    first: str
    second: str
    metric: str
    order: str
    orders: Sequence[tuple[str, str, str]]  # name, words, address
    rows: Sequence[QueryRow]
    columns: Sequence[Column]
    column_width: float
    n_ranked: int
    n_queries: int
    n_measured: int
    means: Mapping[str, float]
    better: int  # queries that the second ranker has better
    worse: int
    page: int
    pages: Sequence[tuple[int, str]]

    @property
    def picture(self) -> str:
        """The picture in words."""
        same = self.n_measured - self.better - self.worse
        return f"{self.second} is better on {self.better:,} queries, worse on {self.worse:,} and equal on {same:,}."


def queries_view(measured: MeasuredQueries, options: Mapping[str, str], rankers: Sequence[str]) -> QueriesView:
    """What the address asks for."""
    state = PageState.of(options, tuple(rankers))
    first, second = state.first, state.second
    order = options.get("order", "worst")
    order = order if order in ORDERS else "worst"
    rows = _ordered(measured.rows(), first, second, order)
    known = [one for one in rows if one.values.get(first) is not None]
    differences = [one.difference(first, second) for one in known] if second else []
    told = [one for one in differences if one is not None]
    largest = max(map(abs, told), default=0.0)
    number = options.get("page", "1")
    n_pages = max(1, -(-len(rows) // ON_A_PAGE))
    page = min(int(number), n_pages) if number.isdigit() and int(number) else 1

    def address(**changes: Any) -> str:
        return _address({"a": first, "b": second or "-", "order": order, "page": str(page)} | changes)

    return QueriesView(
        first,
        second,
        measured.metric,
        order,
        [(name, words, address(order=name, page="1")) for name, words in ORDERS.items() if second or name in _ALONE],
        [_row(one, state, largest) for one in rows[(page - 1) * ON_A_PAGE : page * ON_A_PAGE]],
        *_picture(told, largest),
        measured.n_ranked,
        len(rows),
        len(known),
        {
            name: sum(one.values[name] or 0.0 for one in known) / len(known)
            for name in (first, second)
            if name and known
        },
        sum(one > 0 for one in told),
        sum(one < 0 for one in told),
        page,
        [(one, address(page=str(one))) for one in range(1, n_pages + 1)] if n_pages > 1 else [],
    )


_ALONE = ("worst", "list")  # orders that need one ranker


def _address(options: Mapping[str, str]) -> str:
    from urllib.parse import urlencode

    return f"/queries?{urlencode(options)}"


def _ordered(rows: list[MeasuredQuery], first: str, second: str, order: str) -> list[MeasuredQuery]:
    """The queries in that order; those without a value come last."""
    if order == "list":
        return rows

    def key(one: MeasuredQuery) -> tuple[bool, float]:
        if order == "worst" or not second:
            own = [value for name in (first, second) if name and (value := one.values.get(name)) is not None]
            return not own, min(own, default=0.0)
        difference = one.difference(first, second)
        return difference is None, (difference or 0.0) * (1 if order == "loss" else -1)

    return sorted(rows, key=key)


def _row(one: MeasuredQuery, state: PageState, largest: float) -> QueryRow:
    difference = one.difference(state.first, state.second) if state.second else None
    shown = PageState(query=one.text, first=state.first, second=state.second)
    return QueryRow(
        one,
        one.values.get(state.first),
        one.values.get(state.second) if state.second else None,
        difference,
        Bar.of(difference, largest) if difference else None,
        shown.address(),
        shown.address("/judge"),
    )


def _picture(differences: Sequence[float], largest: float) -> tuple[list[Column], float]:
    """All differences from the largest loss to the largest gain, each a bar up or down."""
    ordered = sorted(differences)
    step = max(1, -(-len(ordered) // MOST_BARS))
    shown = ordered[::step]
    width = 100 / max(1, len(shown))
    columns = []
    for place, value in enumerate(shown):
        height = abs(value) / largest * HEIGHT if largest else 0.0
        y = HEIGHT - height if value > 0 else HEIGHT
        columns.append(Column(place * width, y, height, "up" if value > 0 else "down"))
    return columns, width * 0.8
