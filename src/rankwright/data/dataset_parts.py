"""What a dataset holds, checked, and the order of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IdArray, IntArray, as_features, as_ids, as_vector
from rankwright.data.categories import Categories
from rankwright.data.frames import values_of
from rankwright.data.groups import Groups
from rankwright.data.keys import KeyOrder, key_order
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, require_type

# The types of parts that hold numbers; the others hold ids.
VECTORS: Mapping[str, type[np.generic]] = {
    "labels": np.float32,
    "document_weights": np.float32,
    "positions": np.int64,
    "propensities": np.float32,
    "initial_scores": np.float64,
    "source_rows": np.int64,
    "query_weights": np.float32,
}
PER_DOCUMENT = (
    "labels", "document_weights", "positions", "propensities", "initial_scores", "source_rows", "document_ids",
)  # fmt: skip
PER_QUERY = ("query_weights", "query_ids")


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class DatasetParts:
    """The parts of a dataset, which belong together row by row and query by query."""

    features: Float32Array  # (documents, features); NaN = missing
    labels: Float32Array | None  # any non-negative number; NaN = unjudged; None only beside preferences
    groups: Groups
    preferences: Preferences | None = None
    query_weights: Float32Array | None = None
    document_weights: Float32Array | None = None
    positions: IntArray | None = None  # the rank, from 0, at which a click log showed the document
    propensities: Float32Array | None = None  # how likely the document was examined there
    feature_names: tuple[str, ...] = ()
    query_ids: IdArray | None = None
    document_ids: IdArray | None = None
    source_rows: IntArray | None = None
    initial_scores: Float64Array | None = None  # what training starts from; no part of what is learned
    categories: Categories | None = None  # of the features that hold codes

    def __post_init__(self) -> None:
        n_docs, n_queries = self.groups.n_docs, self.groups.n_queries
        object.__setattr__(self, "features", as_features(self.features))
        if len(self.features) != n_docs:
            raise InputError(f"features must have {n_docs} rows, one a document, got {len(self.features)}")
        for names, length in ((PER_DOCUMENT, n_docs), (PER_QUERY, n_queries)):
            for name in names:
                object.__setattr__(self, name, column_named(name, getattr(self, name), length))
        self._check_meaning()

    def _check_meaning(self) -> None:
        if self.feature_names and len(self.feature_names) != self.n_features:
            raise InputError(f"feature_names must have {self.n_features} names, got {len(self.feature_names)}")
        unknown = [name for name in self.categories or () if name not in self.feature_names]
        if unknown and self.n_features:  # a dataset whose features are kept elsewhere still has their categories
            raise InputError(f"there are categories of {unknown[0]!r}, which is no feature")
        if self.labels is not None and ((self.labels < 0) | np.isinf(self.labels)).any():
            row = int(np.flatnonzero((self.labels < 0) | np.isinf(self.labels))[0])
            raise InputError(
                f"labels must be finite and 0 or more (NaN = unjudged), but row {row} has {self.labels[row]}"
            )
        if self.propensities is not None and not_propensities(self.propensities).any():
            row = int(np.flatnonzero(not_propensities(self.propensities))[0])
            raise InputError(
                f"propensity must lie above 0 and be at most 1, but row {row} has {self.propensities[row]}"
            )
        for name in ("query_weights", "document_weights"):
            weights = getattr(self, name)
            if weights is not None and not ((weights >= 0) & np.isfinite(weights)).all():
                raise InputError(f"{name} must be finite and 0 or more")
        if self.initial_scores is not None and not np.isfinite(self.initial_scores).all():
            row = int(np.flatnonzero(~np.isfinite(self.initial_scores))[0])
            raise InputError(f"initial_scores must be finite, but row {row} has {self.initial_scores[row]}")
        if self.preferences is not None:
            require_type(self.preferences, Preferences, "preferences", "rankwright.Preferences")
            self.preferences.check(self.groups)

    @property
    def n_docs(self) -> int:
        """The number of documents."""
        return self.groups.n_docs

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return self.groups.n_queries

    @property
    def n_features(self) -> int:
        """The number of features of each document."""
        return int(self.features.shape[1])

    @property
    def names(self) -> tuple[str, ...]:
        """The feature names; where there are none, the numbers from 1, as LETOR files count features."""
        return self.feature_names or numbered_names(self.n_features)

    @property
    def qid(self) -> IdArray:
        """The query id of each row; where queries have no ids, their numbers from 0."""
        ids = np.arange(self.n_queries) if self.query_ids is None else self.query_ids
        return np.repeat(ids, self.groups.sizes)

    def in_source_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Put values of this dataset's rows into the order of the data it was made from.

        Parameters
        ----------
        values : array, shape (n_docs, ...)
            One value, or one row of values, for each row of this dataset.

        Returns
        -------
        array
            The same values, in the order the rows had in the caller's data.
        """
        if self.source_rows is None:
            return values
        result = np.empty_like(values)
        result[self.source_rows] = values
        return result

    def from_source_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Put values of the caller's rows into the order of this dataset's rows: the inverse of `in_source_order`.

        Parameters
        ----------
        values : array, shape (n_docs, ...)
            One value, or one row of values, for each row of the data this dataset was made from.

        Returns
        -------
        array
            The same values, in the order of this dataset's rows.
        """
        return values if self.source_rows is None else values[self.source_rows]

    def with_features(self, features: Float32Array, names: Sequence[str], categories: Categories | None) -> Self:
        """The same documents with other features.

        Parameters
        ----------
        features : array of float32, shape (n_docs, any)
            The features, in the order of this dataset's rows.
        names : sequence of str
            Their names, or none.
        categories : mapping of str to tuple of str, or None
            What the codes of those features stand for that hold categories.

        Returns
        -------
        RankingDataset
            The documents with these features and everything else they had.
        """
        return replace(self, features=features, feature_names=tuple(names), categories=categories)

    def with_preferences(self, preferences: Preferences | None) -> Self:
        """The same dataset with other preferences.

        Parameters
        ----------
        preferences : Preferences or None
            Pairs of rows, counted as in the data this dataset was made from. None removes the preferences.

        Returns
        -------
        RankingDataset
            The dataset with these preferences in place of those it had.
        """
        if preferences is not None and self.source_rows is not None:
            preferences = preferences.moved(inverse(self.source_rows))
        return replace(self, preferences=preferences)

    def with_initial_scores(self, scores: ArrayLike | None) -> Self:
        """The same dataset with other scores to start training from.

        Parameters
        ----------
        scores : array-like, shape (n_docs,), or None
            One finite score for each row, in the order of the data this dataset was made from. None removes them.

        Returns
        -------
        RankingDataset
            The dataset with these initial scores.
        """
        if scores is None:
            return replace(self, initial_scores=None)
        given = as_vector(values_of(scores), name="initial_scores", dtype=np.float64, length=self.n_docs)
        return replace(self, initial_scores=self.from_source_order(given))

    def take_queries(self, queries: ArrayLike) -> Self:
        """The dataset of some of the queries.

        Parameters
        ----------
        queries : array-like of int
            The queries to keep, by number from 0, in the order they should have. A query may occur more than once.

        Returns
        -------
        RankingDataset
            Those queries with all that belongs to them. Its rows count as its source: `source_rows` is None.

        Examples
        --------
        >>> import rankwright as rw
        >>> data = rw.RankingDataset.from_arrays([[1.0], [2.0], [3.0]], qid=["a", "b", "c"])
        >>> data.take_queries([2, 0]).qid.tolist()
        ['c', 'a']
        """
        chosen = as_vector(queries, name="queries", dtype=np.int64)
        if len(chosen) and (chosen.min() < 0 or chosen.max() >= self.n_queries):
            raise InputError(f"queries must lie between 0 and {self.n_queries - 1}")
        rows = self.groups.rows_of(chosen)
        changes: dict[str, Any] = {"features": self.features[rows]}
        for names, places in ((PER_DOCUMENT, rows), (PER_QUERY, chosen)):
            changes |= {name: getattr(self, name)[places] for name in names if getattr(self, name) is not None}
        if self.preferences is not None:
            new_row_of = np.full(self.n_docs, -1)
            new_row_of[rows] = np.arange(len(rows))
            changes["preferences"] = self.preferences.moved(new_row_of)
        return replace(self, **(changes | {"groups": Groups.of_sizes(self.groups.sizes[chosen]), "source_rows": None}))

    def in_key_order(self, order: KeyOrder | None = None, *, threads: int | None = None) -> Self:
        """The same data in an order that depends on what it holds, and not on the order it was given in.

        Rankers put their training data in this order, so that rows and queries may come in any.

        Parameters
        ----------
        order : KeyOrder, optional
            The order, where it is known already.
        threads : int, optional
            The number of threads; the default is `OMP_NUM_THREADS`, or else every core.

        Returns
        -------
        RankingDataset
            Queries, and the documents of each, in the order of their keys. `in_source_order` still puts results into
            the order of the caller's rows.

        Examples
        --------
        >>> import rankwright as rw
        >>> data = rw.RankingDataset.from_arrays([[1.0], [2.0], [3.0]], [0, 1, 2], qid=[7, 7, 8])
        >>> again = rw.RankingDataset.from_arrays([[3.0], [2.0], [1.0]], [2, 1, 0], qid=[8, 7, 7])
        >>> data.in_key_order().labels.tolist() == again.in_key_order().labels.tolist()
        True
        """
        order = key_order(self, threads=threads) if order is None else order
        if order.changes_nothing:
            return self if self.preferences is None else replace(self, preferences=self.preferences.sorted())
        changes: dict[str, Any] = {"features": self.features[order.rows]}
        for names, places in ((PER_DOCUMENT, order.rows), (PER_QUERY, order.queries)):
            changes |= {name: getattr(self, name)[places] for name in names if getattr(self, name) is not None}
        if self.preferences is not None:
            changes["preferences"] = self.preferences.moved(inverse(order.rows)).sorted()
        changes.setdefault("source_rows", order.rows)
        return replace(self, **changes, groups=Groups.of_sizes(self.groups.sizes[order.queries]))

    def equals(self, other: DatasetParts) -> bool:
        """Whether another dataset is the same in every part.

        Parameters
        ----------
        other : RankingDataset
            The dataset to compare with.

        Returns
        -------
        bool
            True where all arrays have the same values; a missing value equals a missing value.
        """
        mine, theirs = _parts(self), _parts(other)
        return mine.keys() == theirs.keys() and all(_same(mine[name], theirs[name]) for name in mine)


def numbered_names(n_features: int) -> tuple[str, ...]:
    """The names of features that have none: their numbers from 1, as LETOR files count them."""
    return tuple(str(number) for number in range(1, n_features + 1))


def role_columns(data: DatasetParts, first_query: int = 0) -> dict[str, NDArray[Any]]:
    """The columns that a table of the data has besides features, by role, in the order of the data's source; ids first.

    Queries without ids are numbered from `first_query`.
    """
    weights = data.query_weights
    columns = {
        "query": data.qid if data.query_ids is not None else data.qid + first_query,
        "document": data.document_ids,
        "position": data.positions,
        "propensity": data.propensities,
        "label": data.labels,
        "query_weight": None if weights is None else np.repeat(weights, data.groups.sizes),
        "document_weight": data.document_weights,
    }
    return {role: data.in_source_order(column) for role, column in columns.items() if column is not None}


def not_propensities(values: Float32Array) -> BoolArray:
    """Which values cannot be propensities, which lie above 0 and are at most 1."""
    wrong: BoolArray = ~((values > 0) & (values <= 1))
    return wrong


def column_named(name: str, values: ArrayLike | None, length: int) -> NDArray[Any] | None:
    """The part of a dataset of that name, which has a value for each document or query; None where it is absent."""
    if values is None:
        return None
    if name not in VECTORS:
        return as_ids(values_of(values), name=name, length=length)
    return as_vector(values_of(values), name=name, dtype=VECTORS[name], length=length)


def inverse(order: IntArray) -> IntArray:
    """The order that undoes another: the new place of each old row."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places


def _parts(data: DatasetParts) -> dict[str, Any]:
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
