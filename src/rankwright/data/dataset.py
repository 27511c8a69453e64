"""The dataset every other part works on: flat, ragged, never padded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.arrays import Float32Array, Float64Array, IdArray, IntArray, as_features, as_ids, as_vector
from rankwright.data.frames import features_of, values_of
from rankwright.data.groups import Groups, group_rows
from rankwright.data.preferences import Preferences
from rankwright.data.seeds import Seed
from rankwright.data.splits import k_fold, letor_folds, split_queries
from rankwright.errors import InputError

PER_DOCUMENT = ("features", "labels", "document_weights", "positions", "initial_scores", "document_ids", "source_rows")
PER_QUERY = ("query_weights", "query_ids")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RankingDataset:
    """Documents of queries, with what the judges, the log or the engine said of them.

    The constructor expects a query's rows together; `from_arrays` takes rows in any order. `source_rows[row]` is the
    place the row had in the caller's data, None where nothing was moved: `in_source_order` gives results back in it.
    """

    features: Float32Array  # (documents, features); NaN = missing
    labels: Float32Array | None  # any non-negative number; NaN = unjudged; None only beside preferences
    groups: Groups
    preferences: Preferences | None = None
    query_weights: Float32Array | None = None
    document_weights: Float32Array | None = None
    positions: IntArray | None = None  # the rank, from 0, at which a click log showed the document
    feature_names: tuple[str, ...] = ()
    query_ids: IdArray | None = None
    document_ids: IdArray | None = None
    source_rows: IntArray | None = None
    initial_scores: Float64Array | None = None  # what training starts from; no part of what is learned

    def __post_init__(self) -> None:
        n_docs, n_queries = self.groups.n_docs, self.groups.n_queries
        self._set("features", as_features(self.features))
        if len(self.features) != n_docs:
            raise InputError(f"features must have {n_docs} rows, one a document, got {len(self.features)}")
        self._check_vector("labels", np.float32, n_docs)
        self._check_vector("document_weights", np.float32, n_docs)
        self._check_vector("query_weights", np.float32, n_queries)
        self._check_vector("positions", np.int64, n_docs)
        self._check_vector("source_rows", np.int64, n_docs)
        self._check_vector("initial_scores", np.float64, n_docs)
        if self.query_ids is not None:
            self._set("query_ids", as_ids(self.query_ids, name="query_ids", length=n_queries))
        if self.document_ids is not None:
            self._set("document_ids", as_ids(self.document_ids, name="document_ids", length=n_docs))
        self._check_meaning()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_vector(self, name: str, dtype: type[np.generic], length: int) -> None:
        value = getattr(self, name)
        if value is not None:
            self._set(name, as_vector(value, name=name, dtype=dtype, length=length))

    def _check_meaning(self) -> None:
        if self.feature_names and len(self.feature_names) != self.n_features:
            raise InputError(f"feature_names must have {self.n_features} names, got {len(self.feature_names)}")
        if self.labels is not None and ((self.labels < 0) | np.isinf(self.labels)).any():
            row = int(np.flatnonzero((self.labels < 0) | np.isinf(self.labels))[0])
            raise InputError(
                f"labels must be finite and 0 or more (NaN = unjudged), but row {row} has {self.labels[row]}"
            )
        for name in ("query_weights", "document_weights"):
            weights = getattr(self, name)
            if weights is not None and not ((weights >= 0) & np.isfinite(weights)).all():
                raise InputError(f"{name} must be finite and 0 or more")
        if self.initial_scores is not None and not np.isfinite(self.initial_scores).all():
            row = int(np.flatnonzero(~np.isfinite(self.initial_scores))[0])
            raise InputError(f"initial_scores must be finite, but row {row} has {self.initial_scores[row]}")
        if self.preferences is not None:
            self.preferences.check(self.groups)

    @classmethod
    def from_arrays(
        cls,
        features: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        preferences: Preferences | None = None,
        query_weights: ArrayLike | None = None,
        document_weights: ArrayLike | None = None,
        positions: ArrayLike | None = None,
        initial_scores: ArrayLike | None = None,
        feature_names: Sequence[str] = (),
        document_ids: ArrayLike | None = None,
        absent: str = "zero",
    ) -> RankingDataset:
        """A dataset of rows in any order, told apart by a query id a row (`qid`) or by group sizes (`group`).

        Rows of a query are brought together; queries stand in the order of their first row. Preferences name rows as
        the caller numbers them. `query_weights` has one value a query, in the order in which queries first appear.
        Features may also be a scipy sparse matrix, whose absent entries are 0, or NaN with `absent="missing"`, or a
        frame, which brings its names along; the others may be Series or Arrow arrays.
        """
        matrix, names = features_of(features, absent=absent)
        labels, qid, group, document_ids = map(values_of, (labels, qid, group, document_ids))
        query_weights, document_weights, positions = map(values_of, (query_weights, document_weights, positions))
        initial_scores = values_of(initial_scores)
        if (qid is None) == (group is None):
            raise InputError("give either qid, an id for each row, or group, the number of rows of each query")
        if group is not None:
            groups, query_ids, order = Groups.of_sizes(group), None, None
            if groups.n_docs != len(matrix):
                raise InputError(f"group sizes add up to {groups.n_docs} rows, but features have {len(matrix)}")
        else:
            grouping = group_rows(as_ids(qid, name="qid", length=len(matrix)))
            groups, query_ids, order = grouping.groups, grouping.query_ids, grouping.order
        if preferences is not None and order is not None:
            preferences = preferences.moved(_inverse(order))
        by_row = {
            "features": matrix,
            "labels": _vector_or_none(labels, "labels", np.float32, len(matrix)),
            "document_weights": _vector_or_none(document_weights, "document_weights", np.float32, len(matrix)),
            "positions": _vector_or_none(positions, "positions", np.int64, len(matrix)),
            "initial_scores": _vector_or_none(initial_scores, "initial_scores", np.float64, len(matrix)),
            "document_ids": None
            if document_ids is None
            else as_ids(document_ids, name="document_ids", length=len(matrix)),
        }
        if order is not None:
            by_row = {name: None if values is None else values[order] for name, values in by_row.items()}
        return cls(
            **by_row,  # type: ignore[arg-type]  # one dictionary, several array types
            groups=groups,
            preferences=preferences,
            query_weights=_vector_or_none(query_weights, "query_weights", np.float32, groups.n_queries),
            feature_names=tuple(feature_names) or names,
            query_ids=query_ids,
            source_rows=order,
        )

    @property
    def n_docs(self) -> int:
        """How many documents there are."""
        return self.groups.n_docs

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return self.groups.n_queries

    @property
    def n_features(self) -> int:
        """How many features each document has."""
        return int(self.features.shape[1])

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names; where none were given, their numbers from 1, as LETOR files count them."""
        return self.feature_names or numbered_names(self.n_features)

    @property
    def qid(self) -> IdArray:
        """The query id of each row; where queries have no ids, their numbers from 0."""
        ids = np.arange(self.n_queries) if self.query_ids is None else self.query_ids
        return np.repeat(ids, self.groups.sizes)

    def __repr__(self) -> str:
        return f"RankingDataset({self.n_queries} queries, {self.n_docs} documents, {self.n_features} features)"

    def in_source_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """`values`, one a row, in the order the rows had in the caller's data."""
        if self.source_rows is None:
            return values
        result = np.empty_like(values)
        result[self.source_rows] = values
        return result

    def from_source_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """`values`, one a row of the caller's data, in the order of this dataset's rows."""
        return values if self.source_rows is None else values[self.source_rows]

    def with_preferences(self, preferences: Preferences | None) -> RankingDataset:
        """The dataset with these preferences, whose rows count as in the caller's data."""
        if preferences is not None and self.source_rows is not None:
            preferences = preferences.moved(_inverse(self.source_rows))
        return replace(self, preferences=preferences)

    def with_initial_scores(self, scores: ArrayLike | None) -> RankingDataset:
        """The dataset with these scores to start training from, one a row in the order of the caller's data."""
        if scores is None:
            return replace(self, initial_scores=None)
        given = as_vector(values_of(scores), name="initial_scores", dtype=np.float64, length=self.n_docs)
        return replace(self, initial_scores=self.from_source_order(given))

    def take_queries(self, queries: ArrayLike) -> RankingDataset:
        """The dataset of the given queries alone, in the given order; its source is this dataset's row order."""
        chosen = as_vector(queries, name="queries", dtype=np.int64)
        if len(chosen) and (chosen.min() < 0 or chosen.max() >= self.n_queries):
            raise InputError(f"queries must lie between 0 and {self.n_queries - 1}")
        rows = self.groups.rows_of(chosen)
        changes: dict[str, Any] = {name: getattr(self, name) for name in PER_DOCUMENT + PER_QUERY}
        changes |= {name: changes[name][rows] for name in PER_DOCUMENT if changes[name] is not None}
        changes |= {name: changes[name][chosen] for name in PER_QUERY if changes[name] is not None}
        if self.preferences is not None:
            new_row_of = np.full(self.n_docs, -1)
            new_row_of[rows] = np.arange(len(rows))
            changes["preferences"] = self.preferences.moved(new_row_of)
        return replace(self, **(changes | {"groups": Groups.of_sizes(self.groups.sizes[chosen]), "source_rows": None}))

    def split(self, *, valid: float = 0.2, test: float | None = None, seed: Seed = 0) -> tuple[RankingDataset, ...]:
        """The data to train on, to validate on and, where `test` is given, to test on; queries are drawn at random.

        `valid` and `test` are shares of the queries. No query is cut.
        """
        return tuple(self.take_queries(part) for part in split_queries(self.groups, valid=valid, test=test, seed=seed))

    def k_fold(
        self, k: int = 5, *, shuffle: bool = True, seed: Seed = 0
    ) -> Iterator[tuple[RankingDataset, RankingDataset]]:
        """The data to train on and to test on, fold after fold; every query is tested on once, and none is cut."""
        for fold in k_fold(self.groups, k, shuffle=shuffle, seed=seed):
            yield self.take_queries(fold.train), self.take_queries(fold.test)

    def letor_folds(self) -> Iterator[tuple[RankingDataset, RankingDataset, RankingDataset]]:
        """LETOR's five folds: the data to train on (three fifths), to validate on and to test on, fold after fold."""
        for fold in letor_folds(self.groups):
            yield self.take_queries(fold.train), self.take_queries(fold.valid), self.take_queries(fold.test)

    def equals(self, other: RankingDataset) -> bool:
        """Whether every part of `other` is the same, missing values counted as equal."""
        mine, theirs = _parts(self), _parts(other)
        return mine.keys() == theirs.keys() and all(_same(mine[name], theirs[name]) for name in mine)


def numbered_names(n_features: int) -> tuple[str, ...]:
    """What features without names are called: their numbers from 1, as LETOR files count them."""
    return tuple(str(number) for number in range(1, n_features + 1))


def _vector_or_none(values: ArrayLike | None, name: str, dtype: type[np.generic], length: int) -> NDArray[Any] | None:
    return None if values is None else as_vector(values, name=name, dtype=dtype, length=length)


def _inverse(order: IntArray) -> IntArray:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse


def _parts(data: RankingDataset) -> dict[str, Any]:
    parts = {field.name: getattr(data, field.name) for field in fields(data)}
    parts["groups"] = data.groups.offsets
    preferences = parts.pop("preferences")
    if preferences is not None:
        parts |= {field.name: getattr(preferences, field.name) for field in fields(preferences)}
    return {name: value for name, value in parts.items() if value is not None}


def _same(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, np.ndarray):
        numeric = mine.dtype.kind == "f"
        return mine.shape == theirs.shape and bool(np.array_equal(mine, theirs, equal_nan=numeric))
    return bool(mine == theirs)
