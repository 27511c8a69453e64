"""Ids turned into numbers while a log is read, block by block."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rankwright.arrays import IdArray, Int32Array, IntArray
from rankwright.data.ids import ids_of_text
from rankwright.errors import InputError

MOST_IDS = 2**31 - 1  # numbers are stored in 32 bits


class Codes:
    """The number of each id, in the order in which ids were first seen.

    Ids that come as whole numbers are kept in a sorted array, which is much faster than a dictionary; once a text comes
    that is none, all are texts.
    """

    def __init__(self) -> None:
        self._number_of: dict[str, int] = {}
        self._integers, self._numbers = np.empty(0, np.int64), np.empty(0, np.int32)

    def __len__(self) -> int:
        return len(self._number_of) or len(self._integers)

    def of_texts(self, texts: Iterable[str]) -> Int32Array:
        """The numbers of these ids; those not seen before get the next ones."""
        if len(self._integers):
            self._number_of = {str(one): number for number, one in enumerate(self._by_number().tolist())}
            self._integers, self._numbers = np.empty(0, np.int64), np.empty(0, np.int32)
        number_of = self._number_of
        numbers = np.fromiter((number_of.setdefault(text, len(number_of)) for text in texts), np.int64)
        return self._checked(numbers)

    def of_integers(self, distinct: IntArray) -> Int32Array:
        """The numbers of distinct ids that are whole numbers."""
        if self._number_of:
            return self.of_texts(map(str, distinct.tolist()))
        new = np.setdiff1d(distinct, self._integers)
        if len(new):
            first = len(self._integers)
            places = np.searchsorted(self._integers, new)
            numbers = np.arange(first, first + len(new), dtype=np.int32)
            self._integers = np.insert(self._integers, places, new)
            self._numbers = np.insert(self._numbers, places, self._checked(numbers))
        return self._numbers[np.searchsorted(self._integers, distinct)]

    def ids(self) -> IdArray:
        """The ids by number: whole numbers if all are, else strings."""
        return self._by_number() if len(self._integers) else ids_of_text(list(self._number_of))

    def _by_number(self) -> IntArray:
        ids = np.empty(len(self._integers), np.int64)
        ids[self._numbers] = self._integers
        return ids

    def _checked(self, numbers: IntArray | Int32Array) -> Int32Array:
        if len(self) > MOST_IDS:
            raise InputError(f"a log may have {MOST_IDS:,} different ids at most")
        return numbers.astype(np.int32)


def sorted_codes(ids: IdArray) -> tuple[IdArray, Int32Array]:
    """The ids in ascending order, and the new number of each: so that numbers do not depend on the order of a log."""
    order = np.argsort(ids, kind="stable")
    new = np.empty(len(ids), np.int32)
    new[order] = np.arange(len(ids), dtype=np.int32)
    return ids[order], new
