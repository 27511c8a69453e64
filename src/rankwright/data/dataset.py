"""The dataset every other part works on: flat, ragged, never padded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.arrays import Float32Array, Float64Array, IdArray, IntArray, Seed, as_features, as_ids, as_vector
from rankwright.data.categories import Categories
from rankwright.data.columns import Columns
from rankwright.data.feature_names import numbered_names
from rankwright.data.frames import PandasFrame, coded_features, frame_of, pandas_frame, plain_values, values_of, visible
from rankwright.data.groups import Groups, group_rows, inverse
from rankwright.data.keys import KeyOrder, key_order
from rankwright.data.preferences import Preferences
from rankwright.data.side_columns import Side, as_side, joined_sides, rows_of
from rankwright.data.sparse_rows import SparseRows, joined_rows
from rankwright.data.splits import k_fold, letor_folds, split_queries
from rankwright.errors import InputError, UnknownQueryError, require, require_type
from rankwright.memory import require_memory
from rankwright.tables.text import ShownTable, counted, short

# The types of parts that hold numbers, where they are not float32.
NUMBER_TYPES: Mapping[str, Any] = {"positions": np.int64, "source_rows": np.int64, "initial_scores": np.float64}
PER_DOCUMENT = (
    "labels", "document_weights", "positions", "propensities", "initial_scores", "source_rows", "document_ids",
)  # fmt: skip
PER_QUERY = ("query_weights", "query_ids")
SHOWN_ROWS, SHOWN_COLUMNS = 5, 10  # in a notebook


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class RankingDataset:
    """Documents grouped by query, with features, labels and whatever else is known of them.

    The data is flat: one row for each document, and the rows of a query next to each other. The constructor
    expects rows in that order and arrays as listed below; `from_arrays` takes rows in any order, and `read`,
    `from_frame` and `synthetic` make datasets too. A dataset never changes: methods return new ones.

    Parameters
    ----------
    features : array of float32, or SparseRows, shape (n_docs, n_features)
        One row for each document; NaN is a missing value. A large sparse matrix stays sparse: `dense` gives the data
        with all values.
    labels : array of float32, shape (n_docs,), or None
        Relevance of each document: any finite number of 0 or more, larger is better; NaN is unjudged. None is for
        datasets that have preferences instead, or that are only to be scored.
    groups : Groups
        Which rows belong to which query.
    preferences : Preferences, optional
        Pairs of rows of which one should rank above the other. Where given, rankers that learn from pairs use them
        in place of the pairs that labels make.
    query_weights : array of float32, shape (n_queries,), optional
        How much each query counts in training: finite, 0 or more. Without them all count 1.
    document_weights : array of float32, shape (n_docs,), optional
        How much each document counts in training: finite, 0 or more.
    positions : array of int64, shape (n_docs,), optional
        The rank, counted from 0, at which a click log showed the document.
    propensities : array of float32, shape (n_docs,), optional
        How likely each document was examined where it was shown, above 0 and at most 1: labels are then clicks, which
        training corrects by them or weighs by 1 / propensity (`Ranker.fit`).
    feature_names : tuple of str, default ()
        A name for each feature, or none at all.
    query_ids : array of int64 or str, shape (n_queries,), optional
        The id of each query. Without them queries are known by number.
    document_ids : array of int64 or str, shape (n_docs,), optional
        The id of each document.
    source_rows : array of int64, shape (n_docs,), optional
        The place that each row had in the data it came from; None where no row was moved.
    initial_scores : array of float64, shape (n_docs,), optional
        Scores that training starts from, for example those of a model in use. The trained model does not contain
        them.
    categories : mapping of str to tuple of str, optional
        The features, by name, whose values are codes of categories, and what the codes 0, 1, … stand for.
    side : mapping of str to array of float32, shape (n_docs,), optional
        What else is known of documents, such as a price: numbers, no features. λ-functions and metrics of your own get
        them as parameters of that name.
    feature_origin : str, optional
        How the features were made of texts, as `rankwright.text.FeatureOrigin` tells it in JSON; rankers keep it.

    Attributes
    ----------
    n_docs, n_queries, n_features : int
        The numbers of documents, queries and features.
    names : tuple of str
        The feature names, or where there are none, the numbers from 1.
    qid : array of int64 or str, shape (n_docs,)
        The query id of each row.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.RankingDataset.from_arrays([[0.1], [0.7], [0.3]], [0, 2, 1], qid=["a", "a", "b"])
    >>> data
    RankingDataset(2 queries, 3 documents, 1 feature)
    >>> data.qid.tolist()
    ['a', 'a', 'b']
    """

    features: Float32Array  # (documents, features); NaN = missing; `SparseRows` stand for a large sparse matrix
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
    side: Side | None = None  # by name, what functions of the user's own ask for
    feature_origin: str | None = None  # how features were made of texts, as JSON; models keep it

    def __post_init__(self) -> None:
        n_docs, n_queries = self.groups.n_docs, self.groups.n_queries
        if self.sparse is None:
            object.__setattr__(self, "features", as_features(self.features))
        if len(self.features) != n_docs:
            raise InputError(f"features must have {n_docs} rows, one a document, got {len(self.features)}")
        for names, length in ((PER_DOCUMENT, n_docs), (PER_QUERY, n_queries)):
            for name in names:
                object.__setattr__(self, name, column_named(name, getattr(self, name), length))
        object.__setattr__(self, "side", as_side(self.side, n_docs))
        self._check_meaning()

    def _check_meaning(self) -> None:
        if self.feature_names and len(self.feature_names) != self.n_features:
            raise InputError(f"feature_names must have {self.n_features} names, got {len(self.feature_names)}")
        unknown = [name for name in self.categories or () if name not in self.feature_names]
        if unknown and self.n_features:  # a dataset whose features are kept elsewhere still has their categories
            raise InputError(f"there are categories of {unknown[0]!r}, which is no feature")
        checks: tuple[tuple[str, NDArray[Any] | None, Callable[[NDArray[Any]], NDArray[Any]], str], ...] = (
            ("labels", self.labels, lambda own: (own < 0) | np.isinf(own), "be finite and 0 or more (NaN = unjudged)"),
            ("propensity", self.propensities, not_propensities, "lie above 0 and be at most 1"),
            ("initial_scores", self.initial_scores, lambda own: ~np.isfinite(own), "be finite"),
        )
        for name, values, wrong_in, wanted in checks:
            if values is not None and len(rows := np.flatnonzero(wrong_in(values))):
                raise InputError(f"{name} must {wanted}, but row {rows[0]} has {values[rows[0]]}")
        for name in ("query_weights", "document_weights"):
            weights = getattr(self, name)
            if weights is not None and not ((weights >= 0) & np.isfinite(weights)).all():
                raise InputError(f"{name} must be finite and 0 or more")
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
    def sparse(self) -> SparseRows | None:
        """The features, if only some of their values are stored; None where they are a full matrix."""
        features: Any = self.features
        return features if isinstance(features, SparseRows) else None

    def dense(self, what: str = "the features") -> RankingDataset:
        """The same data with all values of its features.

        Parameters
        ----------
        what : str, default "the features"
            What needs them, for the error where they do not fit memory.

        Returns
        -------
        RankingDataset
            This dataset, or where its features are sparse, one with a full matrix.
        """
        if self.sparse is None:
            return self
        shape = f"{self.n_docs:,} documents × {self.n_features:,} features"
        require_memory(4 * self.n_docs * self.n_features, f"{what}: a matrix of {shape}")
        return replace(self, features=self.sparse.dense())

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
        given: Any = values
        if isinstance(given, SparseRows):
            return given[inverse(self.source_rows)]  # type: ignore[no-any-return]
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

    def with_features(
        self, features: Float32Array, names: Sequence[str], categories: Categories | None
    ) -> RankingDataset:
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

    def with_preferences(self, preferences: Preferences | None) -> RankingDataset:
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

    def with_initial_scores(self, scores: ArrayLike | None) -> RankingDataset:
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

    def take_queries(self, queries: ArrayLike) -> RankingDataset:
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
        rows, preferences = self.groups.rows_of(chosen), self.preferences
        if preferences is not None:
            new_row_of = np.full(self.n_docs, -1)
            new_row_of[rows] = np.arange(len(rows))
            preferences = preferences.moved(new_row_of)
        return self._taken(rows, chosen, preferences=preferences, source_rows=None)

    def in_key_order(self, order: KeyOrder | None = None, *, threads: int | None = None) -> RankingDataset:
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
        preferences = None if self.preferences is None else self.preferences.moved(inverse(order.rows)).sorted()
        source_rows = order.rows if self.source_rows is None else self.source_rows[order.rows]
        return self._taken(order.rows, order.queries, preferences=preferences, source_rows=source_rows)

    def _taken(self, rows: IntArray, queries: IntArray, **others: Any) -> RankingDataset:
        """These rows of these queries; `others` are parts that are not the same values at other places."""
        parts: dict[str, Any] = {"features": self.features[rows], "groups": Groups.of_sizes(self.groups.sizes[queries])}
        for names, places in ((PER_DOCUMENT, rows), (PER_QUERY, queries)):
            parts |= {name: getattr(self, name)[places] for name in names if getattr(self, name) is not None}
        return replace(self, **(parts | {"side": rows_of(self.side, rows)} | others))

    def equals(self, other: RankingDataset) -> bool:
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
        propensities: ArrayLike | None = None,
        initial_scores: ArrayLike | None = None,
        feature_names: Sequence[str] = (),
        document_ids: ArrayLike | None = None,
        absent: str = "zero",
        side: Mapping[str, ArrayLike] | None = None,
    ) -> RankingDataset:
        """A dataset made from arrays whose rows may be in any order.

        The rows of a query are brought together; queries come in the order of their first row. Results can be put
        back into the order of the caller's rows with `in_source_order`, and rankers do so by themselves.

        Parameters
        ----------
        features : array-like, sparse matrix or frame, shape (n_docs, n_features)
            One row for each document; NaN is a missing value. May be a NumPy array, a list of lists, a scipy sparse
            matrix, or a pandas, polars or Arrow table, which brings its column names along.
        labels : array-like, shape (n_docs,), optional
            Relevance of each document: any finite number of 0 or more, larger is better; NaN is unjudged.
        qid : array-like of int or str, shape (n_docs,), optional
            The query id of each row. Give either `qid` or `group`.
        group : array-like of int, optional
            The number of rows of each query, where rows of a query are already together.
        preferences : Preferences, optional
            Pairs of rows, counted as in `features`.
        query_weights : array-like, shape (n_queries,), optional
            One weight for each query, in the order in which queries first appear.
        document_weights : array-like, shape (n_docs,), optional
            One weight for each row.
        positions : array-like of int, shape (n_docs,), optional
            The rank, counted from 0, at which a click log showed the document.
        propensities : array-like, shape (n_docs,), optional
            How likely each document was examined where it was shown, above 0 and at most 1.
        initial_scores : array-like, shape (n_docs,), optional
            Scores that training starts from.
        feature_names : sequence of str, default ()
            A name for each feature. The default takes the names of a frame, if `features` is one.
        document_ids : array-like of int or str, shape (n_docs,), optional
            The id of each document.
        absent : {"zero", "missing"}, default "zero"
            What an entry that a sparse matrix does not store means: 0, or a missing value.
        side : mapping of str to array-like, shape (n_docs,), optional
            What else is known of each row, such as a price, for λ-functions and metrics of your own.

        Returns
        -------
        RankingDataset
            The dataset, its rows grouped by query.

        Examples
        --------
        >>> import rankwright as rw
        >>> data = rw.RankingDataset.from_arrays([[1.0], [2.0], [3.0]], [0, 1, 2], qid=[7, 8, 7])
        >>> data.features[:, 0].tolist()  # the rows of query 7, then that of query 8
        [1.0, 3.0, 2.0]
        >>> data.in_source_order(data.labels).tolist()
        [0.0, 1.0, 2.0]
        """
        matrix, names, categories = coded_features(features, absent=absent)
        qid, group = map(values_of, (qid, group))
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
            require_type(preferences, Preferences, "preferences", "rankwright.Preferences")
            preferences = preferences.moved(inverse(order))
        given = {"labels": labels, "document_weights": document_weights, "document_ids": document_ids}
        given |= {"positions": positions, "propensities": propensities, "initial_scores": initial_scores}
        by_row: dict[str, Any] = {name: column_named(name, values, len(matrix)) for name, values in given.items()}
        by_row["features"] = matrix
        beside = as_side(side, len(matrix))
        if order is not None:
            by_row = {name: None if values is None else values[order] for name, values in by_row.items()}
            beside = rows_of(beside, order)
        weights = column_named("query_weights", query_weights, groups.n_queries)
        by_query: dict[str, Any] = {"groups": groups, "query_ids": query_ids, "query_weights": weights}
        features_are: dict[str, Any] = {"feature_names": tuple(feature_names) or names, "categories": categories}
        return cls(**by_row, **by_query, **features_are, preferences=preferences, source_rows=order, side=beside)

    def __repr__(self) -> str:
        queries, documents = counted(self.n_queries, "query"), counted(self.n_docs, "document")
        return f"RankingDataset({queries}, {documents}, {counted(self.n_features, 'feature')})"

    def __len__(self) -> int:
        """The number of documents."""
        return self.n_docs

    def __bool__(self) -> bool:
        """True: a dataset without documents is still one."""
        return True

    __iter__ = None  # a dataset is no sequence: `data[query]` is a query, not a row

    def __getitem__(self, query: Any) -> RankingDataset:
        """The dataset of one query, or of a list of queries, by id; by number from 0 where queries have no ids."""
        wanted = query if isinstance(query, list | tuple | np.ndarray) else [query]
        ids = range(self.n_queries) if self.query_ids is None else self.query_ids.tolist()
        number_of = {str(own): number for number, own in enumerate(ids)}
        unknown = [one for one in wanted if str(one) not in number_of]
        if unknown:
            first = ", ".join(map(str, list(ids)[:3]))
            raise UnknownQueryError(f"there is no query {unknown[0]!r}; ids are such as {first}")
        return self.take_queries([number_of[str(one)] for one in wanted])

    def head(self, n: int = 5) -> PandasFrame:
        """The first documents, as a pandas frame.

        Parameters
        ----------
        n : int, default 5
            How many documents to show.

        Returns
        -------
        pandas.DataFrame
            Query ids, labels and features of the first `n` rows of the data that this dataset was made from.
        """
        roles, names = role_columns(self), {"query": "qid", "label": "label"}
        shown = {name: roles[role][:n] for role, name in names.items() if role in roles}
        return pandas_frame(shown, self.names, np.asarray(self.in_source_order(self.features)[:n]))

    def columns(self) -> dict[str, Any]:
        """Return the data as columns, in the order of the data it was made from.

        Returns
        -------
        dict
            Columns by name: the query's id, the document's, the label and the weights, as far as there are any, side
            columns, then the features.
        """
        features = self.in_source_order(self.dense("a table").features)
        roles = {Columns().written(role): column for role, column in role_columns(self).items()}
        roles |= {name: self.in_source_order(column) for name, column in (self.side or {}).items()}
        return roles | {name: features[:, place] for place, name in enumerate(self.names)}

    def to_frame(self) -> PandasFrame:
        """Return the data as a frame, one row for each document.

        Returns
        -------
        pandas.DataFrame, or polars.DataFrame where pandas is not installed
            The columns of `columns`.
        """
        return frame_of({name: plain_values(part) for name, part in self.columns().items()})

    def _repr_html_(self) -> str:
        found = {name: part[:SHOWN_ROWS].tolist() for name, part in self.columns().items()}
        names = [*list(found)[:SHOWN_COLUMNS], *(["…"] if len(found) > SHOWN_COLUMNS else [])]
        rows = [
            [short(found[name][row]) if name in found else "…" for name in names]
            for row in range(min(self.n_docs, SHOWN_ROWS))
        ]
        return ShownTable(repr(self), names, rows, names).html()

    def __dir__(self) -> list[str]:
        return visible(object.__dir__(self))

    def split(self, *, valid: float = 0.2, test: float | None = None, seed: Seed = 0) -> tuple[RankingDataset, ...]:
        """Split the queries at random into parts to train on, to validate on and, on request, to test on.

        Parameters
        ----------
        valid : float, default 0.2
            Share of the queries to validate on, between 0 and 1.
        test : float, optional
            Share of the queries to test on, between 0 and 1. The default makes no such part.
        seed : int or numpy.random.Generator, default 0
            Where the draw starts: the same seed gives the same parts.

        Returns
        -------
        tuple of RankingDataset
            (train, valid), or (train, valid, test) where `test` is given. No query is cut, and no part is empty.

        Examples
        --------
        >>> import rankwright as rw
        >>> train, valid, test = rw.synthetic.random_polynomial(50).split(valid=0.2, test=0.2)
        >>> train.n_queries, valid.n_queries, test.n_queries
        (30, 10, 10)
        """
        parts = split_queries(self.groups, valid=valid, test=test, seed=seed, order=key_order(self).queries)
        return tuple(self.take_queries(part) for part in parts)

    def k_fold(
        self, k: int = 5, *, shuffle: bool = True, seed: Seed = 0
    ) -> Iterator[tuple[RankingDataset, RankingDataset]]:
        """Split the queries into folds for cross-validation.

        Parameters
        ----------
        k : int, default 5
            The number of folds, 2 or more.
        shuffle : bool, default True
            Whether queries are dealt to the folds at random, so that all folds have about as many documents. Otherwise
            folds are runs of neighbouring queries.
        seed : int or numpy.random.Generator, default 0
            Where the draw starts.

        Yields
        ------
        train, test : RankingDataset
            The data to train on and to test on. Every query is in the test part of exactly one fold.

        Examples
        --------
        >>> import rankwright as rw
        >>> data = rw.synthetic.random_polynomial(10)
        >>> [(train.n_queries, test.n_queries) for train, test in data.k_fold(5)]
        [(8, 2), (8, 2), (8, 2), (8, 2), (8, 2)]
        """
        for fold in k_fold(self.groups, k, shuffle=shuffle, seed=seed, order=key_order(self).queries):
            yield self.take_queries(fold.train), self.take_queries(fold.test)

    def letor_folds(self) -> Iterator[tuple[RankingDataset, RankingDataset, RankingDataset]]:
        """Split the queries into LETOR's five folds.

        The queries are cut into five runs of neighbours. Each fold trains on three of them, validates on the next and
        tests on the one after.

        Yields
        ------
        train, valid, test : RankingDataset
            The three parts of a fold.
        """
        for fold in letor_folds(self.groups):
            yield self.take_queries(fold.train), self.take_queries(fold.valid), self.take_queries(fold.test)


def role_columns(data: RankingDataset, first_query: int = 0) -> dict[str, NDArray[Any]]:
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


def not_propensities(values: Float32Array) -> NDArray[Any]:
    """Which values cannot be propensities, which lie above 0 and are at most 1."""
    return ~((values > 0) & (values <= 1))


def column_named(name: str, values: ArrayLike | None, length: int) -> NDArray[Any] | None:
    """The part of a dataset of that name, which has a value for each document or query; None where it is absent."""
    if values is None:
        return None
    if name in ("query_ids", "document_ids"):
        return as_ids(values_of(values), name=name, length=length)
    return as_vector(values_of(values), name=name, dtype=NUMBER_TYPES.get(name, np.float32), length=length)


def _parts(data: RankingDataset) -> dict[str, Any]:
    parts = {field.name: getattr(data, field.name) for field in fields(data)}
    parts["groups"] = data.groups.offsets
    preferences = parts.pop("preferences")
    if preferences is not None:
        parts |= {field.name: getattr(preferences, field.name) for field in fields(preferences)}
    parts |= {f"side {name}": column for name, column in (parts.pop("side") or {}).items()}
    return {name: value for name, value in parts.items() if value is not None}


def _same(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, SparseRows) and isinstance(theirs, SparseRows):
        return all(_same(*pair) for pair in zip(mine.arrays(), theirs.arrays(), strict=True))
    if isinstance(mine, np.ndarray | SparseRows):
        mine, theirs = np.asarray(mine), np.asarray(theirs)
        numeric = mine.dtype.kind == "f"
        return mine.shape == theirs.shape and bool(np.array_equal(mine, theirs, equal_nan=numeric))
    return bool(mine == theirs)


def joined(parts: Sequence[RankingDataset]) -> RankingDataset:
    """The queries of one part after those of another: features, labels, initial scores and side columns alone."""
    if any(part.labels is None for part in parts):
        raise InputError("each of several datasets must have labels, and one has none")
    starts = None
    if any(part.initial_scores is not None for part in parts):
        given = (np.zeros(part.n_docs) if part.initial_scores is None else part.initial_scores for part in parts)
        starts = np.concatenate(list(given))
    return RankingDataset(
        features=joined_rows([part.features for part in parts]),
        labels=np.concatenate([part.labels for part in parts if part.labels is not None]),
        groups=Groups.of_sizes(np.concatenate([part.groups.sizes for part in parts])),
        initial_scores=starts,
        feature_names=parts[0].feature_names,
        categories=parts[0].categories,
        side=joined_sides([part.side for part in parts]),
        feature_origin=one_origin(part.feature_origin for part in parts),
    )


def one_origin(origins: Iterable[str | None]) -> str | None:
    """How the features of several datasets or files were made, if that is the same for all of them."""
    different = set(origins)
    return different.pop() if len(different) == 1 else None


def call_irrelevant(data: RankingDataset, share: float | None, rng: np.random.Generator) -> RankingDataset:
    """The data with a random share of its unjudged documents labelled 0; unchanged where `share` is None.

    RankNet, section 6.1: judges see the top of a list, so what they call poor is often fair. Documents that no one
    judged show a ranker better what irrelevant ones are like. The draw is over all unjudged documents together, as in
    the paper, which took 2 % of them.
    """
    if share is None:
        return data
    require(0 <= share <= 1, f"unjudged must be a share between 0 and 1, got {share}")
    if data.labels is None:
        return data
    unjudged = np.flatnonzero(np.isnan(data.labels))
    labels = data.labels.copy()
    labels[rng.choice(unjudged, size=round(share * len(unjudged)), replace=False)] = 0.0
    return replace(data, labels=labels)
