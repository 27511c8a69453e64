"""Why documents of a query rank as they do, prepared for the pairs that people look at first.

Most models add up what features contribute: with the contributions of the shown documents, the page explains any two of
them. Models that compare documents, as SortNet does, are asked about one pair of each query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import RankwrightError
from rankwright.explanations.contributions import Question
from rankwright.explanations.explanation import label_of
from rankwright.rankers.ranker import Ranker

if TYPE_CHECKING:
    from rankwright.report.sections.query_lists import QueryLists

TOP = 10  # ranks that the page shows of a list
MOST_FEATURES = 40  # told apart in a query; the rest are added up
# Queries for whose pair the smallest change that swaps it is searched: a forest tells the values to try, others do not.
SWAPPED_BY_FORESTS, SWAPPED_BY_OTHERS = 20, 2


@dataclass(frozen=True, slots=True)
class Explained:
    """What the page's script reads: names of features, contributions by query, and the prepared pair of each query."""

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
    queries: dict[int, Mapping[str, Any]] = {}
    pairs: dict[int, Sequence[Mapping[str, Any]]] = {}
    for place, (number, own) in lists.items():
        query = ShownQuery(data, number, own, names)
        found = {system: _added(ranker, query) for system, ranker in rankers.items()}
        known = {system: adds for system, adds in found.items() if adds is not None}
        kept = _largest(list(known.values()), len(names))
        parts = {system: _parts(ranker, query) for system, ranker in rankers.items() if system not in known}
        kept = np.union1d(kept, [feature for own_parts in parts.values() for feature, _ in own_parts]).astype(np.int64)
        at = [columns.get(names[feature]) for feature in kept.tolist()]
        queries[place] = {
            "features": kept.tolist(),
            "values": [[None if column is None else _number(data.features[row, column]) for column in at]
                       for row in query.rows],
            "adds": {system: [_numbers(row) for row in _with_rest(adds, kept)] for system, adds in known.items()},
        }  # fmt: skip
        pair = _pair_of(own)
        if pair is not None:
            pairs[place] = [
                _ordered(own, system, pair)
                | ({"parts": parts[system]} if parts.get(system) else {})
                | (_swap(ranker, query, pair) if len(pairs) < _n_searched(ranker) else {})
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


def _added(ranker: Ranker, query: ShownQuery) -> Float64Array | None:
    """What features add to the scores of the shown documents; None where the model does not add up."""
    own, places = query.data.take_queries([query.number]), query.places
    if not ranker.looks_at_queries:  # the other documents change nothing: they are left out
        own, places = _rows_of(own, places), np.arange(len(places))
    try:
        found = ranker.explain(own)
    except RankwrightError:
        return None
    place_of = {name: place for place, name in enumerate(query.names)}
    adds = np.zeros((len(places), len(query.names)))
    adds[:, [place_of[name] for name in found.features]] = found.contributions[places]
    return adds


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
        found = trained.pair_contributions(own, (rows[0], rows[1]), Question(threads=1))
    except RankwrightError:
        return []
    place_of = {name: place for place, name in enumerate(query.names)}
    order = np.argsort(-np.abs(found.values), kind="stable")[:MOST_FEATURES].tolist()
    names = _names(ranker, query.data)
    return [(place_of[names[feature]], _number(found.values[feature])) for feature in order]


def _rows_of(own: RankingDataset, places: IntArray) -> RankingDataset:
    return RankingDataset(
        features=np.ascontiguousarray(own.features[places]),
        labels=np.zeros(len(places), np.float32),
        groups=Groups.of_sizes([len(places)]),
        feature_names=own.feature_names,
        categories=own.categories,
    )


def _largest(adds: Sequence[Float64Array], n_features: int) -> IntArray:
    """The features that tell the documents apart most, over all rankers, in the order of the data."""
    size = np.zeros(n_features)
    for own in adds:
        spread = np.abs(own - own.mean(axis=0)).max(axis=0)
        size = np.maximum(size, spread / (spread.max() or 1.0))
    order = np.argsort(-size, kind="stable")[:MOST_FEATURES]
    return np.sort(order[size[order] > 0])


def _with_rest(adds: Float64Array, kept: IntArray) -> Float64Array:
    """The kept contributions, and the sum of the others as one column more."""
    rest = np.delete(adds, kept, axis=1).sum(axis=1, keepdims=True)
    return np.hstack([adds[:, kept], rest])


def _pair_of(own: QueryLists) -> tuple[int, int] | None:
    """Two documents on top of the first two lists, to explain first: of different labels, and ordered differently.

    Of one system, or where there is no such pair, the wrong pair of labels that are furthest apart.
    """
    first, second = own.ranks[0], own.ranks[min(1, len(own.ranks) - 1)]
    shown = [doc for doc in range(len(own.documents)) if _is_on_top(first[doc]) or _is_on_top(second[doc])]
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
        one, two = (int(place) for place in max(found)[-2:])
        return one, two
    return (shown[0], shown[1]) if len(shown) > 1 else None


def _is_on_top(rank: int | None) -> bool:
    return rank is not None and rank <= TOP


def _ordered(own: QueryLists, system: int, pair: tuple[int, int]) -> dict[str, Any]:
    """The pair as a system orders it."""
    ranks = own.ranks[system]
    above, below = sorted(pair, key=lambda doc: ranks[doc] or 0)
    return {"system": system, "above": above, "below": below}


def _swap(ranker: Ranker, query: ShownQuery, pair: tuple[int, int]) -> dict[str, str]:
    """The smallest change that swaps the pair, in a sentence; nothing where there is none."""
    called = {int(query.places[doc]): query.lists.documents[doc].name for doc in pair}
    try:
        found = ranker.explain(query.documents(), documents=tuple(called))
    except RankwrightError:
        return {}
    change = found.counterfactual
    if change is None:
        return {}
    shown = replace(found, counterfactual=replace(change, document=called[change.document]))
    return {"swap": shown.table().notes[0]}


def _numbers(values: Any) -> list[float | None]:
    return [_number(value) for value in np.asarray(values, np.float64).tolist()]


def _number(value: float) -> float | None:
    return float(f"{value:.4g}") if np.isfinite(value) else None
