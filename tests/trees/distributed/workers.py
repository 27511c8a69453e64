"""Data divided among workers, in threads of this process."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from tests.trees.distributed.thread_exchange import ThreadExchange, exchanges_of

from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.share import RowShare, spread_queries


def owners_of(n_queries: int, n_workers: int, how: str) -> np.ndarray:
    """Which worker has each query."""
    rng = np.random.default_rng(n_workers)
    if how == "random":
        return rng.integers(0, n_workers, n_queries)
    if how == "skewed":
        return np.minimum((rng.pareto(1.0, n_queries)).astype(np.int64), n_workers - 1)
    assert how == "empty"
    return np.full(n_queries, n_workers // 2)


def together(n_workers: int, work: Callable[[ThreadExchange], Any]) -> list[Any]:
    """What each of several workers makes of it."""
    ends = exchanges_of(n_workers)

    def ending(end: ThreadExchange) -> Any:
        try:
            return work(end)
        except BaseException:
            end.close()
            raise

    with ThreadPoolExecutor(n_workers) as pool:
        futures = [pool.submit(ending, end) for end in ends]
        errors = [future.exception() for future in futures]
    for error in errors:
        if error is not None and type(error).__name__ != "BrokenBarrierError":
            raise error
    return [future.result() for future in futures]


def divided(data: BinnedDataset, owners: np.ndarray, end: ThreadExchange) -> tuple[BinnedDataset, RowShare]:
    """The worker's part of the data, and its share."""
    queries = np.flatnonzero(owners == end.rank)
    rows = data.groups.rows_of(queries)
    documents = data.documents.take_queries(queries)
    compact = BinnedDataset(np.ascontiguousarray(data.codes[:, rows]), data.mapper, documents, data.feature_names)
    own = spread_queries(compact, queries, data.n_queries)
    return own, RowShare.of(own.groups, data.groups.sizes, end)
