"""Stumps: weak rankers that ask one feature whether it is above a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Arrays, BoolArray, Float64Array, IntArray


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


class Finder(Protocol):
    """Finds stump after stump."""

    def next_stump(self, scores: Float64Array) -> Stump | None:
        """The stump to add to a model that says so of the documents; None where there is nothing left to learn."""


class StumpRounds:
    """The stumps so far, one a round, and what they say together of the documents trained on and of those watched."""

    def __init__(self, finder: Finder, documents: FeatureCodes, watched: FeatureCodes | None) -> None:
        self.finder, self.documents, self.watched = finder, documents, watched
        self.stumps: list[Stump] = []
        self.scores = np.zeros(documents.n_docs)
        self.watched_scores = np.zeros(0 if watched is None else watched.n_docs)

    def take_step(self, step: int) -> bool:  # noqa: ARG002
        """Add a stump; False where none is worth it."""
        stump = self.finder.next_stump(self.scores)
        if stump is not None:
            self._add(stump)
        return stump is not None

    def model(self) -> Arrays:
        """How many stumps there are: none ever changes, so that the first of them are the model of any round."""
        return {"n_stumps": np.array([len(self.stumps)])}

    def memory(self) -> Arrays:
        """The stumps so far."""
        return {name: np.array([getattr(stump, name) for stump in self.stumps], kind) for name, kind in KINDS.items()}

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Add the stumps of another one, in the order in which it found them."""
        for values in zip(*(memory[name].tolist() for name in KINDS), strict=True):
            self._add(Stump(**dict(zip(KINDS, values, strict=True))))

    def _add(self, stump: Stump) -> None:
        self.stumps.append(stump)
        stump.add_to(self.scores, self.documents)
        if self.watched is not None:
            stump.add_to(self.watched_scores, self.watched)


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
