"""The figures of a dataset, and what in it deserves a second look, in plain words.

Facts about features are found in one pass. Values are compared bit by bit, after -0 became 0 and every NaN the same
one: a missing value equals a missing value. There is one function for each suspicion, which yields its sentences or
nothing. None of them is an error: all of them happen in good data too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray, distinct_ids
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.preferences import tells_apart
from rankwright.memory import require_memory
from rankwright.tables.text import counted

MOST_LEVELS = 40  # more different labels than this are summed up by their range
ROWS_AT_A_TIME = 512  # so few that what is computed from them stays in the processor's cache
VALUES_AT_A_TIME = 1 << 22  # the most that is copied at once, where documents have very many features
BYTES_PER_FEATURE = 250  # of facts and names
MISSING = np.float32(np.nan)
LARGEST_USUAL_LABEL = 30  # the gain 2^label - 1 of larger ones is beyond what other tools can count
HUGE_QUERY = 10_000  # documents; some tools refuse more
HUGE_AGAINST_MEDIAN = 50
MOSTLY_MISSING = 0.95
PAIRS_TRIED = 20_000
FEWEST_PAIRS = 200
LEAK_SHARE = 0.98  # of pairs that a single feature puts the right way round
NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The range of a number, over queries or over documents."""

    smallest: float
    median: float
    mean: float
    largest: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of a dataset. Features are named; where they have no names, they are numbered from 1."""

    queries: int
    documents: int
    features: int
    documents_per_query: NumberRange | None  # None where there are no queries
    labels: dict[str, int] | None  # label to documents; None where there are no labels or very many different ones
    label_spread: NumberRange | None  # None where no document is judged
    unjudged: int
    queries_with_nothing_relevant: int
    queries_with_one_label: int  # their order cannot be right or wrong
    missing_values: int
    missing_share_of: dict[str, float]  # of every feature with missing values
    constant_features: tuple[str, ...]
    duplicate_features: tuple[tuple[str, ...], ...]  # constant ones are left out: they are listed above
    also_has: tuple[str, ...]  # ids, weights, positions, preferences
    remarks: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The summary as plain dictionaries and lists, ready for JSON."""
        return asdict(self)


def summarise(data: RankingDataset) -> Summary:
    """The summary of `data`."""
    require_memory(BYTES_PER_FEATURE * data.n_features, f"a summary of {data.n_features:,} features")
    data = data.dense("a summary")
    facts = feature_facts(data.features, data.groups)
    duplicates = duplicate_columns(data.features, facts, among=~facts.is_constant)
    labels = np.full(data.n_docs, np.nan, np.float32) if data.labels is None else data.labels
    judged = labels[~np.isnan(labels)]
    values, counts = np.unique(judged, return_counts=True)
    few = data.labels is not None and len(values) <= MOST_LEVELS
    with_missing = np.flatnonzero(facts.n_missing)
    shares = facts.n_missing[with_missing] / max(data.n_docs, 1)
    return Summary(
        queries=data.n_queries,
        documents=data.n_docs,
        features=data.n_features,
        documents_per_query=_range(data.groups.sizes),
        labels={f"{value:g}": int(n) for value, n in zip(values, counts, strict=True)} if few else None,
        label_spread=_range(judged),
        unjudged=len(labels) - len(judged),
        queries_with_nothing_relevant=data.n_queries - _queries_where(labels > 0, data.groups),
        queries_with_one_label=data.n_queries - _queries_where(_differs_from_first(labels, data.groups), data.groups),
        missing_values=int(facts.n_missing.sum()),
        missing_share_of=dict(zip(_names(data, with_missing), shares.tolist(), strict=True)),
        constant_features=_names(data, np.flatnonzero(facts.is_constant)) if data.n_docs > 1 else (),
        duplicate_features=tuple(_names(data, columns) for columns in duplicates),
        also_has=tuple(_extras(data)),
        remarks=tuple(remark for suspicion in SUSPICIONS for remark in suspicion(data, facts)),
    )


def _names(data: RankingDataset, features: Iterable[Any]) -> tuple[str, ...]:
    """The names of some features, without making those of all."""
    return tuple(data.feature_names[feature] if data.feature_names else str(feature + 1) for feature in features)


def _range(values: NDArray[Any]) -> NumberRange | None:
    if len(values) == 0:
        return None
    middle = float(values.mean(dtype=np.float64))
    return NumberRange(float(values.min()), float(np.median(values)), middle, float(values.max()))


def _queries_where(chosen: BoolArray, groups: Groups) -> int:
    """The number of queries that have a chosen document."""
    return len(np.unique(groups.query_of_row[chosen]))


def _differs_from_first(labels: Float32Array, groups: Groups) -> BoolArray:
    """Which documents have another label than the first of their query; here, unjudged counts as a label."""
    filled = np.where(np.isnan(labels), np.float32(-1), labels)
    differs: BoolArray = filled != filled[np.repeat(groups.offsets[:-1], groups.sizes)]
    return differs


def _extras(data: RankingDataset) -> Iterator[str]:
    if data.feature_names:
        yield "feature names"
    for field in ("query_ids", "document_ids", "query_weights", "document_weights", "positions", "propensities"):
        if getattr(data, field) is not None:
            yield field.replace("_", " ")
    if data.preferences is not None:
        yield f"{len(data.preferences):,} preferences"


@dataclass(frozen=True, slots=True, eq=False)
class FeatureFacts:
    """Facts with one value for each feature; the last has one for each document."""

    n_missing: IntArray
    n_infinite: IntArray
    is_constant: BoolArray  # the same in every document
    is_constant_in_queries: BoolArray  # the same in every document of a query
    is_rising: BoolArray  # larger in every row than in the row before
    fingerprints: NDArray[np.uint64]  # equal for equal columns, and otherwise only by rare accident
    row_fingerprints: NDArray[np.uint64]


def feature_facts(features: Float32Array, groups: Groups) -> FeatureFacts:
    """The facts about each column of `features`."""
    n_docs, n_features = features.shape
    # Sums of the values' bits times random odd numbers, modulo 2^64.
    rng = np.random.default_rng(0)
    factor_of_row, factor_of_feature = (rng.integers(0, 2**63, n, np.uint64) | np.uint64(1) for n in features.shape)
    starts_query = np.zeros(n_docs + 1, np.bool_)
    starts_query[groups.offsets] = True

    n_missing, n_infinite = np.zeros(n_features, np.int64), np.zeros(n_features, np.int64)
    constant, constant_in_queries, rising = (np.ones(n_features, np.bool_) for _ in range(3))
    fingerprints, row_fingerprints = np.zeros(n_features, np.uint64), np.zeros(n_docs, np.uint64)
    step = _rows_at_a_time(n_features)
    for start in range(0, n_docs, step):
        rows = slice(start, min(start + step, n_docs))
        since = max(start - 1, 0)  # the row before as well, to compare with
        values = _tidy(features[since : rows.stop])
        bits = values.view(np.uint32)
        same = bits[1:] == bits[:-1]
        constant &= same.all(axis=0)
        constant_in_queries &= (same | starts_query[since + 1 : rows.stop, None]).all(axis=0)
        rising &= (values[1:] > values[:-1]).all(axis=0)
        own = slice(start - since, None)
        n_missing += np.isnan(values[own]).sum(axis=0)
        n_infinite += np.isinf(values[own]).sum(axis=0)
        wide = bits[own].astype(np.uint64)
        fingerprints += (wide * factor_of_row[rows, None]).sum(axis=0)
        row_fingerprints[rows] = (wide * factor_of_feature).sum(axis=1)
    return FeatureFacts(n_missing, n_infinite, constant, constant_in_queries, rising, fingerprints, row_fingerprints)


def _rows_at_a_time(n_features: int) -> int:
    return max(1, min(ROWS_AT_A_TIME, VALUES_AT_A_TIME // max(n_features, 1)))


def duplicate_columns(features: Float32Array, facts: FeatureFacts, among: BoolArray | None = None) -> list[list[int]]:
    """The sets of columns that hold the same values, each in ascending order; among all columns or the chosen ones."""
    found: list[list[int]] = []
    columns = np.arange(features.shape[1]) if among is None else np.flatnonzero(among)
    columns = columns[np.argsort(facts.fingerprints[columns], kind="stable")]
    prints = facts.fingerprints[columns]
    starts = np.flatnonzero(np.concatenate([[True], prints[1:] != prints[:-1], [True]]))
    for run in np.flatnonzero(np.diff(starts) > 1):
        alike = columns[starts[run] : starts[run + 1]].tolist()
        first = _tidy(features[:, alike[0]])
        same = [column for column in alike[1:] if np.array_equal(first, _tidy(features[:, column]), equal_nan=True)]
        if same:
            found.append([alike[0], *same])
    return sorted(found)


def duplicate_rows(features: Float32Array, groups: Groups, facts: FeatureFacts) -> tuple[IntArray, IntArray]:
    """Rows whose features equal those of an earlier row of their query, and those earlier rows."""
    query_of_row = groups.query_of_row
    order = np.lexsort((facts.row_fingerprints, query_of_row))
    before, after = order[:-1], order[1:]
    alike = query_of_row[before] == query_of_row[after]
    alike &= facts.row_fingerprints[before] == facts.row_fingerprints[after]
    before, after = before[alike], after[alike]
    same = np.zeros(len(after), np.bool_)
    step = _rows_at_a_time(features.shape[1])
    for start in range(0, len(after), step):
        pairs = slice(start, start + step)
        one, other = (_tidy(features[rows[pairs]]).view(np.uint32) for rows in (before, after))
        same[pairs] = (one == other).all(axis=1)
    return after[same], before[same]


def _tidy(values: Float32Array) -> Float32Array:
    return np.where(np.isnan(values), MISSING, values + np.float32(0))


Suspicion: TypeAlias = Callable[[RankingDataset, FeatureFacts], Iterator[str]]


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


def _a_feature_gives_the_label_away(data: RankingDataset, facts: FeatureFacts) -> Iterator[str]:
    better, worse = _pairs(data)
    if len(better) < FEWEST_PAIRS:
        return
    # A missing value counts as equal to every other. What is the same in all of a query puts nothing in order.
    differ = np.flatnonzero(~facts.is_constant_in_queries)
    for some in np.split(differ, np.arange(0, len(differ), max(1, VALUES_AT_A_TIME // len(better)))):
        right = _right_share(data.features[np.ix_(better, some)], data.features[np.ix_(worse, some)])
        for place in np.flatnonzero(np.maximum(right, 1 - right) >= LEAK_SHARE):
            share, way = max(right[place], 1 - right[place]), "" if right[place] >= LEAK_SHARE else ", upside down"
            alone = f"feature {_names(data, some)[place]} alone puts {share:.1%} of pairs in the right order{way}"
            yield f"{alone}: was it made from the labels?"


def _right_share(first: Float32Array, second: Float32Array) -> Float64Array:
    """The share of pairs in which the first document has the larger value, for each feature; equal is half right."""
    share: Float64Array = 0.5 + 0.5 * ((first > second).mean(axis=0) - (first < second).mean(axis=0))
    return share


def _labels_are_unusual(data: RankingDataset, _facts: FeatureFacts) -> Iterator[str]:
    if data.labels is None:
        return
    judged = data.labels[~np.isnan(data.labels)]
    fractions = judged[judged != np.floor(judged)]
    if len(fractions):
        yield f"labels are not all whole numbers, for example {fractions[0]:g}; some tools and metrics need grades"
    if len(judged) and judged.max() > LARGEST_USUAL_LABEL:
        outweighs = "under the gain 2^label - 1 it outweighs all else; a linear gain may be meant"
        yield f"the largest label is {judged.max():g}: {outweighs}"


def _features_are_not_finite(data: RankingDataset, facts: FeatureFacts) -> Iterator[str]:
    yield from _about(data, facts.n_infinite > 0, "has", "have", "infinite values, which cannot be scaled or averaged")


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
                (name,) = _names(data, [feature])
                yield f"feature {name} is the query id: it teaches a model the training queries by heart"
    if data.n_queries < data.n_docs:
        what = "the same for all documents of a query: alone, that orders nothing"
        yield from _about(data, by_query, "is", "are", what)


def _features_count_rows(data: RankingDataset, facts: FeatureFacts) -> Iterator[str]:
    if data.n_docs >= 10:
        for feature in np.flatnonzero(facts.is_rising):
            yield f"feature {_names(data, [feature])[0]} grows from each row to the next, as a row number does"


def _queries_are_scattered(data: RankingDataset, _facts: FeatureFacts) -> Iterator[str]:
    if data.source_rows is not None:
        apart = np.flatnonzero(np.diff(data.source_rows) != 1) + 1
        inside = np.setdiff1d(apart, data.groups.offsets)
        scattered = np.unique(data.groups.query_of_row[inside])
        if len(scattered):
            queries, example = counted(len(scattered), "query was", "queries were"), _query(data, int(scattered[0]))
            yield f"{queries} scattered over the data and brought together, for example {example}"
    if data.query_ids is not None and len(np.unique(data.query_ids)) < data.n_queries:
        ids, places = distinct_ids(data.query_ids)
        counts = np.bincount(places)
        yield f"several queries have the same id, for example {ids[counts > 1][0]}"


def _queries_have_odd_sizes(data: RankingDataset, _facts: FeatureFacts) -> Iterator[str]:
    sizes = data.groups.sizes
    for size, what in ((0, "no documents"), (1, "one document: any order of it is right")):
        number = int((sizes == size).sum())
        if number:
            yield f"{counted(number, 'query has', 'queries have')} {what}"
    if data.n_queries:
        median, largest = float(np.median(sizes)), int(sizes.max())
        if largest > HUGE_QUERY or (largest > HUGE_AGAINST_MEDIAN * median and data.n_queries >= 10):
            query, times = _query(data, int(sizes.argmax())), largest / max(median, 1)
            yield f"query {query} has {largest:,} documents, {times:,.0f} times the median"


def _documents_are_copies(data: RankingDataset, facts: FeatureFacts) -> Iterator[str]:
    if data.n_features == 0:
        return
    copies, originals = duplicate_rows(data.features, data.groups, facts)
    if len(copies):
        documents = counted(len(copies), "document has", "documents have")
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


def _about(data: RankingDataset, chosen: BoolArray, has: str, have: str, what: str) -> Iterator[str]:
    """A sentence about the chosen features, if there are any."""
    features = np.flatnonzero(chosen)
    names = _names(data, features[:NAMES_SHOWN])
    more = f" and {len(features) - NAMES_SHOWN} more" if len(features) > NAMES_SHOWN else ""
    if len(names) == 1:
        yield f"feature {names[0]} {has} {what}"
    elif names:
        yield f"features {', '.join(names)}{more} {have} {what}"


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
