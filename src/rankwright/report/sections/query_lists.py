"""Query by query: values of every query, and the lists of those that people look at first."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.metrics.comparison.diff import Listed, RankedQueries
from rankwright.report.measured import Measured, Origin
from rankwright.report.page.document import Block, Chart, Explorer, Section
from rankwright.report.sections.query_explanations import TOP, Explained, explained_queries
from rankwright.report.specs.comparisons import query_scatter, value_histogram
from rankwright.report.specs.theme import ON_PAGES, with_colours

DEPTH = TOP  # documents of a list
MOST_LISTS = 600  # queries whose lists are in the page, divided by the number of systems beyond two
FIRST = 40  # queries that people look at first: their pairs are explained
MOST_VALUES = 700_000  # values of queries in the page: systems × metrics × queries
MOST_QUERIES = 60_000  # in the page, where values alone leave room for more
MOST_DRAWN = 20_000  # values that a histogram is made of


def queries_section(measured: Measured, origin: Origin) -> tuple[Section, bool]:
    """The section, and whether something was left out of it."""
    ranked = [RankedQueries.of(lists, measured.some.convention, measured.data) for lists in measured.lists.values()]
    order = interesting(measured)
    kept, metrics, notes = _thinned(measured, order)
    shown = order[: _n_lists(measured)] if ranked else order[:0]
    place_of = {query: place for place, query in enumerate(kept.tolist())}
    lists = {place_of[query]: _lists(ranked, query) for query in shown.tolist() if query in place_of}
    explained = _explained(measured, {place: (int(kept[place]), own) for place, own in list(lists.items())[:FIRST]})
    if ranked and len(shown) < len(kept):
        notes.append(f"The lists of {len(shown):,} queries are in the page, those that people look at first.")
    systems = list(measured.evaluations)
    state = {
        "systems": systems,
        "metrics": metrics,
        "higher": [measured.some[metric].measure.higher_is_better for metric in metrics],
        "ids": [str(one) for one in measured.some.query_ids[kept].tolist()],
        "documents": measured.some.groups.sizes[kept],
        "values": [[_rounded(one[metric].values[kept]) for one in measured.evaluations.values()] for metric in metrics],
        "first": [1, 0] if len(systems) > 1 else [0, None],
        "open": next(iter(lists), None),
        "depth": DEPTH,
        "lists": {place: own.state() for place, own in lists.items()},
        "has_lists": bool(ranked),
        "features": explained.features,
        "explained": explained.queries,
        "pairs": explained.pairs,
        "commands": {place: command for place, name in enumerate(systems)
                     if (command := _command(measured, origin, name)) is not None},
        "list_command": _list_command(origin, measured),
        "scatter": with_colours(query_scatter([], metrics[0], "", ""), ON_PAGES),
    }  # fmt: skip
    blocks: list[Block] = [Explorer(state, notes)]
    if len(systems) == 1:
        values = measured.some[measured.metric].values
        known = values[~np.isnan(values)][:: max(1, len(values) // MOST_DRAWN)]
        blocks.insert(0, Chart(value_histogram(known.round(4).tolist(), measured.metric)))
        lead = (
            "How many queries are ranked well and how many badly. Open a query to see its list, and two of "
            "its documents to see why."
        )
    else:
        lead = "Where the systems differ. Open a query to see both lists, and choose two of its documents to see why."
    return Section("queries", "Query by query", lead, tuple(blocks)), bool(notes)


def interesting(measured: Measured) -> IntArray:
    """The queries, those that people look at first in front: the largest changes, or where one system does worst."""
    results = [one[measured.metric] for one in measured.evaluations.values()]
    sign = 1.0 if results[0].measure.higher_is_better else -1.0
    if len(results) == 1:
        badness: Float64Array = np.where(np.isnan(results[0].values), math.inf, sign * results[0].values)
        with_relevant = badness + (0.0 if measured.data is None else _nothing_relevant(measured))
        return np.argsort(with_relevant, kind="stable")
    changes = np.nan_to_num(np.array([one.values - results[0].values for one in results[1:]]), nan=0.0)
    # Of each other system the largest losses and wins take turns, so that none hides the rest.
    columns = [np.argsort(way * sign * own, kind="stable") for own in changes for way in (1.0, -1.0)]
    return np.array(list(dict.fromkeys(np.stack(columns, axis=1).reshape(-1).tolist())), np.int64)


def _nothing_relevant(measured: Measured) -> Float64Array:
    """Infinity for queries in which nothing is relevant: no order of theirs is bad."""
    labels, groups = next(iter(measured.lists.values())).labels, measured.some.groups
    has = np.zeros(groups.n_queries, np.bool_)
    has[np.unique(groups.query_of_row[labels > 0])] = True
    return np.where(has, 0.0, math.inf)


def _n_lists(measured: Measured) -> int:
    return MOST_LISTS * 2 // max(2, len(measured.lists))


def _thinned(measured: Measured, order: IntArray) -> tuple[IntArray, list[str], list[str]]:
    """The queries and the metrics whose values fit into the page, and what is said of those that do not."""
    metrics, n_queries = list(measured.some.results), measured.some.n_queries
    fit = max(1, MOST_VALUES // (len(measured.evaluations) * max(1, min(n_queries, MOST_QUERIES))))
    notes = []
    if fit < len(metrics):
        notes.append(f"Values of single queries are shown for {', '.join(metrics[:fit])}, to keep the page small.")
    most = min(MOST_QUERIES, max(1, MOST_VALUES // len(measured.evaluations)))
    if n_queries <= most:
        return np.arange(n_queries), metrics[:fit], notes
    rest = order[most // 2 :]
    some = np.concatenate([order[: most // 2], rest[:: math.ceil(len(rest) / (most - most // 2))]])
    notes.append(f"{len(some):,} of {n_queries:,} queries are in the page: the largest changes, and an even sample.")
    return np.sort(some), metrics[:fit], notes


class QueryLists:
    """The first documents of a query in the lists of all systems."""

    def __init__(self, lists: Sequence[Sequence[Listed]], start: int | None) -> None:
        self.start = start  # the query's first row, where documents have no ids
        shown: dict[Any, Listed] = {}
        for own in lists:
            for one in own[:DEPTH]:
                shown.setdefault(one.key, one)
        self.documents = list(shown.values())
        places = [{one.key: rank for rank, one in enumerate(own, start=1)} for own in lists]
        scores = [{one.key: one.score for one in own} for own in lists]
        self.ranks = [[own.get(one.key) for one in self.documents] for own in places]
        self.scores = [[own.get(one.key) for one in self.documents] for own in scores]

    def _asked(self, one: Listed) -> str:
        """What `explain` knows the document by: its id, or its place in the query where it has none."""
        return one.name if self.start is None or not isinstance(one.key, int) else str(one.key - self.start)

    def state(self) -> dict[str, Any]:
        """The lists as the page's script reads them."""
        labels = [None if math.isnan(one.label) else _plain(one.label) for one in self.documents]
        return {
            "docs": [[one.name, label, self._asked(one)] for one, label in zip(self.documents, labels, strict=True)],
            "ranks": self.ranks,
            "scores": [[None if score is None else _short(score) for score in own] for own in self.scores],
        }


def _lists(ranked: Sequence[RankedQueries], query: int) -> QueryLists:
    has_ids = ranked[0].lists.document_ids is not None
    start = None if has_ids else int(ranked[0].ranking.groups.offsets[query])
    return QueryLists([list(own.of_query(query)) for own in ranked], start)


def _explained(measured: Measured, lists: Mapping[int, tuple[int, QueryLists]]) -> Explained:
    if measured.data is None:
        return Explained((), {}, {})
    rankers = {list(measured.evaluations).index(name): ranker for name, ranker in measured.rankers.items()}
    return explained_queries(rankers, measured.data, lists)


def _command(measured: Measured, origin: Origin, name: str) -> dict[str, Any] | None:
    """What explains a pair of documents that the page does not: a command, or a line of Python."""
    if name not in measured.rankers:
        return None
    if name in origin.models and "data" in origin.files:
        told = f"rankwright explain {quote(origin.models[name])} {quote(origin.files['data'])}"
        return {"shell": True, "text": f"{told} --query {{query}} --documents {{documents}}"}
    return {"shell": False, "text": "ranker.explain(data, query={query}, documents={documents})"}


def _list_command(origin: Origin, measured: Measured) -> str | None:
    if "data" not in origin.files or not origin.models:
        return None
    model = next(iter(origin.models.values()))
    return (
        f"rankwright explain {quote(model)} {quote(origin.files['data'])} --query {{query}}"
        if measured.rankers
        else None
    )


def _rounded(values: Float64Array) -> list[float | None]:
    return [None if math.isnan(value) else round(value, 4) for value in values.tolist()]


def _short(number: float) -> float | None:
    return float(f"{number:.5g}") if math.isfinite(number) else None


def _plain(label: float) -> float | int:
    return int(label) if float(label).is_integer() else json.loads(f"{label:.4g}")


def tables_beside(measured: Measured) -> dict[str, dict[str, Any]]:
    """The tables by name, as columns: `queries`, and `lists` where the lists are known."""
    values: dict[str, Any] = {
        f"{name}:{metric}": evaluation[metric].values
        for name, evaluation in measured.evaluations.items()
        for metric in evaluation.results
    }
    some = measured.some
    tables = {"queries": {"query": some.query_ids, "documents": some.groups.sizes} | values}
    if measured.lists:
        parts = [_tops(name, measured) for name in measured.lists]
        tables["lists"] = {column: np.concatenate([part[column] for part in parts]) for column in parts[0]}
    return tables


def _tops(name: str, measured: Measured) -> dict[str, Any]:
    """The first documents of each query as the system ranked them, a row each."""
    lists = measured.lists[name]
    ranking = RankedQueries.of(lists, measured.some.convention, measured.data).ranking
    query = ranking.groups.query_of_row
    rank = np.arange(len(query)) - ranking.groups.offsets[:-1][query]
    shown = np.flatnonzero(rank < np.minimum(ranking.n_ranked, DEPTH)[query])
    rows = ranking.rows[shown]
    documents = rows if lists.document_ids is None else lists.document_ids[rows]
    return {
        "query": measured.some.query_ids[query[shown]],
        "system": np.full(len(shown), name),
        "rank": rank[shown] + 1,
        "document": documents,
        "label": lists.labels[rows],
        "score": lists.scores[rows],
    }
