"""What a worker knows of the documents that others have, where several grow one forest together.

A worker's data has all queries of the whole, in their order; those that other workers have are empty in it. So queries
have the same numbers everywhere, and whatever is drawn by number is drawn alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwright.arrays import IntArray, Uint32Array
from rankwright.data.groups import Groups
from rankwright.kernels.records import Exchange


@dataclass(frozen=True, slots=True, eq=False)
class RowShare:
    """A worker's share of the documents: the numbers of its rows among all rows, and the way to the other workers."""

    numbers: Uint32Array
    n_docs: int  # of all workers together
    exchange: Exchange

    @classmethod
    def of(cls, groups: Groups, sizes: IntArray, exchange: Exchange) -> RowShare:
        """The share that has the queries of `groups`, where all queries have these sizes."""
        firsts = np.cumsum(sizes) - sizes
        own = groups.sizes
        within = np.arange(groups.n_docs) - np.repeat(groups.offsets[:-1], own)
        numbers = (np.repeat(firsts, own) + within).astype(np.uint32)
        return cls(numbers, int(sizes.sum()), exchange)


def gathered(exchange: Exchange, own: IntArray) -> IntArray:
    """A row of values for each worker."""
    into = np.empty((exchange.size, len(own)), np.int64)
    exchange.gather(own, into.reshape(-1))
    return into
