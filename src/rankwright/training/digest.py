"""A fingerprint of training data: what tells one run's checkpoint from another's."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.data.dataset import RankingDataset


def data_digest(data: RankingDataset) -> str:
    """A fingerprint of what is learned from: features, judgments, groups and weights."""
    digest = hashlib.sha256()
    parts: list[NDArray[Any] | None] = [data.features, data.groups.offsets, data.labels]
    parts += [data.query_weights, data.document_weights]
    if data.preferences is not None:
        pairs = data.preferences
        parts += [pairs.better, pairs.worse, pairs.probability, pairs.weight]
    for part in parts:
        digest.update(b"-" if part is None else np.ascontiguousarray(part).data.cast("B"))
    return digest.hexdigest()
