"""Which queries a model was trained on, in a few numbers: enough to notice that it is measured on them.

A query's key is made from the features of its documents, in any order, and not from their labels. A model keeps the
smallest keys of its training queries. They are a fair sample: a query of other data whose key is as small was trained
on only if its key was kept.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import Uint64Array
from rankwright.container.checks import read_field, read_list
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.keys import feature_keys, row_hashes
from rankwright.errors import InputError

MOST_KEPT = 256  # keys, in 5 kB of a model file
NOTICED = 0.1  # share of the queries from which on it is worth a warning: a few may be alike by chance
DIGITS = 16  # of a key in a file
KEY = re.compile(rf"[0-9a-f]{{{DIGITS}}}")


class SeenDataWarning(UserWarning):
    """A model is measured on queries that it was trained on."""


@dataclass(frozen=True, slots=True, eq=False)
class SeenQueries:
    """The smallest keys of the queries that a model was trained on; all of them, where there are few."""

    keys: Uint64Array  # ascending
    complete: bool

    @classmethod
    def of_keys(cls, keys: Uint64Array) -> SeenQueries:
        """The queries with these keys."""
        different = np.unique(keys)
        return cls(different[:MOST_KEPT], len(different) <= MOST_KEPT)

    def share_of(self, keys: Uint64Array) -> float:
        """The share of queries with these keys that were trained on, as far as the keys that were kept can tell."""
        comparable = keys if self.complete else keys[keys <= self.keys[-1]]
        return float(np.isin(comparable, self.keys).mean()) if len(comparable) else 0.0

    def to_dict(self) -> dict[str, Any]:
        """What a model file holds."""
        return {"keys": [f"{key:0{DIGITS}x}" for key in self.keys.tolist()], "complete": self.complete}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> SeenQueries:
        """What `to_dict` gave."""
        texts = read_list(record, "keys", str)
        if not 1 <= len(texts) <= MOST_KEPT or not all(map(KEY.fullmatch, texts)):
            raise InputError(f"keys must be up to {MOST_KEPT} numbers of {DIGITS} hexadecimal digits")
        return cls(np.array(sorted({int(text, 16) for text in texts}), np.uint64), read_field(record, "complete", bool))


def warn_if_seen(
    seen: SeenQueries | None, data: RankingDataset, name: str, *, threads: int | None = None, stacklevel: int = 3
) -> None:
    """Warn where many queries of `data` are among those that the model `name` was trained on."""
    if seen is not None:
        warn_if_hashes_seen(seen, row_hashes(data.features, threads), data.groups, name, stacklevel=stacklevel + 1)


def warn_if_hashes_seen(
    seen: SeenQueries | None, hashes: Uint64Array, groups: Groups, name: str, *, stacklevel: int = 3
) -> None:
    """The same, where only the hashes of the documents' features are at hand."""
    if seen is not None and groups.n_queries:
        warn_of_share(seen.share_of(feature_keys(hashes, groups)), name, stacklevel=stacklevel + 1)


def warn_of_share(share: float, name: str, *, stacklevel: int) -> None:
    """Warn where a share of queries is worth it."""
    if share >= NOTICED:
        how_many = "the queries" if share > 0.95 else f"about {share:.0%} of the queries"
        warnings.warn(
            f"{name} was trained on {how_many} that it is measured on here: its figures say little of other queries; "
            f"measure it on queries held out of training",
            SeenDataWarning,
            stacklevel=stacklevel,
        )
