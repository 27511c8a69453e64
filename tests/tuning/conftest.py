"""What tests of tuning share: small data."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.data.dataset import RankingDataset


@pytest.fixture(scope="session")
def learnable() -> RankingDataset:
    """Forty queries whose labels follow the first two of four features."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(5, 15, size=40)
    features = rng.normal(size=(int(sizes.sum()), 4)).astype(np.float32)
    worth = features[:, 0] + np.abs(features[:, 1]) + 0.3 * rng.normal(size=len(features))
    labels = np.digitize(worth, [0.5, 1.2, 2.0]).astype(np.float32)
    return RankingDataset.from_arrays(features, labels, qid=np.repeat(np.arange(40), sizes))
