"""Query by query: values of every query, the lists of those that people look at first, and why they rank so.

The page explains any two of the shown documents of the queries that people look at first. Models that compare
documents, as SortNet does, take longer over a pair: they are asked about one pair of each query.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import RankwrightError
from rankwright.explanations.contributions import Question
from rankwright.explanations.counterfactuals import Observed
from rankwright.explanations.explanation import label_of
from rankwright.metrics.comparison.diff import Listed, RankedQueries
from rankwright.rankers.explaining import explained_pair
from rankwright.rankers.ranker import Ranker
from rankwright.report.measured import Measured, Origin
from rankwright.report.page.document import Block, Chart, Explorer, Section
from rankwright.report.specs.comparisons import query_scatter, value_histogram
from rankwright.report.specs.theme import ON_PAGES, with_colours
from rankwright.tables.text import counted

DEPTH = 10  # documents that the page shows of a list
MOST_LISTS = 600  # queries whose lists are in the page, divided by the number of systems beyond two
FIRST = 40  # queries that people look at first: their pairs are explained
MOST_VALUES = 700_000  # values of queries in the page: systems × metrics × queries
MOST_QUERIES = 60_000  # in the page, where values alone leave room for more
MOST_DRAWN = 20_000  # values that a histogram is made of
MOST_FEATURES = 40  # told apart in a query; the rest are added up
OF_A_PAIR = 10  # of them, the largest, as many as the page shows
# Queries for whose pair the smallest change that swaps it is searched: a forest tells the values to try, others do not.
SWAPPED_BY_FORESTS, SWAPPED_BY_OTHERS = 20, 2


def queries_section(measured: Measured, origin: Origin) -> tuple[Section, bool]:
    """The section, and whether something was left out of it."""
    ranked = [RankedQueries.of(lists, measured.some.convention, measured.data) for lists in measured.lists.values()]
    order = interesting(measured)
    kept, metrics, notes = _thinned(measured, order)
    shown = order[: MOST_LISTS * 2 // max(2, len(ranked))] if ranked else order[:0]
    place_of = {query: place for place, query in enumerate(kept.tolist())}
    titles, texts = measured.texts.titles, measured.texts.queries
    lists = {place_of[query]: _lists(ranked, query, titles) for query in shown.tolist() if query in place_of}
    explained = _explained(measured, {place: (int(kept[place]), own) for place, own in list(lists.items())[:FIRST]})
    if ranked and len(shown) < len(kept):
        notes.append(f"The lists of {len(shown):,} queries are in the page, those that people look at first.")
    systems = list(measured.evaluations)
    state = {
        "systems": systems,
        "metrics": metrics,
        "higher": [measured.some[metric].measure.higher_is_better for metric in metrics],
        "ids": [str(one) for one in measured.some.query_ids[kept].tolist()],
        "texts": None if texts is None else [texts[query] for query in kept.tolist()],
        "nothing_relevant": np.flatnonzero(nothing_relevant(measured)[kept]),
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
        "search": None if origin.search is None else asdict(origin.search),
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
        n_empty = int(nothing_relevant(measured).sum())
        if n_empty:
            lead += f" {counted(n_empty, 'query')} with nothing relevant cannot be ranked well."
    else:
        lead = "Where the systems differ. Open a query to see both lists, and choose two of its documents to see why."
    return Section("queries", "Query by query", lead, tuple(blocks)), bool(notes)


def interesting(measured: Measured) -> IntArray:
    """The queries, those that people look at first in front: the largest changes, or where one system does worst."""
    results = [one[measured.metric] for one in measured.evaluations.values()]
    sign = 1.0 if results[0].measure.higher_is_better else -1.0
    if len(results) == 1:
        badness: Float64Array = np.where(np.isnan(results[0].values), math.inf, sign * results[0].values)
        # No order of a query in which nothing is relevant is bad.
        return np.argsort(np.where(nothing_relevant(measured), math.inf, badness), kind="stable")
    changes = np.nan_to_num(np.array([one.values - results[0].values for one in results[1:]]), nan=0.0)
    # Of each other system the largest losses and wins take turns, so that none hides the rest.
    columns = [np.argsort(way * sign * own, kind="stable") for own in changes for way in (1.0, -1.0)]
    return np.array(list(dict.fromkeys(np.stack(columns, axis=1).reshape(-1).tolist())), np.int64)


def nothing_relevant(measured: Measured) -> NDArray[np.bool_]:
    """Which queries have nothing relevant; none of them where no lists are known."""
    found = np.full(measured.some.n_queries, bool(measured.lists))
    for lists in measured.lists.values():
        found[np.unique(lists.groups.query_of_row[lists.labels > 0])] = False
    return found


def _thinned(measured: Measured, order: IntArray) -> tuple[IntArray, list[str], list[str]]:
    """The queries and the metrics whose values fit into the page, and what is said of those that do not."""
    n_queries = measured.some.n_queries
    metrics = list(dict.fromkeys([measured.metric, *measured.some.results]))  # the page shows the first one first
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

    def __init__(
        self, lists: Sequence[Sequence[Listed]], start: int | None, titles: Sequence[str] | None = None
    ) -> None:
        self.start = start  # the query's first row, where documents have no ids
        self.titles = titles  # by row
        # Of a document in several lists, the first list's entry in the first list's place.
        top = [one for own in lists for one in own[:DEPTH]]
        first = {one.key: one for one in reversed(top)}
        self.documents = [first[key] for key in dict.fromkeys(one.key for one in top)]
        places = [{one.key: rank for rank, one in enumerate(own, start=1)} for own in lists]
        scores = [{one.key: one.score for one in own} for own in lists]
        self.ranks = [[own.get(one.key) for one in self.documents] for own in places]
        self.scores = [[own.get(one.key) for one in self.documents] for own in scores]

    def _asked(self, one: Listed) -> str:
        """What `explain` knows the document by: its id, or its place in the query where it has none."""
        return one.name if self.start is None or not isinstance(one.key, int) else str(one.key - self.start)

    def _title(self, one: Listed) -> list[str]:
        return [] if self.titles is None or not isinstance(one.key, int) else [self.titles[one.key]]

    def state(self) -> dict[str, Any]:
        """The lists as the page's script reads them."""
        labels = [None if math.isnan(one.label) else _plain(one.label) for one in self.documents]
        return {
            "docs": [
                [one.name, label, self._asked(one), *self._title(one)]
                for one, label in zip(self.documents, labels, strict=True)
            ],
            "ranks": self.ranks,
            "scores": [[None if score is None else _short(score) for score in own] for own in self.scores],
        }


def _lists(ranked: Sequence[RankedQueries], query: int, titles: Sequence[str] | None) -> QueryLists:
    has_ids = ranked[0].lists.document_ids is not None
    start = None if has_ids else int(ranked[0].ranking.groups.offsets[query])
    return QueryLists([list(own.of_query(query)) for own in ranked], start, titles)


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
    if "data" not in origin.files or not origin.models or not measured.rankers:
        return None
    model = next(iter(origin.models.values()))
    return f"rankwright explain {quote(model)} {quote(origin.files['data'])} --query {{query}}"


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


@dataclass(frozen=True, slots=True)
class Explained:
    """What the page's script reads: names of features, pairs of documents by query, and each query's prepared pair."""

    features: tuple[str, ...]
    queries: Mapping[int, Mapping[str, Any]]
    pairs: Mapping[int, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True, eq=False)
class ShownQuery:
    """A query whose shown documents are explained; `names` are the features of all rankers."""

    data: RankingDataset
    number: int
    lists: QueryLists
    names: tuple[str, ...]

    @property
    def rows(self) -> list[int]:
        """The rows of the shown documents in the data."""
        return [int(one.key) for one in self.lists.documents]  # type: ignore[call-overload]

    @property
    def places(self) -> IntArray:
        """The places of the shown documents in the query."""
        return np.array(self.rows, np.int64) - int(self.data.groups.offsets[self.number])

    def documents(self) -> RankingDataset:
        """All documents of the query, known by their places."""
        own = self.data.take_queries([self.number])
        return replace(own, document_ids=np.arange(own.n_docs))


def explained_queries(
    rankers: Mapping[int, Ranker], data: RankingDataset, lists: Mapping[int, tuple[int, QueryLists]]
) -> Explained:
    """Explanations of the shown documents; `rankers` are by the system's number, `lists` by the query's place."""
    names = tuple(dict.fromkeys(name for ranker in rankers.values() for name in _names(ranker, data)))
    columns = {name: place for place, name in enumerate(data.names)}
    observed = {system: Observed.of(ranker.trained_.aligned(data).features) for system, ranker in rankers.items()}
    queries: dict[int, Mapping[str, Any]] = {}
    pairs: dict[int, Sequence[Mapping[str, Any]]] = {}
    for place, (number, own) in lists.items():
        query = ShownQuery(data, number, own, names)
        found = {system: _compared(ranker, query) for system, ranker in rankers.items()}
        known = {system: values for system, values in found.items() if values is not None}
        kept = _largest(list(known.values()), len(names))
        parts = {system: _parts(ranker, query) for system, ranker in rankers.items() if system not in known}
        kept = np.union1d(kept, [feature for own_parts in parts.values() for feature, _ in own_parts]).astype(np.int64)
        at = [columns.get(names[feature]) for feature in kept.tolist()]
        queries[place] = {
            "features": kept.tolist(),
            "values": [[None if column is None else _number(data.features[row, column]) for column in at]
                       for row in query.rows],
            "pairs": {system: [_told(row, kept) for row in values] for system, values in known.items()},
        }  # fmt: skip
        pair = _pair_of(own)
        if pair is not None:
            pairs[place] = [
                _ordered(own, system, pair)
                | ({"parts": parts[system]} if parts.get(system) else {})
                | (_swap(ranker, query, pair, observed[system]) if len(pairs) < _n_searched(ranker) else {})
                for system, ranker in rankers.items()
            ]
    return Explained(tuple(label_of(name) for name in names), queries, pairs)


def _names(ranker: Ranker, data: RankingDataset) -> tuple[str, ...]:
    """What the ranker's features are called: what training called them, or as the data numbers them."""
    return tuple(ranker.trained().feature_names) or data.names


def _n_searched(ranker: Ranker) -> int:
    trained = ranker.trained()
    if trained.looks_at_queries:
        return 0  # every change of a document is a list of its own to score
    knows = trained.scaling is None and trained.model.values_that_matter() is not None
    return SWAPPED_BY_FORESTS if knows else SWAPPED_BY_OTHERS


def _compared(ranker: Ranker, query: ShownQuery) -> Float64Array | None:
    """By how much features put the first of two shown documents above the second, a row for each two of them.

    None where the model compares documents itself, or tells nothing.
    """
    trained, own, places = ranker.trained(), query.data.take_queries([query.number]), query.places
    if not trained.model.explains_lists:
        return None
    if not trained.looks_at_queries:  # the other documents change nothing: they are left out
        own, places = _rows_of(own, places), np.arange(len(places))
    pairs = places[np.array(list(combinations(range(len(places)), 2)), np.int64).reshape(-1, 2)]
    try:
        found = trained.pair_contributions(ranker.trained_.aligned(own), pairs, Question(threads=1))
    except RankwrightError:
        return None
    place_of = {name: place for place, name in enumerate(query.names)}
    values = np.zeros((len(pairs), len(query.names)))
    values[:, [place_of[name] for name in _names(ranker, query.data)]] = found.values
    return values


def _parts(ranker: Ranker, query: ShownQuery) -> list[tuple[int, float | None]]:
    """What puts one document of the first pair above the other, by a model that compares documents; largest first."""
    pair = _pair_of(query.lists)
    if pair is None:
        return []
    trained, places = ranker.trained(), query.places
    try:
        own = ranker.trained_.aligned(query.documents())
        scores = trained.scores(own, threads=1)
        rows = sorted((int(places[doc]) for doc in pair), key=lambda row: (-scores[row], row))
        found = trained.pair_contributions(own, np.array([rows]), Question(threads=1)).values[0]
    except RankwrightError:
        return []
    place_of = {name: place for place, name in enumerate(query.names)}
    order = np.argsort(-np.abs(found), kind="stable")[:MOST_FEATURES].tolist()
    names = _names(ranker, query.data)
    return [(place_of[names[feature]], _number(found[feature])) for feature in order]


def _rows_of(own: RankingDataset, places: IntArray) -> RankingDataset:
    return RankingDataset(
        features=np.ascontiguousarray(own.features[places]),
        labels=np.zeros(len(places), np.float32),
        groups=Groups.of_sizes([len(places)]),
        feature_names=own.feature_names,
        categories=own.categories,
    )


def _largest(compared: Sequence[Float64Array], n_features: int) -> IntArray:
    """The features that tell two documents apart most, over all rankers, in the order of the data."""
    size = np.zeros(n_features)
    for values in compared:
        largest = np.abs(values).max(axis=0, initial=0.0)
        size = np.maximum(size, largest / (largest.max(initial=0.0) or 1.0))
    order = np.argsort(-size, kind="stable")[:MOST_FEATURES]
    return np.sort(order[size[order] > 0])


def _told(values: Float64Array, kept: IntArray) -> list[float | None]:
    """The largest contributions to a pair: the sum of all others, then places in `kept`, each before its value."""
    order = np.argsort(-np.abs(values[kept]), kind="stable")[:OF_A_PAIR]
    told = [place for place in order.tolist() if values[kept[place]] != 0]
    others = np.delete(values, kept[told]).sum()
    return [_number(others), *(number for place in told for number in (place, _number(values[kept[place]])))]


def _pair_of(own: QueryLists) -> tuple[int, int] | None:
    """Two documents on top of the first two lists, to explain first: of different labels, and ordered differently.

    Of one system, or where there is no such pair, the wrong pair of labels that are furthest apart.
    """
    first, second = own.ranks[0], own.ranks[min(1, len(own.ranks) - 1)]
    on_top = range(1, DEPTH + 1)
    shown = [doc for doc in range(len(own.documents)) if first[doc] in on_top or second[doc] in on_top]
    labels = [one.label for one in own.documents]
    found: list[tuple[float, ...]] = []
    for one in shown:
        for two in shown:
            here, there = (first[one], first[two]), (second[one], second[two])
            if None in here or None in there or not labels[one] > labels[two]:
                continue
            ranks = np.array([here, there], np.int64)
            is_wrong = ranks[:, 0] > ranks[:, 1]
            swapped = float(is_wrong[0] != is_wrong[1])
            found.append((swapped, float(is_wrong[0]), labels[one] - labels[two], -float(ranks.min()), one, two))
    if found:
        return int(max(found)[-2]), int(max(found)[-1])
    return (shown[0], shown[1]) if len(shown) > 1 else None


def _ordered(own: QueryLists, system: int, pair: tuple[int, int]) -> dict[str, Any]:
    """The pair as a system orders it."""
    ranks = own.ranks[system]
    above, below = sorted(pair, key=lambda doc: ranks[doc] or 0)
    return {"system": system, "above": above, "below": below}


def _swap(ranker: Ranker, query: ShownQuery, pair: tuple[int, int], observed: Observed) -> dict[str, str]:
    """The smallest change that swaps the pair, in a sentence; nothing where there is none."""
    called = {int(query.places[doc]): query.lists.documents[doc].name for doc in pair}
    try:
        own = ranker.trained_.aligned(query.documents())
        found = explained_pair(ranker.trained(), query.number, own, tuple(called), observed, threads=1)
    except RankwrightError:
        return {}
    change = found.counterfactual
    if change is None:
        return {}
    shown = replace(found, counterfactual=replace(change, document=called[change.document]))
    return {"swap": shown.table().notes[0]}


def _number(value: float) -> float | None:
    return float(f"{value:.4g}") if np.isfinite(value) else None
