"""What tests of tuning share: small data, and an engine that runs tasks here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from rankwright.cluster.engine import Done
from rankwright.data.dataset import RankingDataset


class HereEngine:
    """Runs tasks in this process, one after another: what is tested is not where they run."""

    workers = threads = 1

    def __init__(self) -> None:
        self.ran = 0  # tasks, in all

    def share(self, value: Any) -> Any:
        return value

    def run(
        self, function: Callable[..., Any], tasks: Iterable[Any], *, shared: Any = None, listener: Any = None
    ) -> Iterator[Done]:
        for number, task in enumerate(tasks):
            self.ran += 1
            yield Done(number, function(shared, task, listener), 1.0, "here")

    def __enter__(self) -> HereEngine:
        return self

    def __exit__(self, *_: object) -> None:
        return None


@pytest.fixture
def here() -> HereEngine:
    return HereEngine()


@pytest.fixture(scope="session")
def learnable() -> RankingDataset:
    """Forty queries whose labels follow the first two of four features."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(5, 15, size=40)
    features = rng.normal(size=(int(sizes.sum()), 4)).astype(np.float32)
    worth = features[:, 0] + np.abs(features[:, 1]) + 0.3 * rng.normal(size=len(features))
    labels = np.digitize(worth, [0.5, 1.2, 2.0]).astype(np.float32)
    return RankingDataset.from_arrays(features, labels, qid=np.repeat(np.arange(40), sizes))
