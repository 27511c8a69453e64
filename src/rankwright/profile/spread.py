"""How values are spread over bins, and how far one spread is from another: what drift is measured by.

A model file keeps the spread of each feature and of the scores, counted on a sample of the training documents that
depends on what they hold alone: the documents whose features have the smallest hashes. The same data gives the same
profile, whatever the order of rows and files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float32Array, Float64Array, IntArray, Uint64Array
from rankwright.container.checks import check_between, read_array
from rankwright.data.keys import row_hashes
from rankwright.errors import InputError

N_BINS = 10  # of values; one more counts missing ones
SAMPLED = 20_000  # documents that a profile is counted on
HALF = 0.5  # what is added to each count, so that a bin that nobody is in has a logarithm
PREFIX = "profile."  # what the names of a profile's arrays begin with in a model file


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """For some columns, the values between bins and how many documents are in each; the last bin is of missing values.

    A value is in the bin of the largest edge that is not above it; unused edges are NaN.
    """

    edges: Float32Array  # (columns, N_BINS - 1), ascending
    counts: IntArray  # (columns, N_BINS + 1)

    @classmethod
    def of(cls, values: Float32Array) -> Spread:
        """The spread of each column's values over bins of about as many documents each."""
        edges = np.full((values.shape[1], N_BINS - 1), np.nan, np.float32)
        for column in range(values.shape[1]):
            known = np.sort(values[:, column][~np.isnan(values[:, column])])
            if len(known):
                found = _edges_of(known)
                edges[column, : len(found)] = found
        empty = cls(edges, np.zeros((len(edges), N_BINS + 1), np.int64))
        return cls(edges, empty.counted(values))

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.edges)

    def bins(self, values: Float32Array) -> NDArray[np.int8]:
        """The bin of each value."""
        # Comparisons with NaN are false: unused edges count for nothing.
        found: NDArray[np.int8] = (values[:, :, None] >= self.edges[None]).sum(axis=2, dtype=np.int8)
        found[np.isnan(values)] = N_BINS
        return found

    def counted(self, values: Float32Array) -> IntArray:
        """How many values are in each bin, a row for each column."""
        total = np.zeros((self.n_columns, N_BINS + 1), np.int64)
        for start in range(0, len(values), 1024):  # a comparison with each edge is kept for so many rows
            codes = self.bins(values[start : start + 1024]) + np.arange(self.n_columns) * (N_BINS + 1)
            total += np.bincount(codes.reshape(-1), minlength=total.size).reshape(total.shape)
        return total


def _edges_of(known: Float32Array) -> Float32Array:
    """The deciles of sorted values; where some are alike, the most frequent values have a bin of their own.

    Between counts there is nothing: without such bins, counts that all became a little larger would stay in theirs.
    """
    deciles, times = np.unique(known[np.arange(1, N_BINS) * len(known) // N_BINS], return_counts=True)
    frequent = deciles[np.argsort(-times, kind="stable")][: N_BINS - 1 - len(deciles)]
    above = np.where(frequent == 0, np.finfo(np.float32).tiny, np.nextafter(frequent, np.float32(np.inf)))
    return np.unique(np.concatenate([deciles, above.astype(np.float32)]))


def stability_index(before: NDArray[Any], now: NDArray[Any]) -> Float64Array:
    """The population stability index of each row of counts: Σ (p - q) ln(p / q), 0 where both are spread alike."""
    p, q = (_shares(counts) for counts in (before, now))
    index: Float64Array = np.sum((p - q) * np.log(p / q), axis=1)
    return index


def _shares(counts: NDArray[Any]) -> Float64Array:
    filled: Float64Array = np.asarray(counts, np.float64) + HALF
    shares: Float64Array = filled / filled.sum(axis=1, keepdims=True)
    return shares


@dataclass(frozen=True, slots=True, eq=False)
class TrainingProfile:
    """How the features of the training documents were spread, and the scores that the model gave them."""

    features: Spread
    scores: Spread | None  # one column; None where a document's score depends on the rest of its list

    def arrays(self) -> Arrays:
        """The profile's part of a model file."""
        made: Arrays = {f"{PREFIX}edges": self.features.edges, f"{PREFIX}counts": self.features.counts}
        if self.scores is not None:
            made |= {f"{PREFIX}score_edges": self.scores.edges, f"{PREFIX}score_counts": self.scores.counts}
        return made

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_features: int) -> TrainingProfile | None:
        """The profile that a file's arrays hold; None where they hold none, as those of early files."""
        own = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
        if not own:
            return None
        unknown = own.keys() - {"edges", "counts", "score_edges", "score_counts"}
        if unknown:
            raise InputError(f"a profile has no array {sorted(unknown)[0]!r}")
        features = _read_spread(own, "", n_features)
        return cls(features, _read_spread(own, "score_", 1) if "score_edges" in own else None)


def _read_spread(arrays: Mapping[str, NDArray[Any]], prefix: str, n_columns: int) -> Spread:
    edges = read_array(arrays, f"{prefix}edges", np.float32, (n_columns, N_BINS - 1), finite=False)
    counts = read_array(arrays, f"{prefix}counts", np.int64, (n_columns, N_BINS + 1))
    check_between(f"{prefix}counts", counts, 0, SAMPLED)
    known = np.where(np.isnan(edges), np.inf, edges)
    if not (known[:, 1:] >= known[:, :-1]).all():
        raise InputError(f"the array '{PREFIX}{prefix}edges' must ascend, and end with what is unused")
    return Spread(edges, counts)


class HashedSample:
    """The rows with the smallest hashes among all that it is shown, block by block, in any order."""

    def __init__(self, size: int = SAMPLED) -> None:
        self._size = size
        self._hashes: Uint64Array = np.empty(0, np.uint64)
        self._rows: Float32Array = np.empty((0, 0), np.float32)

    def take(self, features: Float32Array) -> None:
        """Look at some more rows, whose memory may be used again afterwards."""
        hashes = row_hashes(features, 1)
        if len(self._hashes) == self._size:
            chosen = np.flatnonzero(hashes < self._hashes[-1])
        else:
            chosen = np.arange(len(hashes))
        if not len(chosen):
            return
        rows = features[chosen] if not len(self._rows) else np.concatenate([self._rows, features[chosen]])
        every = np.concatenate([self._hashes, hashes[chosen]])
        order = np.argsort(every, kind="stable")[: self._size]
        self._hashes, self._rows = every[order], rows[order]

    def rows(self) -> Float32Array:
        """The sample, in the order of the hashes."""
        return self._rows
