"""Sums that click models are made from, and the steps of their expectation-maximisation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import exp, log1p
from typing import Any

from rankwright.arrays import BoolArray, Float32Array, Float64Array, Int32Array, IntArray
from rankwright.kernels.records import PairCells, PairLists


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


def dbn_posterior(attracts: list[float], satisfies: list[float], persistence: float, clicked: list[bool]) -> Any:
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
