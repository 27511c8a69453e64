"""The fingerprint of data that workers have: the one it has in memory. Its numbers pass the driver piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import IntArray
from rankwright.data.groups import Groups
from rankwright.training.digest import StreamedDigest
from rankwright.trees.bins.binning import BinMapper, slots_of
from rankwright.trees.distributed.members import Coded, RawTask

ROWS_AT_ONCE = 1 << 20  # 16 MB of codes

Ask = Callable[[Sequence[RawTask | None]], list[Any]]  # calls `raw_rows` in the workers


def fingerprint(ask: Ask, place: str, mapper: BinMapper, coded: Sequence[Coded], numbers: Sequence[IntArray]) -> str:
    """The fingerprint of all workers' data; `numbers` are those of each worker's queries among all.

    Training data is asked for by the numbers of queries among all, validation data by those that a worker counts.
    """
    sizes = np.empty(sum(len(own) for own in numbers), np.int64)
    weights = None
    if any(own.query_weights is not None for own in coded):
        weights = np.ones(len(sizes), np.float32)
    for own, places in zip(coded, numbers, strict=True):
        sizes[places] = own.sizes
        if weights is not None and own.query_weights is not None:
            weights[places] = own.query_weights
    pieces = _Pieces(ask, place, Groups.of_sizes(sizes), numbers)
    n_docs, digest = pieces.groups.n_docs, StreamedDigest()
    digest.begin(mapper.code_dtype, (mapper.n_groups, n_docs, slots_of(mapper.code_dtype)))
    for group in range(mapper.n_groups):
        pieces.add_to(digest, "codes", group)
    for array in (mapper.edges, mapper.offsets, np.empty((n_docs, 0), np.float32), pieces.groups.offsets):
        digest.add_whole(array)
    pieces.add_column(digest, "labels", any(own.has_labels for own in coded))
    digest.add_whole(weights)
    pieces.add_column(digest, "document_weights", any(own.has_document_weights for own in coded))
    digest.add_whole(None)  # initial scores
    return digest.hexdigest()


class _Pieces:
    """Rows of all workers in the order of the queries, a piece at a time."""

    def __init__(self, ask: Ask, place: str, groups: Groups, numbers: Sequence[IntArray]) -> None:
        self._ask, self._place, self.groups, self._numbers = ask, place, groups, numbers

    def add_column(self, digest: StreamedDigest, what: str, is_there: bool) -> None:
        if not is_there:
            digest.add_whole(None)
            return
        digest.begin(np.float32, (self.groups.n_docs,))
        self.add_to(digest, what, 0)

    def add_to(self, digest: StreamedDigest, what: str, group: int) -> None:
        for begin, end in self._ranges():
            owned = [own[np.searchsorted(own, begin) : np.searchsorted(own, end)] for own in self._numbers]
            tasks = [self._task(what, group, begin, end, rank, own) for rank, own in enumerate(owned)]
            digest.add(self._joined(self._ask(tasks), owned, begin, end))

    def _task(self, what: str, group: int, begin: int, end: int, rank: int, own: IntArray) -> RawTask | None:
        if not len(own):
            return None
        if self._place == "valid":
            begin, end = (int(np.searchsorted(self._numbers[rank], bound)) for bound in (begin, end))
        return RawTask(self._place, what, group, begin, end)

    def _joined(self, found: Sequence[Any], owned: Sequence[IntArray], begin: int, end: int) -> NDArray[Any]:
        first, last = self.groups.offsets[[begin, end]].tolist()
        given = [part for part in found if part is not None]
        joined = np.empty((last - first, *given[0].shape[1:]), given[0].dtype)
        for part, queries in zip(found, owned, strict=True):
            if part is not None:
                joined[self.groups.rows_of(queries) - first] = part
        return joined

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Runs of queries with about as many rows as may come at once."""
        begin, offsets = 0, self.groups.offsets
        while begin < self.groups.n_queries:
            end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + ROWS_AT_ONCE, side="right")) - 1)
            yield begin, end
            begin = end
