"""Fingerprints of training data: what tells one run's checkpoint from another's.

They detect mistakes, not attacks. Gigabytes of features are read for them, so speed counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from rankwright.data.dataset import RankingDataset


def data_digest(data: RankingDataset, *more: NDArray[Any]) -> str:
    """A fingerprint of the data to learn from: features, groups, judgments, weights, initial scores, and `more`."""
    parts: list[NDArray[Any] | None] = [*more, data.features, data.groups.offsets, data.labels]
    parts += [data.query_weights, data.document_weights, data.initial_scores]
    if data.preferences is not None:
        pairs = data.preferences
        parts += [pairs.better, pairs.worse, pairs.probability, pairs.weight]
    return digest_of(parts)


def digest_of(parts: Iterable[NDArray[Any] | None]) -> str:
    """A fingerprint of arrays, in order."""
    digest = xxhash.xxh3_128()
    for part in parts:
        # Without its shape, [a, b] and [c] would look like [a] and [b, c].
        digest.update(b"-" if part is None else f"{part.dtype}{part.shape}".encode())
        digest.update(b"" if part is None else np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


class StreamedDigest:
    """The fingerprint of `digest_of`, of arrays that come in pieces."""

    def __init__(self) -> None:
        self._digest = xxhash.xxh3_128()

    def begin(self, dtype: Any, shape: tuple[int, ...]) -> None:
        """Announce the next array; its pieces follow."""
        self._digest.update(f"{np.dtype(dtype)}{shape}".encode())

    def add(self, piece: NDArray[Any]) -> None:
        """Take in the next piece of the array."""
        self._digest.update(np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data)

    def add_whole(self, array: NDArray[Any] | None) -> None:
        """Take in an array at once, or that there is none."""
        if array is None:
            self._digest.update(b"-")
            return
        self.begin(array.dtype, array.shape)
        self.add(array)

    def hexdigest(self) -> str:
        """The fingerprint."""
        return self._digest.hexdigest()


def digests_of(data: RankingDataset, watched: RankingDataset | None) -> tuple[str, str | None]:
    """The fingerprints of what is trained on and of what is watched, if anything is."""
    return data_digest(data), None if watched is None else data_digest(watched)


def run_identity(training: str, validation: str | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same for a checkpoint to be continued: the fingerprints of the data, and the settings."""
    return {"training data": training, "validation data": validation} | dict(settings)
