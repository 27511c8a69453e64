"""Random data that shows every awkward case to the tools we compare with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from rankwright.data.dataset import RankingDataset


@dataclass(frozen=True)
class Judged:
    """Scores and labels of queries of `sizes` documents, one after another."""

    scores: np.ndarray
    labels: np.ndarray
    sizes: np.ndarray

    @property
    def data(self) -> RankingDataset:
        return RankingDataset.from_arrays(np.zeros((len(self.labels), 1)), self.labels, group=self.sizes)

    @property
    def qid(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


@pytest.fixture(params=range(3))
def judged(request) -> Judged:
    """Labels 0 to 4; ties, queries of one document, shorter than any cutoff, and with nothing relevant."""
    rng = np.random.default_rng(request.param)
    sizes = np.concatenate([[1, 1, 2, 3], rng.integers(1, 40, size=60)])
    n = int(sizes.sum())
    labels = rng.choice(5, size=n, p=[0.5, 0.25, 0.15, 0.07, 0.03])
    empty = np.repeat(np.arange(len(sizes)) % 6 == 1, sizes)
    labels[empty] = 0
    scores = np.round(rng.normal(size=n), 1 if request.param else 6)
    return Judged(scores, labels, sizes)
