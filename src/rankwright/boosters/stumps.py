"""Stumps: weak rankers that ask one feature whether it is above a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import BoolArray, Float64Array, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class FeatureCodes:
    """Bin codes, a row a feature, a column a document; a feature's missing values have the code `n_bins[feature]`."""

    codes: NDArray[np.uint8]
    n_bins: IntArray

    @property
    def n_docs(self) -> int:
        """How many documents there are."""
        return int(self.codes.shape[1])

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.n_bins)


@dataclass(frozen=True, slots=True, eq=False)
class BestStumps:
    """For each feature the stump whose documents above have the largest sum of potentials in size, and that sum."""

    sums: Float64Array
    bins: IntArray
    missing_above: BoolArray


def best_stumps(documents: FeatureCodes, potentials: Float64Array, *, threads: int = 1) -> BestStumps:
    """The best stump of each feature."""
    n = documents.n_features
    best = BestStumps(np.empty(n), np.empty(n, np.int64), np.empty(n, np.bool_))
    kernels.potential_stumps(
        documents.codes, documents.n_bins, potentials, best.sums, best.bins, best.missing_above, threads
    )
    return best


@dataclass(frozen=True, slots=True)
class Stump:
    """Adds `weight` to documents whose code is above `bin`, and to those without the feature if `missing_above`."""

    feature: int
    bin: int
    missing_above: bool
    weight: float
    worth: float  # how much it was wanted in its round, for importances

    def add_to(self, scores: Float64Array, documents: FeatureCodes) -> None:
        """Add what the stump says of the documents to their scores."""
        codes = documents.codes[self.feature]
        n_bins = int(documents.n_bins[self.feature])
        said = np.where(above_by_code(n_bins, self.bin, self.missing_above), self.weight, 0.0)
        scores += said[codes]


@dataclass(slots=True)
class StumpRounds:
    """The stumps so far, and what they say together of the documents trained on and of those watched."""

    documents: FeatureCodes
    watched: FeatureCodes | None
    stumps: list[Stump] = field(default_factory=list)
    scores: Float64Array = field(init=False)
    watched_scores: Float64Array = field(init=False)

    def __post_init__(self) -> None:
        self.scores = np.zeros(self.documents.n_docs)
        self.watched_scores = np.zeros(0 if self.watched is None else self.watched.n_docs)

    def add(self, stump: Stump) -> None:
        """Keep a stump and let it speak."""
        self.stumps.append(stump)
        stump.add_to(self.scores, self.documents)
        if self.watched is not None:
            stump.add_to(self.watched_scores, self.watched)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The stumps so far as arrays."""
        return {name: np.array([getattr(stump, name) for stump in self.stumps], kind) for name, kind in KINDS.items()}

    def take_up(self, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Add the stumps that `to_arrays` wrote down, one after another as they were found."""
        for values in zip(*(arrays[name].tolist() for name in KINDS), strict=True):
            self.add(Stump(**dict(zip(KINDS, values, strict=True))))
        return self


KINDS: Mapping[str, type[np.generic]] = {
    "feature": np.int64,
    "bin": np.int64,
    "missing_above": np.bool_,
    "weight": np.float64,
    "worth": np.float64,
}


def above_by_code(n_bins: int, bin: int, missing_above: bool) -> BoolArray:
    """Whether a stump puts documents with a code above, for each code."""
    above = np.arange(n_bins + 1) > bin
    above[n_bins] = missing_above
    return above


def as_leaf(weight: float) -> float:
    """The weight as a leaf of a forest can hold it, so that training and the model say the same."""
    return float(np.float32(weight))
