"""Which of two documents users preferred, by what they clicked: votes counted over a log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float64Array, IdArray, Int32Array, IntArray, Uint64Array, thread_count
from rankwright.clicks.logs.click_log import ClickLog
from rankwright.clicks.logs.log_blocks import sorted_codes
from rankwright.clicks.logs.log_files import LogFile
from rankwright.errors import UnknownNameError, require
from rankwright.formats.storage.streams import Paths
from rankwright.kernels.records import ShownLists, VoteTable
from rankwright.tables.text import counted

# Each rule by the name that users give it, and by that of the kernel's.
RULES: Mapping[str, str] = {
    "skip-above": "skip-above",
    "last-click": "last-click",
    "skip-above-and-next": "skip-above-and-next",
    "next": "next",
    "fair-pairs": "neighbours",
}
AGAINST_THE_ORDER = ("skip-above", "last-click")  # rules that can only vote for the document that was shown lower

MOST_PARTS = 64  # of the table of votes; queries are dealt to parts, and threads take parts
LEAST_SLOTS = 1 << 15  # of a part
DEEPEST = 50  # ranks that the correction tells apart
# Binary places of expected votes, which are added up as whole numbers, so that order does not matter.
FRACTION_BITS = 20
RUN_LENGTH = 1 << 22  # votes on different pairs that are collected before they are merged with the others

Log: TypeAlias = ClickLog | LogFile | Paths
NONE, NO_AMOUNTS = np.empty(0, np.int64), np.empty((0, 0), np.int64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairVotes:
    """Votes of all lists on pairs of documents of a query; each pair is there once, in the order of the ids.

    Attributes
    ----------
    queries, first, second : array of int32
        The query and the two documents of each pair, as places among the ids.
    for_first, for_second : array of float64
        How many votes each of the two got.
    expected_first, expected_second : array of float64
        How many it would have got if all documents were alike, by where they were shown; empty without correction.
    against_order : float
        The share of the votes that went to the document that was shown lower.
    query_ids, document_ids : array of int64 or str
        The ids.
    rule : str
        The rule that votes were counted by.
    """

    queries: Int32Array
    first: Int32Array
    second: Int32Array
    for_first: Float64Array
    for_second: Float64Array
    expected_first: Float64Array
    expected_second: Float64Array
    against_order: float
    query_ids: IdArray
    document_ids: IdArray
    rule: str

    def __repr__(self) -> str:
        n_votes = float(self.for_first.sum() + self.for_second.sum())
        pairs, queries = counted(len(self), "pair"), counted(len(self.query_ids), "query")
        return f"PairVotes({self.rule!r}, {n_votes:,.0f} votes on {pairs} of {queries})"

    def __len__(self) -> int:
        return len(self.queries)

    def preferred(self, smoothing: float = 1.0) -> tuple[Float64Array, Float64Array]:
        """The probability that the first document of each pair is the better one, and the evidence for it.

        Parameters
        ----------
        smoothing : float, default 1.0
            How many imagined votes each document of a pair gets beforehand, 0 or more: draws shares of few votes to ½.

        Returns
        -------
        probability, weight : array of float64
            The smoothed share of the votes, and the number of votes. With expected votes, the share of what each
            document got beyond what its place alone would have brought it.
        """
        require(smoothing >= 0, f"smoothing must be 0 or more, got {smoothing}")
        if not len(self.expected_first):
            total = self.for_first + self.for_second
            return (self.for_first + smoothing) / (total + 2 * smoothing), total
        # A document that was never shown lower could get no vote: its ratio stays at 1, which takes some smoothing.
        least = max(smoothing, 1e-3)
        ratios = [
            (votes + least) / (expected + least)
            for votes, expected in ((self.for_first, self.expected_first), (self.for_second, self.expected_second))
        ]
        weight = (self.for_first + self.for_second + self.expected_first + self.expected_second) / 2
        return ratios[0] / (ratios[0] + ratios[1]), weight


def count_votes(log: Log, rule: str = "skip-above", *, correct: bool = False, threads: int | None = None) -> PairVotes:
    """Count what clicks say about pairs of documents.

    A log that is given as a file is read block by block, so it may be larger than memory: what is kept are the pairs
    of documents that got votes.

    Parameters
    ----------
    log : ClickLog, LogFile, path or sequence of paths
        The log.
    rule : {"skip-above", "last-click", "skip-above-and-next", "next", "fair-pairs"}, default "skip-above"
        What counts as a vote. `fair-pairs` takes neighbours of which one was clicked, and of these only the pairs that
        were shown in both orders, each order counting the same: it needs a log with swaps.
    correct : bool, default False
        Whether votes are compared with how many a document at its place usually gets. The rules `skip-above` and
        `last-click` can only vote for the document that was shown lower; corrected, few votes where many are usual
        speak for the shown order. The log is read twice.
    threads : int, optional
        How many threads to use. It never changes the result.

    Returns
    -------
    PairVotes
        The votes.

    Examples
    --------
    >>> import rankwright as rw
    >>> log = rw.clicks.ClickLog.from_lists(["q", "q"], [["a", "b"], ["a", "b"]], [[2], [1]])
    >>> votes = rw.clicks.count_votes(log)
    >>> votes.for_first.tolist(), votes.for_second.tolist(), votes.against_order
    ([0.0], [1.0], 1.0)
    """
    if rule not in RULES:
        raise UnknownNameError("rule", rule, known=RULES)
    told = f"the correction is for {' and '.join(AGAINST_THE_ORDER)}, got {rule}"
    require(not correct or rule in AGAINST_THE_ORDER, told)
    source = log if isinstance(log, ClickLog | LogFile) else LogFile(log, threads=threads)
    n_threads = thread_count(threads)
    votes = _counted(source, RULES[rule], NO_AMOUNTS, n_threads)
    expected = None
    if correct:
        rates = usual_rates(source, rule)
        amounts = np.rint(rates * (1 << FRACTION_BITS)).astype(np.int64)
        expected = _counted(source, "exposure", amounts, n_threads)
    if isinstance(source, ClickLog):
        ids = source.query_ids, source.document_ids
    else:  # known once all blocks were read
        ids = source.naming.queries.ids(), source.naming.documents.ids()
    (query_ids, new_query), (document_ids, new_document) = map(sorted_codes, ids)
    votes = votes.renamed(new_query, new_document)
    expected = None if expected is None else expected.renamed(new_query, new_document)
    return _paired(rule, votes, expected, (query_ids, document_ids), n_threads)


class Votes(NamedTuple):
    """Votes for the first document of a pair, which is the upper half of the pair's number, over the second."""

    queries: Int32Array
    pairs: Uint64Array
    above: IntArray
    below: IntArray

    def merged(self, threads: int) -> Votes:
        """The same votes, sorted by query and pair, each pair once."""
        order, starts = sorted_pairs(self.queries, self.pairs, threads)
        firsts = order[starts]
        sums = (np.add.reduceat(one[order], starts) if len(starts) else one[:0] for one in (self.above, self.below))
        return Votes(self.queries[firsts], self.pairs[firsts], *sums)

    def renamed(self, new_query: Int32Array, new_document: Int32Array) -> Votes:
        """The same votes with other numbers for queries and documents."""
        first, second = _halves(self.pairs)
        pairs = _joined(new_document[first], new_document[second])
        return Votes(new_query[self.queries], pairs, self.above, self.below)


def sorted_pairs(queries: Int32Array, pairs: Uint64Array, threads: int) -> tuple[IntArray, IntArray]:
    """The order by query and pair, and the places in it where another pair begins."""
    order = np.empty(len(queries), np.int64)
    kernels.order_by_query(queries, pairs, int(queries.max(initial=-1)) + 1, order, threads)
    ordered, keys = queries[order], pairs[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (ordered[1:] != ordered[:-1]) | (keys[1:] != keys[:-1])
    return order, np.flatnonzero(is_new)


def _halves(pairs: Uint64Array) -> tuple[IntArray, IntArray]:
    return (pairs >> np.uint64(32)).astype(np.int64), (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)


def _joined(first: IntArray | Int32Array, second: IntArray | Int32Array) -> Uint64Array:
    return first.astype(np.uint64) << np.uint64(32) | second.astype(np.uint64)


def _blocks(log: ClickLog | LogFile) -> Iterator[tuple[ShownLists, IntArray]]:
    """Lists of a log, some at a time, and how often each was seen: empty for once."""
    if isinstance(log, ClickLog):
        yield log.lists, NONE if log.counts is None else log.counts
        return
    for block in log.blocks():
        yield ShownLists(block.offsets, block.queries, block.documents, block.clicked), NONE


def _counted(log: ClickLog | LogFile, rule: str, amounts: IntArray, threads: int) -> Votes:
    """The votes of all lists, each pair once."""
    empty = Votes(np.empty(0, np.int32), np.empty(0, np.uint64), NONE, NONE)
    merged, runs, n_apart = empty, [], 0
    table: VoteTable | None = None
    for lists, counts in _blocks(log):
        slots = _slots(rule, lists)
        if table is None or len(table.queries) < len(table.n_used) * slots:
            if table is not None:
                runs.append(_emptied(table))
            table = _empty_table(slots)
        done = np.zeros(len(table.n_used), np.int64)
        while True:
            kernels.count_votes(lists, counts, rule, amounts, table, done, threads)
            if (done == len(lists.queries)).all():
                break
            runs.append(_emptied(table))
            n_apart += len(runs[-1].queries)
            if n_apart > max(RUN_LENGTH, len(merged.queries)):
                merged, runs, n_apart = _all_of([merged, *runs]).merged(threads), [], 0
    if table is not None:
        runs.append(_emptied(table))
    return _all_of([merged, *runs]).merged(threads)


def _slots(rule: str, lists: ShownLists) -> int:
    """How many slots a part of the table needs to have room for the votes of any one list, twice."""
    sizes = np.diff(lists.offsets)
    longest = int(sizes.max(initial=1))
    if 2 * longest**2 <= LEAST_SLOTS:
        return LEAST_SLOTS
    clicks_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(lists.clicked)])[lists.offsets]
    n_voting = {"exposure": sizes, "neighbours": np.ones_like(sizes)}.get(rule, np.diff(clicks_before))
    most = max(1, int((n_voting * sizes).max(initial=0)))
    return int(max(LEAST_SLOTS, 1 << (2 * most - 1).bit_length()))


def _all_of(runs: Sequence[Votes]) -> Votes:
    return Votes(*(np.concatenate(parts) for parts in zip(*runs, strict=True)))


def _empty_table(slots: int) -> VoteTable:
    n_parts = max(1, MOST_PARTS * LEAST_SLOTS // slots)  # fewer and larger ones where lists are long
    size = n_parts * slots
    above, below, n_used = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(n_parts, np.int64)
    return VoteTable(np.full(size, -1, np.int32), np.zeros(size, np.uint64), above, below, n_used)


def _emptied(table: VoteTable) -> Votes:
    """The votes in a table, which is empty afterwards."""
    used = table.queries >= 0
    votes = Votes(table.queries[used], table.pairs[used], table.above[used], table.below[used])
    table.queries.fill(-1)
    for sums in (table.above, table.below, table.n_used):
        sums.fill(0)
    return votes


def usual_rates(log: ClickLog | LogFile, rule: str) -> Float64Array:
    """How often a pair of places gets a vote, by the upper and the lower rank, over the whole log."""
    votes, shown = np.zeros((DEEPEST, DEEPEST)), np.zeros((DEEPEST, DEEPEST))
    for lists, counts in _blocks(log):
        sizes = np.diff(lists.offsets)
        times = np.ones(len(sizes)) if not len(counts) else counts.astype(np.float64)
        ranks = np.arange(len(lists.documents)) - np.repeat(lists.offsets[:-1], sizes)
        kept = ranks < DEEPEST
        there = np.zeros((len(sizes), DEEPEST), np.float32)
        rows = np.repeat(np.arange(len(sizes)), sizes)[kept]
        there[rows, ranks[kept]] = 1
        clicked = np.zeros_like(there)
        clicked[rows, ranks[kept]] = lists.clicked[kept]
        voting = clicked
        if rule == "last-click":
            voting = np.zeros_like(there)
            last = DEEPEST - 1 - np.argmax(clicked[:, ::-1], axis=1)
            voting[np.arange(len(sizes)), last] = clicked.any(axis=1)
        # Whole numbers, exact in float64 whatever the order in which they are added.
        votes += ((there - clicked) * times[:, None]).T @ voting.astype(np.float64)
        shown += (there * times[:, None]).T @ there.astype(np.float64)
    return np.triu(votes / np.maximum(shown, 1), k=1)


Column: TypeAlias = tuple[Int32Array, Uint64Array, Float64Array]  # queries, pairs with the better one first, amounts


def _paired(rule: str, votes: Votes, expected: Votes | None, ids: tuple[IdArray, IdArray], threads: int) -> PairVotes:
    """Both directions of each pair side by side, the document with the smaller number first."""
    amounts = (votes.above + votes.below).astype(np.float64)
    columns = [_fair(votes, threads) if rule == "fair-pairs" else (votes.queries, votes.pairs, amounts)]
    if expected is not None:
        columns.append((expected.queries, expected.pairs, expected.below / (1 << FRACTION_BITS)))
    queries, pairs, sums = side_by_side(columns, threads)
    first, second = (half.astype(np.int32) for half in _halves(pairs))
    found, usual = sums[0], np.empty((2, 0)) if expected is None else sums[1]
    n_votes = float(votes.above.sum() + votes.below.sum())
    against_order = float(votes.below.sum()) / n_votes if n_votes else 0.0
    return PairVotes(
        queries, first, second, found[0], found[1], usual[0], usual[1], against_order, ids[0], ids[1], rule
    )


def side_by_side(columns: Sequence[Column], threads: int) -> tuple[Int32Array, Uint64Array, list[Float64Array]]:
    """Pairs with the smaller number first, and for each column the amounts for the first and for the second document.

    In a column, no pair may be there twice in the same direction.
    """
    sizes = [len(amounts) for _, _, amounts in columns]
    better, worse = _halves(np.concatenate([pairs for _, pairs, _ in columns]))
    queries = np.concatenate([one for one, _, _ in columns])
    pairs = _joined(np.minimum(better, worse), np.maximum(better, worse))
    order, starts = sorted_pairs(queries, pairs, threads)
    place = np.empty(len(order), np.int64)
    place[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    sums = []
    for number, (_, _, amounts) in enumerate(columns):
        rows = slice(sum(sizes[:number]), sum(sizes[: number + 1]))
        both = np.zeros((2, len(starts)))
        both[(better > worse)[rows].astype(np.int64), place[rows]] = amounts
        sums.append(both)
    firsts = order[starts]
    return queries[firsts], pairs[firsts], sums


def _fair(votes: Votes, threads: int) -> Column:
    """Votes on neighbours that were shown in both orders; each order counts as half of them."""
    above, below = ((votes.queries, votes.pairs, one.astype(np.float64)) for one in (votes.above, votes.below))
    queries, pairs, (shown_above, shown_below) = side_by_side([above, below], threads)
    # A vote for the first shown above is one in the order (first, second), as is one for the second shown below.
    in_order = np.stack([shown_above[0] + shown_below[1], shown_below[0] + shown_above[1]])
    for_first = np.stack([shown_above[0], shown_below[0]])
    both = (in_order > 0).all(axis=0)
    total = in_order[:, both].sum(axis=0)
    share = (for_first[:, both] / in_order[:, both]).mean(axis=0)
    low, high = _halves(pairs[both])
    amounts = np.concatenate([share * total, (1 - share) * total])
    return np.tile(queries[both], 2), np.concatenate([_joined(low, high), _joined(high, low)]), amounts


# The rules for the clicks of one list, by positions.


def skip_above(clicks: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of positions by the rule of Ganjisaffar's slides: a click is preferred to all that was skipped above it.

    Parameters
    ----------
    clicks : sequence of int
        The clicked positions of a list, counted from 1.

    Returns
    -------
    list of (int, int)
        The preferred position and the other one of each pair.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.clicks.skip_above([2, 5, 7])
    [(2, 1), (5, 1), (5, 3), (5, 4), (7, 1), (7, 3), (7, 4), (7, 6)]
    """
    clicked = _positions(clicks)
    return [(click, above) for click in clicked for above in range(1, click) if above not in clicked]


def last_click(clicks: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of positions of which the last click is preferred to all that was skipped above it.

    Parameters
    ----------
    clicks : sequence of int
        The clicked positions of a list, counted from 1. The last one is the lowest in the list.

    Returns
    -------
    list of (int, int)
        The preferred position and the other one of each pair.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.clicks.last_click([2, 5])
    [(5, 1), (5, 3), (5, 4)]
    """
    return [pair for pair in skip_above(clicks) if pair[0] == max(clicks)]


def next_skipped(clicks: Sequence[int], n_shown: int) -> list[tuple[int, int]]:
    """Pairs of positions of which a click is preferred to the next result, if that was not clicked.

    Parameters
    ----------
    clicks : sequence of int
        The clicked positions of a list, counted from 1.
    n_shown : int
        How many results the list has.

    Returns
    -------
    list of (int, int)
        The preferred position and the other one of each pair.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.clicks.next_skipped([2, 3, 5], n_shown=5)
    [(3, 4)]
    """
    clicked = _positions(clicks)
    return [(click, click + 1) for click in clicked if click < n_shown and click + 1 not in clicked]


def skip_above_and_next(clicks: Sequence[int], n_shown: int) -> list[tuple[int, int]]:
    """Pairs of positions by both rules: a click is preferred to what was skipped above it, and to the next result.

    Parameters
    ----------
    clicks : sequence of int
        The clicked positions of a list, counted from 1.
    n_shown : int
        How many results the list has.

    Returns
    -------
    list of (int, int)
        The preferred position and the other one of each pair.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.clicks.skip_above_and_next([2], n_shown=4)
    [(2, 1), (2, 3)]
    """
    return sorted(skip_above(clicks) + next_skipped(clicks, n_shown))


def _positions(clicks: Sequence[int]) -> list[int]:
    told = f"positions are whole numbers, counted from 1, got {list(clicks)}"
    require(all(click >= 1 and click == int(click) for click in clicks), told)
    return sorted(set(map(int, clicks)))
