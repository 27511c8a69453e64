"""Lists and documents that are the same, and what clicks say about pairs of documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rankwright.arrays import BoolArray, Int32Array, IntArray, Uint64Array
from rankwright.kernels.naive.common.counter_random import mix as mix_all
from rankwright.kernels.records import ShownLists, VoteTable


def mix(value: int) -> int:
    """The core's `mix` of one number."""
    return int(mix_all(np.array([value], np.uint64))[0])


def hash_lists(lists: ShownLists, hashes: Uint64Array, threads: int) -> None:
    """For each list a hash of its content."""
    for k, (query, documents, clicked) in enumerate(_contents(lists)):
        value = mix(query)
        for document, click in zip(documents, clicked, strict=True):
            value = mix(value ^ (document << 1) ^ int(click))
        hashes[k] = value


def group_lists(lists: ShownLists, hashes: Uint64Array, first: IntArray, threads: int) -> None:
    """For each list the first one that equals it: same query, documents and clicks."""
    assert len(hashes) == len(lists.queries)
    first_of: dict[tuple[int, tuple[int, ...], tuple[bool, ...]], int] = {}
    for k, content in enumerate(_contents(lists)):
        first[k] = first_of.setdefault(content, k)


def take_lists(
    lists: ShownLists,
    places: IntArray,
    offsets: IntArray,
    documents: Int32Array,
    clicked: BoolArray,
    threads: int,
) -> None:
    """The documents and clicks of the lists at some places, one list after another."""
    for k, place in enumerate(places.tolist()):
        to, rows = slice(offsets[k], offsets[k + 1]), slice(lists.offsets[place], lists.offsets[place + 1])
        documents[to], clicked[to] = lists.documents[rows], lists.clicked[rows]


def _contents(lists: ShownLists) -> Iterator[tuple[int, tuple[int, ...], tuple[bool, ...]]]:
    for k, query in enumerate(lists.queries.tolist()):
        rows = slice(lists.offsets[k], lists.offsets[k + 1])
        yield query, tuple(lists.documents[rows].tolist()), tuple(lists.clicked[rows].tolist())


def number_documents(
    starts: IntArray,
    documents: Int32Array,
    numbers: Int32Array,
    n_distinct: IntArray,
    threads: int,
) -> None:
    """For each row the place of its document among its query's distinct ones, and how many of them a query has."""
    for query in range(len(n_distinct)):
        rows = slice(starts[query], starts[query + 1])
        distinct, numbers[rows] = np.unique(documents[rows], return_inverse=True)
        n_distinct[query] = len(distinct)


def order_by_query(queries: Int32Array, keys: Uint64Array, n_queries: int, order: IntArray, threads: int) -> None:
    """The places in ascending order of the query, then of the key; where both are equal, places stay in order."""
    assert len(queries) == 0 or queries.max() < n_queries
    order[:] = np.lexsort((keys, queries))


def count_votes(
    lists: ShownLists,
    counts: IntArray,
    rule: str,
    amounts: IntArray,
    table: VoteTable,
    done: IntArray,
    threads: int,
) -> None:
    """Add the votes of the lists; a part whose table is half full stops before a list, which `done` tells."""
    n_parts = len(table.n_used)
    for part in range(n_parts):
        while done[part] < len(lists.queries):
            k = int(done[part])
            if mix(int(lists.queries[k])) % n_parts == part:
                clicked = lists.clicked[lists.offsets[k] : lists.offsets[k + 1]]
                capacity = len(table.queries) // n_parts
                if table.n_used[part] > 0 and table.n_used[part] + _most_votes(rule, clicked) > capacity // 2:
                    break
                times = int(counts[k]) if len(counts) else 1
                _add_votes(lists, k, times, rule, amounts, table, part)
            done[part] += 1


def _most_votes(rule: str, clicked: BoolArray) -> int:
    """How many votes a list casts at most."""
    n_voting = {"exposure": len(clicked), "neighbours": 1}.get(rule, int(clicked.sum()))
    return n_voting * len(clicked)


def _add_votes(
    lists: ShownLists, k: int, times: int, rule: str, amounts: IntArray, table: VoteTable, part: int
) -> None:
    rows = slice(lists.offsets[k], lists.offsets[k + 1])
    documents = lists.documents[rows].tolist()
    deepest = max(0, len(amounts) - 1)
    for better, worse in votes_of(rule, lists.clicked[rows].tolist()):
        if documents[better] != documents[worse]:
            slot = _slot(table, part, int(lists.queries[k]), documents[better] << 32 | documents[worse])
            upper, lower = min(better, worse, deepest), min(max(better, worse), deepest)
            sums = table.above if better < worse else table.below
            sums[slot] += times * (amounts[upper, lower] if len(amounts) else 1)


def _slot(table: VoteTable, part: int, query: int, pair: int) -> int:
    capacity = len(table.queries) // len(table.n_used)
    place = mix(pair ^ mix(query)) % capacity
    while True:
        slot = part * capacity + place
        if table.queries[slot] < 0:
            table.queries[slot], table.pairs[slot] = query, pair
            table.n_used[part] += 1
        if table.queries[slot] == query and table.pairs[slot] == pair:
            return slot
        place = (place + 1) % capacity


def votes_of(rule: str, clicked: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The ranks of better and worse documents of one list."""
    n = len(clicked)
    clicks = [rank for rank in range(n) if clicked[rank]]
    if rule == "exposure":
        yield from ((lower, upper) for lower in range(n) for upper in range(lower))
    if rule == "neighbours":
        for rank in range(n - 1):
            if clicked[rank] != clicked[rank + 1]:
                yield (rank, rank + 1) if clicked[rank] else (rank + 1, rank)
    for click in clicks[-1:] if rule == "last-click" else clicks:
        if rule in ("skip-above", "last-click", "skip-above-and-next"):
            yield from ((click, above) for above in range(click) if not clicked[above])
        if rule in ("next", "skip-above-and-next") and click + 1 < n and not clicked[click + 1]:
            yield click, click + 1
