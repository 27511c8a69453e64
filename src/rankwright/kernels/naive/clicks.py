"""Twins of the kernels on click logs: numbers of ids, groups of equal lists, votes, and steps of click models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array, Int32Array, IntArray, Uint64Array
from rankwright.kernels.naive.common import mix, slices, texts_of
from rankwright.kernels.records import IdTable, PairCells, PairLists, ShownLists, Texts, VoteTable

Id = TypeVar("Id", int, bytes)


def number_integers(
    ids: IntArray, table: IdTable, known: IntArray, progress: IntArray, numbers: Int32Array, threads: int
) -> None:
    """The number of each id from row `progress[1]` on; `progress[0]` ids are known, and new ones are added.

    Where there is no more room for one, `progress[1]` is its row: the next call, with larger arrays, goes on there. The
    table is the compiled kernel's alone, but the twin stops where that would: half of the slots stay free.
    """

    def add(one: int, number: int) -> bool:
        if number == len(known):
            return False
        known[number] = one
        return True

    _number(ids.tolist(), known[: progress[0]].tolist(), add, len(table.hashes), progress, numbers)


def number_texts(
    ids: Texts, table: IdTable, known: Texts, progress: IntArray, numbers: Int32Array, threads: int
) -> None:
    """The same for ids that are texts."""

    def add(one: bytes, number: int) -> bool:
        start = int(known.starts[number])
        if number + 1 == len(known.starts) or start + len(one) > len(known.bytes):
            return False
        known.starts[number + 1] = start + len(one)
        known.bytes[start : start + len(one)] = list(one)
        return True

    seen = texts_of(known.bytes, known.starts[: progress[0] + 1])
    _number(texts_of(*ids), seen, add, len(table.hashes), progress, numbers)


def _number(
    ids: list[Id],
    known: list[Id],
    add: Callable[[Id, int], bool],
    n_slots: int,
    progress: IntArray,
    numbers: Int32Array,
) -> None:
    number_of = {one: number for number, one in enumerate(known)}
    for row in range(int(progress[1]), len(ids)):
        number = len(number_of)
        if ids[row] not in number_of:
            if 2 * (number + 1) > n_slots or not add(ids[row], number):
                progress[:] = number, row
                return
            number_of[ids[row]] = number
        numbers[row] = number_of[ids[row]]
    progress[:] = len(number_of), len(ids)


def _mix(value: int) -> int:
    return int(mix(np.array([value], np.uint64))[0])


def hash_lists(lists: ShownLists, hashes: Uint64Array, threads: int) -> None:
    """For each list a hash of its content."""
    for k, (query, documents, clicked) in enumerate(_contents(lists)):
        value = _mix(query)
        for document, click in zip(documents, clicked, strict=True):
            value = _mix(value ^ (document << 1) ^ int(click))
        hashes[k] = value


def group_lists(lists: ShownLists, hashes: Uint64Array, first: IntArray, threads: int) -> None:
    """For each list the first one that equals it: same query, documents and clicks."""
    assert len(hashes) == len(lists.queries)
    first_of: dict[tuple[int, tuple[int, ...], tuple[bool, ...]], int] = {}
    for k, content in enumerate(_contents(lists)):
        first[k] = first_of.setdefault(content, k)


def take_lists(
    lists: ShownLists, places: IntArray, offsets: IntArray, documents: Int32Array, clicked: BoolArray, threads: int
) -> None:
    """The documents and clicks of the lists at some places, one list after another."""
    rows_of = slices(lists.offsets)
    for place, to in zip(places.tolist(), slices(offsets), strict=True):
        documents[to], clicked[to] = lists.documents[rows_of[place]], lists.clicked[rows_of[place]]


def _contents(lists: ShownLists) -> Iterator[tuple[int, tuple[int, ...], tuple[bool, ...]]]:
    for query, rows in zip(lists.queries.tolist(), slices(lists.offsets), strict=True):
        yield query, tuple(lists.documents[rows].tolist()), tuple(lists.clicked[rows].tolist())


def number_documents(
    starts: IntArray, documents: Int32Array, numbers: Int32Array, n_distinct: IntArray, threads: int
) -> None:
    """For each row the place of its document among its query's distinct ones, and how many of them a query has."""
    for query, rows in enumerate(slices(starts)):
        distinct, numbers[rows] = np.unique(documents[rows], return_inverse=True)
        n_distinct[query] = len(distinct)


def order_by_query(queries: Int32Array, keys: Uint64Array, n_queries: int, order: IntArray, threads: int) -> None:
    """The places in ascending order of the query, then of the key; where both are equal, places stay in order."""
    assert len(queries) == 0 or queries.max() < n_queries
    order[:] = np.lexsort((keys, queries))


def count_votes(
    lists: ShownLists, counts: IntArray, rule: str, amounts: IntArray, table: VoteTable, done: IntArray, threads: int
) -> None:
    """Add the votes of the lists; a part whose table is half full stops before a list, which `done` tells."""
    n_parts = len(table.n_used)
    for part in range(n_parts):
        while done[part] < len(lists.queries):
            k = int(done[part])
            if _mix(int(lists.queries[k])) % n_parts == part:
                clicked = lists.clicked[lists.offsets[k] : lists.offsets[k + 1]]
                capacity = len(table.queries) // n_parts
                if table.n_used[part] > 0 and table.n_used[part] + _most_votes(rule, clicked) > capacity // 2:
                    break
                _add_votes(lists, k, int(counts[k]) if len(counts) else 1, rule, amounts, table, part)
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
    for better, worse in _votes(rule, lists.clicked[rows].tolist()):
        if documents[better] != documents[worse]:
            slot = _slot(table, part, int(lists.queries[k]), documents[better] << 32 | documents[worse])
            upper, lower = min(better, worse, deepest), min(max(better, worse), deepest)
            sums = table.above if better < worse else table.below
            sums[slot] += times * (amounts[upper, lower] if len(amounts) else 1)


def _slot(table: VoteTable, part: int, query: int, pair: int) -> int:
    capacity = len(table.queries) // len(table.n_used)
    place = _mix(pair ^ _mix(query)) % capacity
    while True:
        slot = part * capacity + place
        if table.queries[slot] < 0:
            table.queries[slot], table.pairs[slot] = query, pair
            table.n_used[part] += 1
        if table.queries[slot] == query and table.pairs[slot] == pair:
            return slot
        place = (place + 1) % capacity


def _votes(rule: str, clicked: Sequence[bool]) -> Iterator[tuple[int, int]]:
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


def count_cells(lists: PairLists, context_of: Int32Array, n_cells: IntArray, threads: int) -> None:
    """How many contexts each pair was shown in."""
    n_cells[:] = 0
    for pair, _ in _cells(lists, context_of):
        n_cells[pair] += 1


def fill_cells(
    lists: PairLists,
    context_of: Int32Array,
    starts: IntArray,
    contexts: Int32Array,
    shown: IntArray,
    clicks: IntArray,
    threads: int,
) -> None:
    """How often each pair was shown and clicked in each of its contexts, by pair, then by context."""
    assert starts[-1] == len(contexts)
    for place, ((_, context), (n_shown, n_clicks)) in enumerate(sorted(_cells(lists, context_of).items())):
        contexts[place], shown[place], clicks[place] = context, n_shown, n_clicks


def _cells(lists: PairLists, context_of: Int32Array) -> dict[tuple[int, int], list[int]]:
    n_ranks = len(context_of)
    cells: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    for pairs, clicked, count in _each(lists):
        last = 0  # one more than the rank of the last click
        for rank, pair in enumerate(pairs):
            cell = cells[pair, int(context_of[min(rank, n_ranks - 1), last])]
            cell[0] += count
            if clicked[rank]:
                cell[1] += count
                last = min(rank + 1, n_ranks)
    return cells


def _each(lists: PairLists) -> Iterator[tuple[list[int], BoolArray, int]]:
    for rows, count in zip(slices(lists.offsets), lists.counts.tolist(), strict=True):
        yield lists.pairs[rows].tolist(), lists.clicked[rows], count


def examination_step(
    cells: PairCells,
    attraction: Float64Array,
    examination: Float64Array,
    examined_of_pair: Float64Array,
    examined_in_context: Float64Array,
    threads: int,
) -> None:
    """Add up the chances that pairs, and contexts, were examined, given the clicks."""
    pair_of_cell = np.repeat(np.arange(len(attraction)), np.diff(cells.starts))
    attracts, chance = attraction[pair_of_cell], examination[cells.contexts]
    examined = cells.clicks + (cells.shown - cells.clicks) * chance * (1 - attracts) / (1 - chance * attracts)
    examined_of_pair[:] = np.bincount(pair_of_cell, examined, len(attraction))
    examined_in_context[:] = np.bincount(cells.contexts, examined, len(examination))


def count_clicks(lists: PairLists, of_pair: IntArray, at_rank: IntArray, threads: int) -> None:
    """Of each pair: shown, clicked, shown down to the first click, down to the last click, clicked last, its ranks.

    Lists without a click count as examined to their end. At each rank: shown, clicked, clicked last.
    """
    of_pair[:], at_rank[:] = 0, 0
    for pairs, clicked, count in _each(lists):
        clicks = clicked.nonzero()[0].tolist()
        to_first, to_last = (clicks[0], clicks[-1]) if clicks else (len(pairs), len(pairs))
        for rank, pair in enumerate(pairs):
            is_click, is_last = rank in clicks, bool(clicks) and rank == to_last
            of_pair[pair] += [count, count * is_click, count * (rank <= to_first), count * (rank <= to_last),
                              count * is_last, count * rank]  # fmt: skip
            at_rank[min(rank, len(at_rank) - 1)] += [count, count * is_click, count * is_last]


def dbn_step(
    lists: PairLists,
    attraction: Float64Array,
    satisfaction: Float64Array,
    persistence: float,
    examined: Float64Array,
    satisfied: Float64Array,
    went_on: Float64Array,
    could_go_on: Float64Array,
    threads: int,
) -> None:
    """Add up the chances that pairs were examined and satisfied, and that users of each query went on."""
    for sums in (examined, satisfied, went_on, could_go_on):
        sums[:] = 0
    every_list = list(_each(lists))
    for query, own in enumerate(slices(lists.list_starts)):
        for pairs, clicked, count in every_list[own]:
            found = _dbn_posterior(attraction[pairs].tolist(), satisfaction[pairs].tolist(), persistence, clicked)
            for pair, is_examined, is_satisfied in zip(pairs, found.examined, found.satisfied, strict=True):
                examined[pair] += count * is_examined
                satisfied[pair] += count * is_satisfied
            went_on[query] += count * sum(found.went_on)
            could_go_on[query] += count * sum(found.could_go_on)


class _Posterior(NamedTuple):
    """The chances of hidden events, rank by rank."""

    examined: list[float]
    satisfied: list[float]
    went_on: list[float]
    could_go_on: list[float]


def _dbn_posterior(attracts: list[float], satisfies: list[float], persistence: float, clicked: BoolArray) -> _Posterior:
    """What the clicks of one list tell."""
    n = len(clicked)
    last = max(clicked.nonzero()[0], default=-1)

    def after(rank: int) -> float:
        """The chance of no click below `rank`, if the user is there and not satisfied."""
        return 1.0 if rank + 1 == n else 1 - persistence + persistence * quiet(rank + 1)

    def quiet(rank: int) -> float:
        """The chance of no click from `rank` on, if it is examined."""
        return (1 - attracts[rank]) * after(rank)

    found = _Posterior([0.0] * n, [0.0] * n, [0.0] * n, [0.0] * n)
    for rank in range(n):
        found.examined[rank] = 1.0 if rank <= max(last, 0) else found.went_on[rank - 1]
        if rank == last:
            content = satisfies[rank]
            found.satisfied[rank] = content / (content + (1 - content) * after(rank))
        if rank + 1 < n:
            could = found.could_go_on[rank] = found.examined[rank] - found.satisfied[rank]
            found.went_on[rank] = 1.0 if rank < last else could * persistence * quiet(rank + 1) / after(rank)
    return found


def position_losses(
    offsets: IntArray,
    labels: Float32Array,
    scores: Float64Array,
    positions: IntArray,
    clicked_weight: Float64Array,
    other_weight: Float64Array,
    of_clicked: Float64Array,
    of_other: Float64Array,
    threads: int,
) -> None:
    """The weighed logistic cost of pairs, at the position of the better document and at that of the worse one."""
    of_clicked[:], of_other[:] = 0, 0
    for own in slices(offsets):
        better, worse = own.start + np.array(np.nonzero(labels[own][:, None] > labels[own]))
        cost = np.logaddexp(0.0, scores[worse] - scores[better])
        np.add.at(of_clicked, positions[better], cost * other_weight[positions[worse]])
        np.add.at(of_other, positions[worse], cost * clicked_weight[positions[better]])
