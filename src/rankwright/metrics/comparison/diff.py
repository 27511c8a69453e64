"""The queries that changed most from one system to another, and both lists side by side.

Ranks count from 1 here, as people count them. This is the one place that asks rankers why they order two documents as
they do: it takes what any object with `explain` answers, as text.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import Tabular
from rankwright.errors import RankwrightError, require
from rankwright.metrics.comparison.comparison_tables import signed_cell
from rankwright.metrics.confidence_intervals import none_unless_finite
from rankwright.metrics.convention import Convention
from rankwright.metrics.evaluation import ComparedSystems, Evaluation, ScoredLists
from rankwright.ranking.order import Ranking, break_ties
from rankwright.tables.text import ShownTable, ShownTables, counted

MOST_LETTERS = 25  # of a document's name: two of them, labels and ranks fit into 80 columns
UP, DOWN, NEW = "▲", "▼", "new"


@dataclass(frozen=True, slots=True)
class Placed:
    """A document at its rank in a list, and its rank in the other system's list; None where it is not in it."""

    document: str
    label: float
    rank: int
    other_rank: int | None

    def to_dict(self) -> dict[str, Any]:
        """The document in types JSON can hold."""
        return asdict(self) | {"label": none_unless_finite(self.label)}


@dataclass(frozen=True, slots=True)
class QueryDiff:
    """A query under two systems: the metric's values, the tops of both lists, and why they differ, if that is known.

    Attributes
    ----------
    query : int or str
        The query's id.
    outcome : str
        `"lost"` where the second system is worse, `"won"` where it is better.
    values : tuple of float
        The metric's value under the first system and under the second.
    first, second : tuple of Placed
        The first documents of each list.
    why : tuple of str
        Lines on why the order of two documents changed; none where no ranker explains itself.
    """

    query: Any
    outcome: str
    values: tuple[float, float]
    first: tuple[Placed, ...]
    second: tuple[Placed, ...]
    why: tuple[str, ...] = ()

    @property
    def difference(self) -> float:
        """The second's value less the first's."""
        return self.values[1] - self.values[0]

    def to_dict(self) -> dict[str, Any]:
        """The query in types JSON can hold."""
        return {
            "query": self.query,
            "outcome": self.outcome,
            "first_value": self.values[0],
            "second_value": self.values[1],
            "difference": self.difference,
            "first": [one.to_dict() for one in self.first],
            "second": [one.to_dict() for one in self.second],
            "why": list(self.why),
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RankingDiff(Tabular):
    """The queries that changed most between two systems; `SystemComparison.diff` makes it.

    Attributes
    ----------
    systems : tuple of str
        The names of the first and of the second system.
    metric : str
        The metric that says how much a query changed.
    queries : tuple of QueryDiff
        Those that lost most, the worst first, then those that won most, the best first.
    counts : mapping of str to int
        How many queries `"lost"`, `"won"` and stayed the `"same"`, over all.
    headline : str
        What was found, in one line.
    """

    systems: tuple[str, str]
    metric: str
    queries: tuple[QueryDiff, ...]
    counts: Mapping[str, int]

    @property
    def headline(self) -> str:
        """What was found, in one line."""
        lost = counted(self.counts["lost"], "query")
        others = f"{self.counts['won']:,} won, {self.counts['same']:,} stayed the same"
        return f"from {self.systems[0]} to {self.systems[1]}, {self.metric}: {lost} lost, {others}"

    def shown(self) -> ShownTables:
        """Return the lists side by side, one table for each query."""
        shown = {outcome: sum(one.outcome == outcome for one in self.queries) for outcome in ("lost", "won")}
        number, tables = {"lost": 0, "won": 0}, []
        for one in self.queries:
            number[one.outcome] += 1
            tables.append(self._table(one, f"{one.outcome} {number[one.outcome]} of {shown[one.outcome]}"))
        return ShownTables(tables, [self.headline])

    def _table(self, one: QueryDiff, place: str) -> ShownTable:
        before, after = one.values
        title = f"query {one.query}, {place}: {self.metric} {before:.4f} to {after:.4f} ({signed_cell(after - before)})"
        columns = ["", _short(self.systems[0]), "label", _short(self.systems[1]), "label", "was"]
        rows = [_row(one, place) for place in range(max(len(one.first), len(one.second)))]
        gone = [placed for placed in one.first if placed.other_rank is None or placed.other_rank > len(one.second)]
        left = "; ".join(
            f"{_short(placed.document)} ({_label(placed)}) now {placed.other_rank or 'gone'}" for placed in gone
        )
        notes = ([f"no longer shown, with labels: {left}"] if gone else []) + list(one.why)
        return ShownTable(title, columns, rows, ("", "label", "was"), notes)

    def columns(self) -> dict[str, list[Any]]:
        """Return the lists, a row for each rank of each query.

        Returns
        -------
        dict of str to list
            Columns by name: `query`, `outcome`, `first_value`, `second_value`, `difference`, `rank`, and of the
            document that either system has there `first_document`, `first_label`, `second_document`, `second_label`
            and `moved`, how many ranks higher the second system has its document than the first has it, NaN where the
            first lacks it.
        """
        rows = [
            (one.query, one.outcome, *one.values, one.difference, place + 1, *_cells(one, place))
            for one in self.queries
            for place in range(max(len(one.first), len(one.second)))
        ]
        names = ("query", "outcome", "first_value", "second_value", "difference", "rank")
        documents = ("first_document", "first_label", "second_document", "second_label", "moved")
        return {name: [row[place] for row in rows] for place, name in enumerate((*names, *documents))}

    def to_dict(self) -> dict[str, Any]:
        """Return the lists as a dictionary for JSON.

        Returns
        -------
        dict
            `systems`, `metric`, `counts`, and `queries` with both lists of each.
        """
        return {
            "systems": list(self.systems),
            "metric": self.metric,
            "counts": dict(self.counts),
            "queries": [one.to_dict() for one in self.queries],
        }


def diff_lists(
    evaluations: Mapping[str, Evaluation],
    material: ComparedSystems,
    systems: tuple[str, str],
    metric: str,
    *,
    top: int,
    depth: int,
) -> RankingDiff:
    """The queries that changed most between two systems, `top` of either kind, with `depth` documents of each list."""
    require(top >= 1, f"top must be 1 or more, got {top}")
    require(depth >= 1, f"depth must be 1 or more, got {depth}")
    results = [evaluations[name][metric] for name in systems]
    ids = evaluations[systems[0]].query_ids.tolist()
    change = results[1].values - results[0].values
    better = change if results[0].measure.higher_is_better else -change
    chosen = {"lost": _lowest(better, ids, top), "won": _lowest(-better, ids, top)}
    convention = results[0].measure.convention
    ranked = [RankedQueries.of(material.lists[name], convention, material.data) for name in systems]
    rankers = {name: material.rankers[name] for name in systems if name in material.rankers}
    queries = []
    for outcome, numbers in chosen.items():
        for number in numbers:
            values = (float(results[0].values[number]), float(results[1].values[number]))
            lists = [list(own.of_query(number)) for own in ranked]
            shown = _placed(lists[0], lists[1], depth), _placed(lists[1], lists[0], depth)
            pair = _swapped(lists, depth) if rankers else None
            why = [] if pair is None or material.data is None else why_swapped(rankers, material.data, number, pair)
            queries.append(QueryDiff(ids[number], outcome, values, *shown, tuple(why)))
    counts = {"lost": int((better < 0).sum()), "won": int((better > 0).sum()), "same": int((better == 0).sum())}
    return RankingDiff(systems, metric, tuple(queries), counts)


def _lowest(worth: Float64Array, ids: Sequence[Any], top: int) -> list[int]:
    """The numbers of the queries of least worth, below 0; of equals, those whose ids come first."""
    return sorted(np.flatnonzero(worth < 0).tolist(), key=lambda number: (worth[number], str(ids[number])))[:top]


def _placed(ranked: Sequence[Listed], other: Sequence[Listed], depth: int) -> tuple[Placed, ...]:
    rank_of = {one.key: rank for rank, one in enumerate(other, start=1)}
    return tuple(
        Placed(one.name, one.label, rank, rank_of.get(one.key)) for rank, one in enumerate(ranked[:depth], start=1)
    )


def _swapped(lists: Sequence[Sequence[Listed]], depth: int) -> tuple[Any, Any] | None:
    """Of the documents shown, two of different labels whose order changed: those whose labels are furthest apart.

    They are told by their keys, first the one that the second system has on top. None where there is no such pair.
    """
    ranks = [{one.key: rank for rank, one in enumerate(own)} for own in lists]
    shown: dict[Hashable, Listed] = {one.key: one for own in lists for one in own[:depth]}
    both = [one for one in shown.values() if one.key in ranks[0] and one.key in ranks[1] and not math.isnan(one.label)]
    found = [
        (abs(one.label - two.label), ranks[1][two.key] - ranks[1][one.key], -ranks[1][one.key], one.key, two.key)
        for one in both
        for two in both
        if one.label != two.label and ranks[1][one.key] < ranks[1][two.key] and ranks[0][one.key] > ranks[0][two.key]
    ]
    return max(found, key=lambda pair: pair[:3])[3:] if found else None


def _row(one: QueryDiff, place: int) -> list[str]:
    cells = [str(place + 1)]
    for placed in (own[place] if place < len(own) else None for own in (one.first, one.second)):
        cells += ["", ""] if placed is None else [_short(placed.document), _label(placed)]
    return [*cells, _was(one.second[place]) if place < len(one.second) else ""]


def _was(placed: Placed) -> str:
    """Where the first system had the document, and which way it moved; nothing where it stayed."""
    before = placed.other_rank
    if before is None:
        return NEW
    return "" if before == placed.rank else f"{before} {UP if before > placed.rank else DOWN}"


def _label(placed: Placed) -> str:
    return "-" if math.isnan(placed.label) else f"{placed.label:g}"


def _short(name: str) -> str:
    """The name, or its end, where ids differ, if it is too long."""
    return name if len(name) <= MOST_LETTERS else f"…{name[-MOST_LETTERS + 1 :]}"


def _cells(one: QueryDiff, place: int) -> tuple[Any, ...]:
    """The documents at a rank of both lists, and how far the second's has moved up."""
    first, second = (own[place] if place < len(own) else None for own in (one.first, one.second))
    moved = math.nan if second is None or second.other_rank is None else second.other_rank - second.rank
    left = ("", math.nan) if first is None else (first.document, first.label)
    right = ("", math.nan) if second is None else (second.document, second.label)
    return (*left, *right, moved)


@dataclass(frozen=True, slots=True)
class Listed:
    """A document of a list: the key that finds it in another list, its name, its label (NaN if unjudged), its score."""

    key: Hashable
    name: str
    label: float
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class RankedQueries:
    """The lists of all queries of one system, ranked; unjudged documents are in them, whatever a convention says."""

    lists: ScoredLists
    ranking: Ranking
    data: RankingDataset | None  # where all systems score the same rows

    @classmethod
    def of(cls, lists: ScoredLists, convention: Convention, data: RankingDataset | None) -> RankedQueries:
        """The lists with ties broken as the convention says."""
        labels = np.nan_to_num(lists.labels)
        ranking = lists.ranking(convention.scores, 1)
        return cls(lists, break_ties(ranking, convention.ties, labels=labels, document_ids=lists.document_ids), data)

    def of_query(self, query: int) -> Iterator[Listed]:
        """The documents of a query, the best first; `query` is its number."""
        start = int(self.ranking.groups.offsets[query])
        for row in self.ranking.rows[start : start + int(self.ranking.n_ranked[query])].tolist():
            name = self._name(row)
            label, score = float(self.lists.labels[row]), float(self.lists.scores[row])
            yield Listed(name if self.data is None else row, name, label, score)

    def _name(self, row: int) -> str:
        if self.lists.document_ids is not None:
            return str(self.lists.document_ids[row])
        rows = None if self.data is None else self.data.source_rows
        return f"row {row if rows is None else int(rows[row])}"


MOST_LINES = 6  # of each ranker's answer


def why_swapped(rankers: Mapping[str, Any], data: RankingDataset, query: int, rows: tuple[int, int]) -> list[str]:
    """Lines on why each of the rankers puts one of two documents above the other; none where no ranker can tell.

    `query` is the query's number, `rows` are the documents' rows in the data. A ranker is asked
    `explain(documents of the query, documents=(one, other))`, by document id; where there are no ids, rows are named as
    the lists of the difference name them.
    """
    own, start = data.take_queries([query]), int(data.groups.offsets[query])
    if own.document_ids is None:
        numbers = np.arange(data.n_docs) if data.source_rows is None else data.source_rows
        named = [f"row {number}" for number in numbers[start : start + own.n_docs]]
        own = replace(own, document_ids=np.array(named))
    assert own.document_ids is not None
    documents = [own.document_ids[row - start] for row in rows]
    lines: list[str] = []
    for name, ranker in rankers.items():
        if not hasattr(ranker, "explain"):
            continue
        try:
            first, *more = str(ranker.explain(own, documents=tuple(documents))).splitlines()[:MOST_LINES] or [""]
        except RankwrightError:  # this kind of ranker, or what it was made from, explains nothing
            continue
        lines += [f"{name}: {first}", *(f"  {line}" for line in more)]
    return lines
