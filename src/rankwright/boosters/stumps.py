"""Stumps: weak rankers that ask one feature whether it is above a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Arrays, BoolArray, Float64Array, IntArray
from rankwright.container.checks import check_between, read_array


@dataclass(frozen=True, slots=True, eq=False)
class FeatureCodes:
    """Bin codes by feature (row) and document (column); a missing value has the code `n_bins[feature]`."""

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
    """For each feature the stump with the largest absolute sum of potentials above it, and that sum."""

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
    worth: float  # its gain in its round, for importances

    def add_to(self, scores: Float64Array, documents: FeatureCodes) -> None:
        """Add the stump's values of the documents to their scores."""
        codes = documents.codes[self.feature]
        n_bins = int(documents.n_bins[self.feature])
        said = np.where(above_by_code(n_bins, self.bin, self.missing_above), self.weight, 0.0)
        scores += said[codes]


class Finder(Protocol):
    """Finds stump after stump."""

    def next_stump(self, scores: Float64Array) -> Stump | None:
        """The stump to add to a model with these scores; None where there is nothing left to learn."""


class StumpRounds:
    """The stumps so far, one for each round, and their scores of the training and of the watched documents."""

    def __init__(self, finder: Finder, documents: FeatureCodes, watched: FeatureCodes | None) -> None:
        self.finder, self.documents, self.watched = finder, documents, watched
        self.stumps: list[Stump] = []
        self.scores = np.zeros(documents.n_docs)
        self.watched_scores = np.zeros(0 if watched is None else watched.n_docs)

    def take_step(self, step: int) -> bool:  # noqa: ARG002
        """Add a stump; False where no stump helps."""
        stump = self.finder.next_stump(self.scores)
        if stump is not None:
            self._add(stump)
        return stump is not None

    @property
    def n_taken(self) -> int:
        """How many rounds found a stump."""
        return len(self.stumps)

    def model(self) -> Arrays:
        """How many stumps there are: stumps never change, so the model of round n is the first n of them."""
        return {"n_stumps": np.array([len(self.stumps)])}

    def memory(self) -> Arrays:
        """The stumps so far."""
        return {name: np.array([getattr(stump, name) for stump in self.stumps], kind) for name, kind in KINDS.items()}

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Add the stumps of an earlier run, in the order in which it found them."""
        features = read_array(memory, "feature", np.int64, (None,))
        check_between("feature", features, 0, self.documents.n_features - 1)
        check_between("bin", memory["bin"], 0, int(self.documents.n_bins.max(initial=0)))
        found = {name: read_array(memory, name, kind, features.shape) for name, kind in KINDS.items()}
        for values in zip(*(found[name].tolist() for name in KINDS), strict=True):
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
    """For each code, whether a stump puts documents with that code above."""
    above = np.arange(n_bins + 1) > bin
    above[n_bins] = missing_above
    return above


def as_leaf(weight: float) -> float:
    """The weight as a leaf of a forest stores it, so that scores in training equal those of the model."""
    return float(np.float32(weight))
