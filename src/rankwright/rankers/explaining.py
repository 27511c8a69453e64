"""From a trained ranker and documents to their explanation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError, Message, Parameter, UnknownQueryError, require
from rankwright.explanations import counterfactuals
from rankwright.explanations.contributions import Question
from rankwright.explanations.counterfactuals import Observed
from rankwright.explanations.explanation import Explanation, PairExplanation
from rankwright.rankers.trained import TrainedRanker

NEAREST = 3  # ids that are shown where one is unknown
COMPARED_DIRECTLY = "two documents are compared with each other, not with what is usual: leave out "
WITHIN = "; features are scaled within the query, so these compare its documents"


def explained(
    trained: TrainedRanker,
    data: RankingDataset,
    query: Any,
    documents: Sequence[Any] | None,
    *,
    cover: str | None,
    background: RankingDataset | None,
    interactions: bool,
    threads: int,
) -> Explanation | PairExplanation:
    """Why the documents of a query rank as they do, or why one of two ranks above the other."""
    name, own = _one_query(data, query)
    own = own.dense("an explanation")
    question = Question(cover, background, threads)
    if documents is not None:
        require(not interactions, "interactions are of a list: leave out documents")
        for parameter, given in (("cover", cover), ("background", background)):
            require(given is None, Message(COMPARED_DIRECTLY, Parameter(parameter, python=parameter)))
        return explained_pair(
            trained, name, own, documents, Observed.of(data.dense("an explanation").features), threads=threads
        )
    if not trained.model.explains_lists:
        raise InputError(
            f"{trained.ranker} compares the documents of a query, which have no scores of their own: name two of them "
            f"(documents=, or --documents A,B)"
        )
    found = trained.contributions(own, question)
    return Explanation(
        ranker=trained.ranker,
        query=name,
        documents=_ids(own),
        features=names_of(trained, own),
        values=own.features,
        contributions=found.values,
        base=found.base,
        scores=trained.scores(own, threads=threads),
        labels=own.labels,
        how=found.how + (WITHIN if trained.scales_within_queries else ""),
        interactions=trained.interactions(own, question) if interactions else None,
    )


def _one_query(data: RankingDataset, query: Any) -> tuple[Any, RankingDataset]:
    """The query's id, or its number where it has none, and its documents."""
    ids = list(range(data.n_queries)) if data.query_ids is None else data.query_ids.tolist()
    if query is None:
        if data.n_queries != 1:
            raise InputError(f"say which of the {data.n_queries} queries to explain: query=, or --query Q")
        return ids[0], data
    place = next((number for number, own in enumerate(ids) if str(own) == str(query)), None)
    if place is None:
        raise UnknownQueryError(f"there is no query {query!r}; the nearest ids are {nearest(query, ids)}")
    return ids[place], data.take_queries([place])


def nearest(wanted: Any, ids: Iterable[Any]) -> str:
    """The ids that look most like the one wanted, or the nearest numbers, in words."""
    texts = list(dict.fromkeys(str(one) for one in ids))
    try:
        number = float(wanted)
        found = sorted(texts, key=lambda text: abs(float(text) - number))[:NEAREST]
    except ValueError:
        found = get_close_matches(str(wanted), texts, n=NEAREST, cutoff=0.0)
    return ", ".join(found)


def names_of(trained: TrainedRanker, own: RankingDataset) -> tuple[str, ...]:
    """The names of the features: those of the documents, or those of training where the documents have none."""
    return own.feature_names or trained.feature_names or own.names


def _ids(own: RankingDataset) -> tuple[Any, ...]:
    return tuple(range(own.n_docs)) if own.document_ids is None else tuple(own.document_ids.tolist())


def explained_pair(
    trained: TrainedRanker,
    query: Any,
    own: RankingDataset,
    documents: Sequence[Any],
    observed: Observed,
    *,
    threads: int,
) -> PairExplanation:
    """Why one of two documents of a query, `own`, ranks above the other; what swaps them stays within `observed`."""
    ids = _ids(own)
    require(len(documents) == 2, f"documents must name two documents to compare, got {len(documents)}")
    rows = [_row_of(one, ids, query) for one in documents]
    require(rows[0] != rows[1], f"documents must name two different documents, got {documents[0]!r} twice")
    scores = trained.scores(own, threads=threads)
    rows.sort(key=lambda row: (-scores[row], row))
    above, below = rows
    found = trained.pair_contributions(own, np.array([rows]), Question(threads=threads))
    return PairExplanation(
        ranker=trained.ranker,
        query=query,
        above=ids[above],
        below=ids[below],
        features=names_of(trained, own),
        values=own.features[rows],
        contributions=found.values[0],
        margin=float(found.margins[0]),
        scores=scores[rows],
        how=found.how + (WITHIN if trained.scales_within_queries else ""),
        counterfactual=_counterfactual(trained, own, above, below, observed, threads),
    )


def _row_of(wanted: Any, ids: Sequence[Any], query: Any) -> int:
    place = next((number for number, own in enumerate(ids) if str(own) == str(wanted)), None)
    if place is None:
        raise InputError(f"query {query} has no document {wanted!r}; the nearest ids are {nearest(wanted, ids)}")
    return place


def _counterfactual(
    trained: TrainedRanker, own: RankingDataset, above: int, below: int, observed: Observed, threads: int
) -> counterfactuals.Counterfactual | None:
    """The smallest change of a feature of either document that swaps them."""
    spreads, ids = counterfactuals.spreads_of(own.features), _ids(own)
    best: tuple[int, counterfactuals.Change] | None = None
    for row, other, sign in ((below, above, 1.0), (above, below, -1.0)):
        values, exact = _values_to_try(trained, own, row, observed)
        margin = _margin(trained, own, row, other, sign, threads)
        found = counterfactuals.smallest_change(own.features[row], margin, values, spreads, exact, observed.whole)
        if found is not None and (best is None or found.size < best[1].size):
            best = row, found
    if best is None:
        return None
    row, change = best
    before = float(own.features[row, change.feature])
    return counterfactuals.Counterfactual(
        ids[row], names_of(trained, own)[change.feature], before, change.after, change.size, change.margin
    )


def _values_to_try(
    trained: TrainedRanker, own: RankingDataset, row: int, observed: Observed
) -> tuple[dict[int, Float32Array], BoolArray]:
    """The values to try for each feature, and for which features no other value can matter."""
    known = trained.model.values_that_matter() if trained.scaling is None else None
    if known is not None:
        is_category = trained.model.categorical_features(own.n_features)
        values = {one: own if is_category[one] else observed.within(one, own) for one, own in known.items()}
        return values, np.ones(own.n_features, np.bool_)
    used = np.flatnonzero(trained.model.used_features(own.n_features))
    versions = counterfactuals.MOST_ROWS // own.n_docs if trained.looks_at_queries else counterfactuals.MOST_ROWS
    most = int(np.clip(versions // max(len(used), 1), 2, counterfactuals.MOST_VALUES))
    far = counterfactuals.spreads_of(own.features) * 4  # as far as values can be expected, beyond those that were seen
    values = {}
    for feature in used.tolist():
        at = own.features[row, feature]
        ends = [] if np.isnan(at) else [at - far[feature], at + far[feature]]
        seen = counterfactuals.observed_values(own.features[:, feature], most)
        values[feature] = observed.within(feature, np.concatenate([seen, np.array(ends, np.float32)]))
    return values, np.zeros(own.n_features, np.bool_)


def _margin(
    trained: TrainedRanker, own: RankingDataset, row: int, other: int, sign: float, threads: int
) -> counterfactuals.Margin:
    """By how much the score of each version of a row is above that of the other row, times `sign`."""

    def alone(versions: Float32Array) -> Float64Array:
        rows = np.concatenate([versions, own.features[[other]]])
        scores = trained.scores(_documents(own, rows, [len(rows)]), threads=threads)
        return np.asarray(sign * (scores[:-1] - scores[-1]))

    def within(versions: Float32Array) -> Float64Array:
        lists = np.repeat(own.features[None], len(versions), axis=0)
        lists[:, row] = versions
        sizes = [own.n_docs] * len(versions)
        scores = trained.scores(_documents(own, lists.reshape(-1, own.n_features), sizes), threads=threads)
        by_list = scores.reshape(len(versions), own.n_docs)
        return np.asarray(sign * (by_list[:, row] - by_list[:, other]))

    return within if trained.looks_at_queries else alone


def _documents(own: RankingDataset, features: Float32Array, sizes: Sequence[int]) -> RankingDataset:
    """Documents like those of a query with other features."""
    return RankingDataset(
        features=features,
        labels=np.zeros(len(features), np.float32),
        groups=Groups.of_sizes(sizes),
        feature_names=own.feature_names,
        categories=own.categories,
    )
