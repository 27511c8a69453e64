"""Several datasets of the same features as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError


def joined(parts: Sequence[RankingDataset]) -> RankingDataset:
    """The queries of one part after those of another: features, labels and initial scores, and nothing else."""
    if any(part.labels is None for part in parts):
        raise InputError("each of several datasets must have labels, and one has none")
    starts = None
    if any(part.initial_scores is not None for part in parts):
        starts = np.concatenate(
            [np.zeros(part.n_docs) if part.initial_scores is None else part.initial_scores for part in parts]
        )
    return RankingDataset(
        features=np.concatenate([part.features for part in parts]),
        labels=np.concatenate([part.labels for part in parts if part.labels is not None]),
        groups=Groups.of_sizes(np.concatenate([part.groups.sizes for part in parts])),
        initial_scores=starts,
        feature_names=parts[0].feature_names,
        categories=parts[0].categories,
    )
