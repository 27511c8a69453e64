"""The order of documents, and the one place that breaks ties.

A `rank` is a place in a query's list, from 0; a `row` is a place in the data. A run is a stretch of ranks whose
documents have the same score.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from rankwright import kernels
from rankwright.arrays import (
    BoolArray,
    Float32Array,
    Float64Array,
    IdArray,
    IntArray,
    as_ids,
    as_scores,
    as_vector,
    distinct_ids,
    thread_count,
)
from rankwright.data.groups import Groups
from rankwright.errors import InputError, require_type
from rankwright.tables.text import counted


class Ties(Enum):
    """The order of documents with equal scores.

    Attributes
    ----------
    INPUT : "input"
        The order of their rows.
    DOCUMENT_ID : "docid"
        Descending document ids, compared as text, as in trec_eval.
    PESSIMISTIC : "pessimistic"
        The lower label first, as in CatBoost: the worst that the scores can mean.
    OPTIMISTIC : "optimistic"
        The higher label first: the best that the scores can mean.
    AVERAGED : "averaged"
        Every order is equally likely, and metrics are expectations, as is NDCG in scikit-learn.
    """

    INPUT = "input"
    DOCUMENT_ID = "docid"
    PESSIMISTIC = "pessimistic"
    OPTIMISTIC = "optimistic"
    AVERAGED = "averaged"


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """The rows of each query, best first, and where scores were equal.

    `rank` makes it. Query q owns the stretch of `rows` from `groups.offsets[q]` to `groups.offsets[q + 1]`. Its first
    `n_ranked[q]` rows are its list. The rows after them were not retrieved: they have no rank, and count only towards
    what could be found.

    Attributes
    ----------
    rows : numpy.ndarray of int
        The rows of the data, query by query, the best of each query first.
    groups : Groups
        Where each query's rows lie.
    scores : numpy.ndarray of float
        The score of each row of the data.
    n_ranked : numpy.ndarray of int
        The length of each query's list.
    ties : Ties
        How equal scores are ordered.
    tied : numpy.ndarray of bool
        For each rank, whether its score equals that of the rank before.
    tie_blocks : numpy.ndarray of int
        Where each run of equal scores starts in `rows`, and the end of the last one.
    has_ties : bool
        Whether any two documents of a query have the same score.
    """

    rows: IntArray
    groups: Groups
    scores: Float64Array
    n_ranked: IntArray
    ties: Ties = Ties.INPUT

    def __repr__(self) -> str:
        lists, documents = counted(len(self.groups.sizes), "query"), counted(len(self.rows), "document")
        return f"Ranking({lists}, {documents}, {int(self.n_ranked.sum()):,} ranked)"

    @cached_property
    def tied(self) -> BoolArray:
        """For each rank, whether its score equals that of the rank before; computed when first asked for."""
        tied = np.empty(len(self.rows), np.bool_)
        kernels.mark_ties(self.scores, self.groups.offsets, self.rows, tied, 1)
        return tied if np.array_equal(self.n_ranked, self.groups.sizes) else tied & ~_beyond(self.groups, self.n_ranked)

    @property
    def tie_blocks(self) -> IntArray:
        """Where each run of equal scores starts in `rows`, and the end of the last one."""
        return np.append(np.flatnonzero(~self.tied), len(self.tied))

    @property
    def has_ties(self) -> bool:
        """Whether any two documents of a query have the same score."""
        return bool(self.tied.any())

    def ranks(self) -> IntArray:
        """Return the rank of each row in its query's list: the inverse of `rows`.

        Returns
        -------
        numpy.ndarray of int
            Ranks from 0; -1 for rows that the ranking does not have.
        """
        ranks = np.full(len(self.scores), -1)
        ranks[self.rows] = np.arange(len(self.rows)) - np.repeat(self.groups.offsets[:-1], self.groups.sizes)
        return ranks

    def of_rows(self, kept: BoolArray) -> Ranking:
        """Return the ranking of some rows alone, in the same order and without gaps.

        Parameters
        ----------
        kept : numpy.ndarray of bool
            For each row of the data, whether it stays.

        Returns
        -------
        Ranking
            A ranking of the rows that stay.
        """
        stays, n_queries = kept[self.rows], self.groups.n_queries
        ranked = stays & ~_beyond(self.groups, self.n_ranked)
        sizes, n_ranked = (np.bincount(self.groups.query_of_row[some], minlength=n_queries) for some in (stays, ranked))
        return replace(self, rows=self.rows[stays], groups=Groups.of_sizes(sizes), n_ranked=n_ranked)


def rank(
    scores: ArrayLike, groups: Groups, *, n_ranked: ArrayLike | None = None, threads: int | None = None
) -> Ranking:
    """Rank each query's documents by descending score; equal scores stay in input order.

    Parameters
    ----------
    scores : array-like of shape (n_docs,)
        One score for each row; higher is better. NaN is refused.
    groups : Groups
        Where each query's rows lie.
    n_ranked : array-like of int, optional
        How many rows of each query, its first ones, were retrieved; all by default.
    threads : int, optional
        How many threads to use; `OMP_NUM_THREADS` or every core by default. It never changes the result.

    Returns
    -------
    Ranking
        The rows of each query, best first.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.rank([0.1, 0.9, 0.5, 0.2], rw.Groups.of_sizes([2, 2])).rows
    array([1, 0, 2, 3])
    """
    require_type(groups, Groups, "groups", "Groups, such as those of a dataset")
    return rank_checked(as_scores(scores, length=groups.n_docs), groups, n_ranked, thread_count(threads))


def rank_checked(scores: Float64Array, groups: Groups, n_ranked: ArrayLike | None, threads: int) -> Ranking:
    """The ranking by scores that have been checked already."""
    sizes = groups.sizes
    if n_ranked is not None:
        sizes = as_vector(n_ranked, name="n_ranked", dtype=np.int64, length=groups.n_queries)
        if ((sizes < 0) | (sizes > groups.sizes)).any():
            raise InputError("n_ranked must lie between 0 and the number of rows of its query")
        scores = np.where(_beyond(groups, sizes), -np.inf, scores)  # equal scores stay in row order
    rows = np.empty(groups.n_docs, np.int64)
    kernels.rank_rows(scores, groups.offsets, rows, threads)
    return Ranking(rows, groups, scores, sizes)


def _beyond(groups: Groups, sizes: IntArray) -> BoolArray:
    """For each place in `groups`, whether it lies beyond the first `sizes` of its query."""
    return np.arange(groups.n_docs) >= np.repeat(groups.offsets[:-1] + sizes, groups.sizes)


def break_ties(
    ranking: Ranking,
    ties: Ties,
    *,
    labels: Float32Array | None = None,
    document_ids: IdArray | None = None,
    threads: int | None = None,
) -> Ranking:
    """The same ranking with equal scores ordered by `ties`.

    Labels and document ids, one for each row, are needed by the rules that look at them. Under `Ties.AVERAGED` the
    order within a run means nothing, and metrics read `tied`.
    """
    if ranking.ties is ties or not ranking.has_ties:
        return replace(ranking, ties=ties)
    rows = ranking.rows.copy()
    kernels.order_ties(_tie_keys(ranking, ties, labels, document_ids), ranking.tied, rows, thread_count(threads))
    return replace(ranking, rows=rows, ties=ties)


def _tie_keys(ranking: Ranking, ties: Ties, labels: Float32Array | None, document_ids: IdArray | None) -> Float64Array:
    """A number for each row; among equal scores the lowest comes first."""
    n_rows = len(ranking.scores)
    if ties in (Ties.INPUT, Ties.AVERAGED):
        return np.zeros(n_rows)
    if ties is Ties.DOCUMENT_ID:
        if document_ids is None:
            raise InputError(
                "some scores are equal and ties are to be broken by document id, but the documents have none; "
                "ties=input breaks them by input order"
            )
        keys = np.zeros(n_rows)
        tied_rows = ranking.rows[ranking.tied | np.append(ranking.tied[1:], False)]  # seldom many
        keys[tied_rows] = -order_of_ids(document_ids[tied_rows])
        return keys
    if labels is None:
        raise InputError(f"{ties.value} ties are broken by labels, but the documents have none")
    keys = np.nan_to_num(labels.astype(np.float64), nan=0.0)
    return keys if ties is Ties.PESSIMISTIC else -keys


def order_of_ids(ids: ArrayLike) -> Float64Array:
    """The place of each id in the alphabetical order of all of them; numbers are compared as their text."""
    array = as_ids(ids, name="document ids")
    distinct, place = distinct_ids(array)
    if distinct.dtype.kind == "i":
        alphabetical = np.argsort(distinct.astype(np.str_), kind="stable")
        place = np.argsort(alphabetical)[place]
    return place.astype(np.float64)
