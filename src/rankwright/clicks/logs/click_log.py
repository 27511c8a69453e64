"""A click log in memory: flat arrays that hold one list of shown documents after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright import kernels
from rankwright.arrays import (
    BoolArray,
    Float32Array,
    IdArray,
    Int32Array,
    IntArray,
    Seed,
    Uint64Array,
    as_ids,
    distinct_ids,
    generator,
    share,
    thread_count,
)
from rankwright.clicks.logs.log_blocks import sorted_codes
from rankwright.errors import InputError, require, require_type
from rankwright.kernels.records import PairLists, ShownLists
from rankwright.tables.text import counted


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ClickLog:
    """Result lists that users saw, and what they clicked.

    `read_log` and `ClickLog.from_lists` make logs. A log never changes: methods return new ones.

    Parameters
    ----------
    queries : array of int32, shape (n_lists,)
        The query of each list, as a place in `query_ids`.
    offsets : array of int64, shape (n_lists + 1,)
        Where the documents of each list start in `documents`.
    documents : array of int32, shape (n_shown,)
        The shown documents of all lists, as places in `document_ids`.
    clicked : array of bool, shape (n_shown,)
        Whether each shown document was clicked, once or more often.
    query_ids, document_ids : array of int64 or str
        The ids, each once, in ascending order.
    counts : array of int64, shape (n_lists,), optional
        How often each list was seen. Without them, once each.
    first_ranks : array of int32, shape (n_lists,), optional
        The rank, from 0, of the first document of each list: more than 0 for pages after the first.
    propensities : array of float32, shape (n_shown,), optional
        How likely the policy that made the list was to show this document at this place.
    policies : array of int32, shape (n_lists,), optional
        Which policy made each list, as a place in `policy_ids`.
    policy_ids : array of int64 or str, optional
        The ids of policies.
    problems : mapping from str to int, optional
        What was wrong in the files that the log was read from, and how often.

    Attributes
    ----------
    n_lists, n_shown, n_clicks : int
        How many lists, shown documents and clicked ones there are, each as often as it was seen.

    Examples
    --------
    >>> import rankwright as rw
    >>> log = rw.clicks.ClickLog.from_lists(["a", "a"], [["x", "y"], ["y", "x"]], [[2], []])
    >>> log.n_lists, log.n_shown, log.n_clicks
    (2, 4, 1)
    """

    queries: Int32Array
    offsets: IntArray
    documents: Int32Array
    clicked: BoolArray
    query_ids: IdArray
    document_ids: IdArray
    counts: IntArray | None = None
    first_ranks: Int32Array | None = None
    propensities: Float32Array | None = None
    policies: Int32Array | None = None
    policy_ids: IdArray | None = None
    problems: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_lists, n_shown = len(self.queries), len(self.documents)
        require(len(self.offsets) == n_lists + 1, f"offsets must have {n_lists + 1} values, got {len(self.offsets)}")
        require(
            int(self.offsets[0]) == 0 and int(self.offsets[-1]) == n_shown and bool((np.diff(self.offsets) >= 0).all()),
            f"offsets must rise from 0 to {n_shown}",
        )
        for name, length in (("clicked", n_shown), ("propensities", n_shown), ("counts", n_lists),
                             ("first_ranks", n_lists), ("policies", n_lists)):  # fmt: skip
            values = getattr(self, name)
            require(values is None or len(values) == length, f"{name} must have {length} values")
        for name, ids in (("queries", self.query_ids), ("documents", self.document_ids)):
            places = getattr(self, name)
            inside = len(places) == 0 or (places.min() >= 0 and places.max() < len(ids))
            require(bool(inside), f"{name} must be places among {len(ids)} ids")

    @classmethod
    def from_lists(
        cls,
        queries: Sequence[Any],
        shown: Sequence[Sequence[Any]],
        clicks: Sequence[Sequence[int]],
        *,
        propensities: Sequence[Sequence[float]] | None = None,
        policies: Sequence[Any] | None = None,
    ) -> ClickLog:
        """A log of the given lists.

        Parameters
        ----------
        queries : sequence of int or str
            The query of each list.
        shown : sequence of sequences of int or str
            The documents of each list, in the order in which they were shown.
        clicks : sequence of sequences of int
            The clicked positions of each list, counted from 1; a position may be there more than once.
        propensities : sequence of sequences of float, optional
            How likely each document was to be shown at its place.
        policies : sequence of int or str, optional
            The policy that made each list.

        Returns
        -------
        ClickLog
            The log.
        """
        require(len(shown) == len(clicks) == len(queries), "queries, shown and clicks must be of equal length")
        sizes = np.array([len(one) for one in shown], np.int64)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        clicked = np.zeros(int(offsets[-1]), np.bool_)
        for k, positions in enumerate(clicks):
            for position in positions:
                if not isinstance(position, int | np.integer) or not 1 <= position <= sizes[k]:
                    raise InputError(f"list {k} has {sizes[k]} documents, and a click at position {position!r}")
                clicked[offsets[k] + position - 1] = True
        columns: dict[str, Any] = {"offsets": offsets, "clicked": clicked}
        columns["query_ids"], columns["queries"] = id_codes(queries, "queries")
        columns["document_ids"], columns["documents"] = id_codes([*chain(*shown)] or np.empty(0, int), "shown")
        if policies is not None:
            columns["policy_ids"], columns["policies"] = id_codes(policies, "policies")
        if propensities is not None:
            columns["propensities"] = np.array([*chain(*propensities)], np.float32)
        return cls(**columns)

    def __repr__(self) -> str:
        counts = counted(len(self.query_ids), "query"), counted(self.n_lists, "list")
        return f"ClickLog({', '.join(counts)}, {counted(self.n_shown, 'shown document')}, {self.n_clicks:,} clicked)"

    @property
    def lists(self) -> ShownLists:
        """The lists as kernels take them."""
        return ShownLists(self.offsets, self.queries, self.documents, self.clicked)

    @property
    def list_counts(self) -> IntArray:
        """How often each list was seen."""
        return np.ones(len(self.queries), np.int64) if self.counts is None else self.counts

    @property
    def n_lists(self) -> int:
        """How many lists were shown."""
        return int(self.list_counts.sum())

    @property
    def n_shown(self) -> int:
        """How many documents were shown."""
        return int((self.list_counts * np.diff(self.offsets)).sum())

    @property
    def n_clicks(self) -> int:
        """How many shown documents were clicked."""
        if self.counts is None:
            return int(np.count_nonzero(self.clicked))
        return int(self.counts[self.list_of_row][self.clicked].sum())

    @property
    def list_of_row(self) -> IntArray:
        """The list that each shown document belongs to."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))

    @property
    def ranks(self) -> IntArray:
        """The rank of each shown document in the result, from 0; pages after the first go on counting."""
        ranks = np.arange(len(self.documents)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))
        return ranks if self.first_ranks is None else ranks + self.first_ranks[self.list_of_row]

    def take(self, chosen: ArrayLike) -> ClickLog:
        """The log of some lists alone.

        Parameters
        ----------
        chosen : array of int or bool
            The places of the lists, or for each list whether it is taken.

        Returns
        -------
        ClickLog
            A log of these lists, in that order; ids keep their places.
        """
        places = np.asarray(chosen)
        places = np.flatnonzero(places) if places.dtype == np.bool_ else places.astype(np.int64)
        sizes = np.diff(self.offsets)[places]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        documents, clicked = np.empty(int(offsets[-1]), np.int32), np.empty(int(offsets[-1]), np.bool_)
        kernels.take_lists(self.lists, places, offsets, documents, clicked, thread_count(None))
        columns: dict[str, Any] = {"offsets": offsets, "documents": documents, "clicked": clicked}
        if self.propensities is not None:
            rows = np.repeat(self.offsets[places] - offsets[:-1], sizes) + np.arange(offsets[-1])
            columns["propensities"] = self.propensities[rows]
        for name in ("queries", "counts", "first_ranks", "policies"):
            values = getattr(self, name)
            columns[name] = None if values is None else values[places]
        return replace(self, **columns)

    def first_pages(self) -> ClickLog:
        """The log without pages after the first.

        Click models follow a user from the first result down; a later page alone does not tell what was seen before.

        Returns
        -------
        ClickLog
            The lists that begin at the first rank.
        """
        if self.first_ranks is None:
            return self
        return replace(self.take(self.first_ranks == 0), first_ranks=None)

    def split(self, valid: float = 0.2, *, seed: Seed = 0) -> tuple[ClickLog, ClickLog]:
        """Split the lists at random into two logs.

        Parameters
        ----------
        valid : float, default 0.2
            The share of the lists, above 0 and below 1, that goes into the second log.
        seed : int or numpy.random.Generator, default 0
            The same seed gives the same split, whatever the order of the lists.

        Returns
        -------
        train, valid : ClickLog
            The two logs, with equal lists merged.
        """
        valid = share(valid, "valid")
        merged = self.merged()
        held = generator(seed).binomial(merged.list_counts, valid)
        parts = (merged.list_counts - held, held)
        return tuple(replace(merged, counts=part).take(part > 0) for part in parts)  # type: ignore[return-value]

    def merged(self, *, threads: int | None = None) -> ClickLog:
        """The log with equal lists merged into one that counts as often.

        Everything that a click model learns is in it. Lists are sorted by query and content, so that the result does
        not depend on the order of the log. Propensities and policies are left out, and so are pages after the first.

        Parameters
        ----------
        threads : int, optional
            How many threads to use, by default one per core. It never changes the result.

        Returns
        -------
        ClickLog
            A log in which no two lists are equal.
        """
        plain = replace(self.first_pages(), propensities=None, policies=None, policy_ids=None)
        n_lists, n_threads = len(plain.queries), thread_count(threads)
        hashes = np.empty(n_lists, np.uint64)
        kernels.hash_lists(plain.lists, hashes, n_threads)
        if plain.counts is not None and _rise(plain.queries, hashes):
            return plain  # it was merged before
        kept, counts = _distinct(plain, hashes, n_threads)
        order = np.empty(len(kept), np.int64)
        kernels.order_by_query(plain.queries[kept], hashes[kept], len(plain.query_ids), order, n_threads)
        return replace(plain, counts=counts).take(kept[order])


def check_log(log: object) -> None:
    """Raise unless it is a log that was read."""
    require_type(log, ClickLog, "log", "a ClickLog, such as read_log gives")


def _rise(queries: Int32Array, hashes: Uint64Array) -> bool:
    """Whether each list comes after the one before it, by query and hash, as in a merged log."""
    later = (queries[1:] > queries[:-1]) | ((queries[1:] == queries[:-1]) & (hashes[1:] > hashes[:-1]))
    return bool(later.all())


def _distinct(log: ClickLog, hashes: Uint64Array, threads: int) -> tuple[IntArray, IntArray]:
    """The first list of each set of equal lists, and how often each of these sets was seen."""
    first = np.empty(len(log.queries), np.int64)
    kernels.group_lists(log.lists, hashes, first, threads)
    counts = np.bincount(first, weights=log.list_counts, minlength=len(first)).astype(np.int64)
    return np.flatnonzero(first == np.arange(len(first))), counts


def without_repeats(log: ClickLog, *, threads: int) -> ClickLog:
    """The lists of the first pages with equal ones merged, in the order in which they came."""
    plain = replace(log.first_pages(), propensities=None, policies=None, policy_ids=None)
    hashes = np.empty(len(plain.queries), np.uint64)
    kernels.hash_lists(plain.lists, hashes, threads)
    kept, counts = _distinct(plain, hashes, threads)
    return replace(plain, counts=counts).take(kept)


@dataclass(frozen=True, slots=True, eq=False)
class PairLog:
    """A merged log whose documents are numbered by query: what click models work on.

    Pair p is document `documents[p]` of query `queries[p]`. Pairs are sorted by query, then by document.
    """

    lists: PairLists
    queries: Int32Array
    documents: Int32Array
    log: ClickLog
    n_ranks: int  # of the longest list

    @property
    def n_pairs(self) -> int:
        """How many different pairs of a query and a document were shown."""
        return len(self.queries)


def pair_log(log: ClickLog, *, threads: int | None = None) -> PairLog:
    """The merged log with its documents numbered by query."""
    merged, n_threads = log.merged(threads=threads), thread_count(threads)
    n_queries = len(merged.query_ids)
    list_starts = np.searchsorted(merged.queries, np.arange(n_queries + 1)).astype(np.int64)
    row_starts = merged.offsets[list_starts]
    numbers, n_distinct = np.empty(len(merged.documents), np.int32), np.empty(n_queries, np.int64)
    kernels.number_documents(row_starts, merged.documents, numbers, n_distinct, n_threads)
    pair_starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(n_distinct)])
    told = "a log may have two billion different pairs of a query and a document at most"
    require(int(pair_starts[-1]) < 2**31, told)
    pairs = numbers + np.repeat(pair_starts[:-1], np.diff(row_starts)).astype(np.int32)
    documents = np.empty(int(pair_starts[-1]), np.int32)
    documents[pairs] = merged.documents
    assert merged.counts is not None
    return PairLog(
        PairLists(list_starts, pair_starts, merged.offsets, pairs, merged.clicked, merged.counts),
        np.repeat(np.arange(n_queries, dtype=np.int32), n_distinct),
        documents,
        merged,
        int(np.diff(merged.offsets).max(initial=1)),
    )


def in_order_of_ids(log: ClickLog) -> ClickLog:
    """The log with ids in ascending order, and numbers to match."""
    changed: dict[str, Any] = {}
    for name, ids in (("queries", "query_ids"), ("documents", "document_ids"), ("policies", "policy_ids")):
        if getattr(log, name) is not None:
            changed[ids], new = sorted_codes(getattr(log, ids))
            changed[name] = new[getattr(log, name)]
    return replace(log, **changed)


def id_codes(values: Any, name: str) -> tuple[IdArray, Int32Array]:
    """The ids among these values, each once and in ascending order, and the place of each value among them."""
    ids, places = distinct_ids(as_ids(np.asarray(values), name=name))
    return ids, places.astype(np.int32)
