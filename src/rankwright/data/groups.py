"""Where each query's rows lie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.arrays import IdArray, IntArray, as_vector
from rankwright.errors import InputError, require_input


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Which rows belong to which query: query q owns the rows from `offsets[q]` up to `offsets[q + 1]`.

    Every row belongs to a query, and the rows of a query are next to each other.

    Parameters
    ----------
    offsets : array-like of int, shape (n_queries + 1,)
        The first row of each query, and at the end the number of rows. Begins with 0 and never decreases.

    Attributes
    ----------
    n_queries, n_docs : int
        The numbers of queries and of documents.
    sizes : array of int64, shape (n_queries,)
        The number of documents of each query.
    query_of_row : array of int64, shape (n_docs,)
        The query, by number from 0, of each row.

    Examples
    --------
    >>> import rankwright as rw
    >>> groups = rw.Groups([0, 2, 5])
    >>> groups.sizes.tolist(), groups.query_of_row.tolist()
    ([2, 3], [0, 0, 1, 1, 1])
    """

    offsets: IntArray

    def __post_init__(self) -> None:
        offsets = as_vector(self.offsets, name="offsets", dtype=np.int64)
        require_input(len(offsets) != 0 and offsets[0] == 0, "offsets must start with 0")
        require_input(not (np.diff(offsets) < 0).any(), "offsets must not decrease")
        object.__setattr__(self, "offsets", offsets)

    @classmethod
    def of_sizes(cls, sizes: ArrayLike) -> Groups:
        """Groups of the given numbers of documents.

        Parameters
        ----------
        sizes : array-like of int
            The number of documents of each query, 0 or more.

        Returns
        -------
        Groups
            The groups, one after another.

        Examples
        --------
        >>> import rankwright as rw
        >>> rw.Groups.of_sizes([2, 3]).offsets.tolist()
        [0, 2, 5]
        """
        counts = as_vector(sizes, name="group sizes", dtype=np.int64)
        if (counts < 0).any():
            raise InputError(f"group sizes must not be negative, got {int(counts.min())}")
        return cls(np.concatenate([[0], np.cumsum(counts)]))

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return len(self.offsets) - 1

    @property
    def n_docs(self) -> int:
        """The number of documents of all queries together."""
        return int(self.offsets[-1])

    @property
    def sizes(self) -> IntArray:
        """The number of documents of each query."""
        return np.diff(self.offsets)

    @property
    def query_of_row(self) -> IntArray:
        """The query, by number from 0, of each row."""
        return np.repeat(np.arange(self.n_queries), self.sizes)

    def means(self, values: NDArray[Any]) -> NDArray[Any]:
        """The mean of values over each query, given to each of its rows.

        Parameters
        ----------
        values : array, shape (n_docs, ...)
            One value, or one row of values, for each document.

        Returns
        -------
        array, of the shape of `values`
            For each row, the mean over the rows of its query.
        """
        sizes = self.sizes[self.sizes > 0]
        if len(sizes) == 0:
            return values
        sums = np.add.reduceat(values, self.offsets[:-1][self.sizes > 0], axis=0)
        return np.repeat((sums.T / sizes).T, sizes, axis=0)

    def slices(self) -> Iterator[slice]:
        """The rows of one query after another.

        Yields
        ------
        slice
            The rows of a query, for indexing arrays that have a value for each row.

        Examples
        --------
        >>> import numpy as np
        >>> import rankwright as rw
        >>> scores = np.array([3.0, 1.0, 2.0])
        >>> [float(scores[rows].max()) for rows in rw.Groups.of_sizes([1, 2]).slices()]
        [3.0, 2.0]
        """
        for start, stop in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            yield slice(start, stop)

    def rows_of(self, queries: IntArray) -> IntArray:
        """The rows of some queries, one query after another.

        Parameters
        ----------
        queries : array of int64
            The queries, by number from 0.

        Returns
        -------
        array of int64
            Their rows, in the order of `queries`.
        """
        sizes = self.sizes[queries]
        starts_in_result = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(queries) else np.zeros(0, np.int64)
        return np.repeat(self.offsets[queries] - starts_in_result, sizes) + np.arange(sizes.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Rows in any order, brought together by query.

    Queries come in the order of their first row, and a query's rows keep their order. `order[new] = old` row; it is
    None where the rows were together already.
    """

    groups: Groups
    query_ids: IdArray
    order: IntArray | None


def group_rows(qid: IdArray) -> Grouping:
    """The grouping of rows whose query ids are `qid`."""
    if len(qid) == 0:
        return Grouping(Groups(np.zeros(1, np.int64)), qid, None)
    starts = run_starts(qid)
    run_ids = qid[starts]
    sizes = np.diff(starts, append=len(qid))
    distinct, first_run, query_of_run = np.unique(run_ids, return_index=True, return_inverse=True)
    if len(distinct) == len(run_ids):
        return Grouping(Groups.of_sizes(sizes), run_ids, None)
    by_first_row = np.argsort(first_run, kind="stable")
    query_of_row = np.repeat(inverse(by_first_row)[query_of_run], sizes)
    order = np.argsort(query_of_row, kind="stable")
    counts = np.bincount(query_of_row, minlength=len(distinct))
    return Grouping(Groups.of_sizes(counts), run_ids[first_run[by_first_row]], order)


def run_starts(qid: IdArray) -> IntArray:
    """The rows whose query is not that of the row before, the first row included."""
    return np.flatnonzero(np.concatenate([np.ones(min(1, len(qid)), bool), qid[1:] != qid[:-1]]))


def inverse(order: IntArray) -> IntArray:
    """The order that undoes another: the new place of each old row."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places
