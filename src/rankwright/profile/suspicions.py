"""Things in a dataset that deserve a second look, each described in a sentence.

There is one function for each suspicion, which yields its sentences or nothing. None of them is an error: all of them
happen in good data too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.data.judged import tells_apart
from rankwright.profile.feature_facts import FeatureFacts, duplicate_rows

LARGEST_USUAL_LABEL = 30  # the gain 2^label - 1 of larger ones is beyond what other tools can count
HUGE_QUERY = 10_000  # documents; some tools refuse more
HUGE_AGAINST_MEDIAN = 50
MOSTLY_MISSING = 0.95
PAIRS_TRIED = 20_000
FEWEST_PAIRS = 200
LEAK_SHARE = 0.98  # of pairs that a single feature puts the right way round
NAMES_SHOWN = 5

Suspicion: TypeAlias = Callable[[RankingDataset, FeatureFacts], Iterator[str]]


def suspicions(data: RankingDataset, facts: FeatureFacts) -> Iterator[str]:
    """Everything suspicious about `data`, the gravest first."""
    for suspicion in SUSPICIONS:
        yield from suspicion(data, facts)


def _nothing_there(data: RankingDataset, _facts: FeatureFacts) -> Iterator[str]:
    if data.n_docs == 0:
        yield "there are no documents"
    elif data.n_features == 0:
        yield "there are no features"


def _labels_teach_nothing(data: RankingDataset, _facts: FeatureFacts) -> Iterator[str]:
    if data.labels is None or data.n_docs == 0:
        return
    judged = data.labels[~np.isnan(data.labels)]
    if len(judged) == 0:
        yield "no document is judged: there is nothing to learn or to measure"
    elif judged.min() == judged.max():
        yield f"every judged document has label {judged[0]:g}: there is nothing to learn or to measure"
    elif not tells_apart(data.labels, data.groups).any():
        yield "no query has documents with different labels: their order can be neither learned nor measured"


def _a_feature_gives_the_label_away(data: RankingDataset, _facts: FeatureFacts) -> Iterator[str]:
    better, worse = _pairs(data)
    if len(better) < FEWEST_PAIRS:
        return
    right = _share_right(data, better, worse)
    for feature in np.flatnonzero(np.maximum(right, 1 - right) >= LEAK_SHARE):
        share, way = max(right[feature], 1 - right[feature]), "" if right[feature] >= LEAK_SHARE else ", upside down"
        yield (
            f"feature {data.names[feature]} alone puts {share:.1%} of pairs in the right order{way}: "
            f"was it made from the labels?"
        )


def _labels_are_unusual(data: RankingDataset, _facts: FeatureFacts) -> Iterator[str]:
    if data.labels is None:
        return
    judged = data.labels[~np.isnan(data.labels)]
    fractions = judged[judged != np.floor(judged)]
    if len(fractions):
        yield f"labels are not all whole numbers, for example {fractions[0]:g}; some tools and metrics need grades"
    if len(judged) and judged.max() > LARGEST_USUAL_LABEL:
        yield (
            f"the largest label is {judged.max():g}: under the gain 2^label - 1 it outweighs all else; "
            f"a linear gain may be meant"
        )


def _features_are_not_finite(data: RankingDataset, facts: FeatureFacts) -> Iterator[str]:
    infinite = facts.n_infinite > 0
    yield from _about(data, infinite, "has", "have", "infinite values, which cannot be scaled or averaged")


def _features_are_mostly_missing(data: RankingDataset, facts: FeatureFacts) -> Iterator[str]:
    if data.n_docs:
        mostly = facts.n_missing >= MOSTLY_MISSING * data.n_docs
        yield from _about(data, mostly, "is", "are", f"missing in {MOSTLY_MISSING:.0%} of documents or more")


def _features_name_the_query(data: RankingDataset, facts: FeatureFacts) -> Iterator[str]:
    by_query = facts.is_constant_in_queries & ~facts.is_constant
    if data.query_ids is not None and data.query_ids.dtype.kind == "i":
        ids = data.qid
        for feature in np.flatnonzero(by_query):
            if np.array_equal(data.features[:, feature], ids.astype(np.float32)):
                by_query[feature] = False
                yield f"feature {data.names[feature]} is the query id: it teaches a model the training queries by heart"
    if data.n_queries < data.n_docs:
        what = "the same for all documents of a query: alone, that orders nothing"
        yield from _about(data, by_query, "is", "are", what)


def _features_count_rows(data: RankingDataset, facts: FeatureFacts) -> Iterator[str]:
    if data.n_docs >= 10:
        for feature in np.flatnonzero(facts.is_rising):
            yield f"feature {data.names[feature]} grows from each row to the next, as a row number does"


def _queries_are_scattered(data: RankingDataset, _facts: FeatureFacts) -> Iterator[str]:
    if data.source_rows is not None:
        apart = np.flatnonzero(np.diff(data.source_rows) != 1) + 1
        inside = np.setdiff1d(apart, data.groups.offsets)
        scattered = np.unique(data.groups.query_of_row[inside])
        if len(scattered):
            queries, example = _counted(len(scattered), "query was", "queries were"), _query(data, int(scattered[0]))
            yield f"{queries} scattered over the data and brought together, for example {example}"
    if data.query_ids is not None and len(np.unique(data.query_ids)) < data.n_queries:
        ids, counts = np.unique(data.query_ids, return_counts=True)
        yield f"several queries have the same id, for example {ids[counts > 1][0]}"


def _queries_have_odd_sizes(data: RankingDataset, _facts: FeatureFacts) -> Iterator[str]:
    sizes = data.groups.sizes
    for size, what in ((0, "no documents"), (1, "one document: any order of it is right")):
        number = int((sizes == size).sum())
        if number:
            yield f"{_counted(number, 'query has', 'queries have')} {what}"
    if data.n_queries:
        median, largest = float(np.median(sizes)), int(sizes.max())
        if largest > HUGE_QUERY or (largest > HUGE_AGAINST_MEDIAN * median and data.n_queries >= 10):
            yield (
                f"query {_query(data, int(sizes.argmax()))} has {largest:,} documents, "
                f"{largest / max(median, 1):,.0f} times the median"
            )


def _documents_are_copies(data: RankingDataset, facts: FeatureFacts) -> Iterator[str]:
    if data.n_features == 0:
        return
    copies, originals = duplicate_rows(data.features, data.groups, facts)
    if len(copies):
        documents = _counted(len(copies), "document has", "documents have")
        sentence = f"{documents} the same features as another of the same query"
        if data.labels is not None:
            otherwise = int((data.labels[copies] != data.labels[originals]).sum())
            sentence += f", {otherwise:,} of them with another label" if otherwise else ""
        yield sentence


def _pairs(data: RankingDataset) -> tuple[IntArray, IntArray]:
    """Some pairs of documents of one query, the first with the larger label; the same ones each time."""
    if data.labels is None or data.n_docs == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    rng = np.random.default_rng(0)
    one = rng.integers(0, data.n_docs, PAIRS_TRIED)
    query = data.groups.query_of_row[one]
    other = data.groups.offsets[query] + rng.integers(0, data.groups.sizes[query])
    better, worse = data.labels[one] > data.labels[other], data.labels[one] < data.labels[other]
    return np.concatenate([one[better], other[worse]]), np.concatenate([other[better], one[worse]])


def _share_right(data: RankingDataset, better: IntArray, worse: IntArray) -> Float64Array:
    """The share of pairs that each feature puts in the right order, if larger is better; an equal pair is half right.

    A missing value counts as equal to every other.
    """
    first, second = data.features[better], data.features[worse]
    share: Float64Array = 0.5 + 0.5 * ((first > second).mean(axis=0) - (first < second).mean(axis=0))
    return share


def _about(data: RankingDataset, chosen: BoolArray, has: str, have: str, what: str) -> Iterator[str]:
    """A sentence about the chosen features, if there are any."""
    names = [data.names[feature] for feature in np.flatnonzero(chosen)]
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    if len(names) == 1:
        yield f"feature {names[0]} {has} {what}"
    elif names:
        yield f"features {', '.join(names[:NAMES_SHOWN])}{more} {have} {what}"


def _counted(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def _query(data: RankingDataset, query: int) -> str:
    return str(query if data.query_ids is None else data.query_ids[query])


# The gravest first.
SUSPICIONS: Sequence[Suspicion] = (
    _nothing_there,
    _labels_teach_nothing,
    _a_feature_gives_the_label_away,
    _features_name_the_query,
    _features_count_rows,
    _features_are_not_finite,
    _features_are_mostly_missing,
    _labels_are_unusual,
    _queries_are_scattered,
    _queries_have_odd_sizes,
    _documents_are_copies,
)
