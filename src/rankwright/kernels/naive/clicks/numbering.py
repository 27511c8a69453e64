"""Numbers in place of ids, counted from 0 in the order in which ids were first seen."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

from rankwright.arrays import Int32Array, IntArray
from rankwright.kernels.records import IdTable, Texts

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
