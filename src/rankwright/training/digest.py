"""Fingerprints of training data: what tells one run's checkpoint from another's.

They detect mistakes, not attacks. Gigabytes of features are read for them, so speed counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from rankwright.data.dataset import RankingDataset

Digests = Callable[[], tuple[str, str | None]]  # the fingerprints of what is trained on, and of what is watched


def data_digest(data: RankingDataset, *more: NDArray[Any]) -> str:
    """A fingerprint of the data to learn from: features, groups, judgments, weights, initial scores, and `more`."""
    values = [data.features] if data.sparse is None else data.sparse.arrays()
    parts: list[NDArray[Any] | None] = [*more, *values, data.groups.offsets, data.labels]
    parts += [data.query_weights, data.document_weights, data.initial_scores]
    if data.preferences is not None:
        pairs = data.preferences
        parts += [pairs.better, pairs.worse, pairs.probability, pairs.weight]
    parts += [(data.side or {})[name] for name in sorted(data.side or {})]
    return digest_of(parts)


def digest_of(parts: Iterable[NDArray[Any] | None]) -> str:
    """A fingerprint of arrays, in order."""
    digest = xxhash.xxh3_128()
    for part in parts:
        # Without its shape, [a, b] and [c] would look like [a] and [b, c].
        digest.update(b"-" if part is None else f"{part.dtype}{part.shape}".encode())
        digest.update(b"" if part is None else np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def digests_of(data: RankingDataset, watched: RankingDataset | None) -> tuple[str, str | None]:
    """The fingerprints of what is trained on and of what is watched, if anything is."""
    return data_digest(data), None if watched is None else data_digest(watched)


def run_identity(training: str, validation: str | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same for a checkpoint to be continued: the fingerprints of the data, and the settings."""
    return {"training data": training, "validation data": validation} | dict(settings)
