"""Twins of the kernels on click logs: numbers of ids, groups of equal lists, votes, and steps of click models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import exp, log1p
from typing import TypeVar

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array, Int32Array, IntArray, Uint64Array
from rankwright.kernels.naive.common import mix as mix_all
from rankwright.kernels.records import IdTable, PairCells, PairLists, ShownLists, Texts, VoteTable

Id = TypeVar("Id", int, bytes)


def number_integers(
    ids: IntArray, table: IdTable, known: IntArray, progress: IntArray, numbers: Int32Array, threads: int
) -> None:
    """The number of each id from row `progress[1]` on; `progress[0]` ids are known, and new ones are added.

    Where there is no more room for one, `progress[1]` is its row: the next call, with larger arrays, goes on there. The
    table is the compiled kernel's alone, but the twin stops where that would: half of the slots stay free.
    """
    n_known = int(progress[0])
    number_of = {int(one): number for number, one in enumerate(known[:n_known].tolist())}

    def add(one: int, number: int) -> bool:
        if number == len(known):
            return False
        known[number] = one
        return True

    _number(ids.tolist(), number_of, add, len(table.hashes), progress, numbers)


def number_texts(
    ids: Texts, table: IdTable, known: Texts, progress: IntArray, numbers: Int32Array, threads: int
) -> None:
    """The same for ids that are texts."""
    n_known = int(progress[0])
    seen = _texts(Texts(known.bytes, known.starts[: n_known + 1]))
    number_of = {one: number for number, one in enumerate(seen)}

    def add(one: bytes, number: int) -> bool:
        start = int(known.starts[number])
        if number + 1 == len(known.starts) or start + len(one) > len(known.bytes):
            return False
        known.starts[number + 1] = start + len(one)
        known.bytes[start : start + len(one)] = list(one)
        return True

    _number(_texts(ids), number_of, add, len(table.hashes), progress, numbers)


def _texts(texts: Texts) -> list[bytes]:
    starts = texts.starts.tolist()
    return [texts.bytes[start:stop].tobytes() for start, stop in pairwise(starts)]


def _number(
    ids: list[Id],
    number_of: dict[Id, int],
    add: Callable[[Id, int], bool],
    n_slots: int,
    progress: IntArray,
    numbers: Int32Array,
) -> None:
    for row in range(int(progress[1]), len(ids)):
        number = len(number_of)
        if ids[row] not in number_of:
            if 2 * (number + 1) > n_slots or not add(ids[row], number):
                progress[:] = number, row
                return
            number_of[ids[row]] = number
        numbers[row] = number_of[ids[row]]
    progress[:] = len(number_of), len(ids)


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
    for k, count in enumerate(lists.counts.tolist()):
        rows = slice(lists.offsets[k], lists.offsets[k + 1])
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
    examined_of_pair[:], examined_in_context[:] = 0, 0
    for pair, attracts in enumerate(attraction.tolist()):
        for cell in range(cells.starts[pair], cells.starts[pair + 1]):
            context, clicks = int(cells.contexts[cell]), int(cells.clicks[cell])
            chance, skips = float(examination[context]), int(cells.shown[cell]) - clicks
            examined = clicks + skips * chance * (1 - attracts) / (1 - chance * attracts)
            examined_of_pair[pair] += examined
            examined_in_context[context] += examined


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
    for query in range(len(went_on)):
        for k in range(lists.list_starts[query], lists.list_starts[query + 1]):
            rows = slice(lists.offsets[k], lists.offsets[k + 1])
            pairs, clicked, count = lists.pairs[rows].tolist(), lists.clicked[rows].tolist(), int(lists.counts[k])
            found = dbn_posterior(
                [float(attraction[pair]) for pair in pairs],
                [float(satisfaction[pair]) for pair in pairs],
                persistence,
                clicked,
            )
            for rank, pair in enumerate(pairs):
                examined[pair] += count * found["examined"][rank]
                satisfied[pair] += count * found["satisfied"][rank]
            went_on[query] += count * sum(found["went_on"])
            could_go_on[query] += count * sum(found["could"])


def dbn_posterior(
    attracts: list[float], satisfies: list[float], persistence: float, clicked: list[bool]
) -> dict[str, list[float]]:
    """What the clicks of one list tell, rank by rank: the chances of each hidden event, given the clicks."""
    n = len(clicked)
    last = max((rank for rank in range(n) if clicked[rank]), default=-1)

    def after(rank: int) -> float:
        """The chance of no click below `rank`, if the user is there and not satisfied."""
        return 1.0 if rank + 1 == n else 1 - persistence + persistence * quiet(rank + 1)

    def quiet(rank: int) -> float:
        """The chance of no click from `rank` on, if it is examined."""
        return (1 - attracts[rank]) * after(rank)

    found = {name: [0.0] * n for name in ("examined", "satisfied", "went_on", "could")}
    for rank in range(n):
        if rank <= last:
            found["examined"][rank] = 1.0
        else:
            found["examined"][rank] = found["went_on"][rank - 1] if rank > 0 else 1.0
        if rank == last:
            content = satisfies[rank]
            found["satisfied"][rank] = content / (content + (1 - content) * after(rank))
        if rank + 1 < n:
            if rank < last:
                found["could"][rank] = found["went_on"][rank] = 1.0
            else:
                could = found["examined"][rank] - found["satisfied"][rank]
                found["could"][rank] = could
                found["went_on"][rank] = could * persistence * quiet(rank + 1) / after(rank)
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
    for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        for hi in range(start, stop):
            for lo in range(start, stop):
                if labels[hi] > labels[lo]:
                    gap = float(scores[lo] - scores[hi])
                    cost = max(gap, 0.0) + log1p(exp(-abs(gap)))
                    of_clicked[positions[hi]] += cost * other_weight[positions[lo]]
                    of_other[positions[lo]] += cost * clicked_weight[positions[hi]]
