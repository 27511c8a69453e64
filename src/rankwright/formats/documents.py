"""Documents whose features are handed on while a file is read, and not kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from rankwright.arrays import Float32Array
from rankwright.data.dataset import RankingDataset

# What is done with the features of a block of rows, in the order of the file; the memory may be used again afterwards.
TakeFeatures: TypeAlias = Callable[[Float32Array], None]


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """All of a file but its features: judgments, queries, weights and ids, and what the features are called.

    `data.source_rows` says where in the file, and so among the features handed on, each of its rows stood.
    """

    data: RankingDataset  # with no features
    feature_names: tuple[str, ...] = ()  # none where features only have numbers
