"""Stumps: weak rankers that ask one feature whether it is above a threshold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Arrays, BoolArray, Float64Array, IntArray
from rankwright.container.checks import check_between, read_array

LARGEST_WEIGHT = float(np.finfo(np.float32).max)  # of a stump, which becomes a tree


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


@dataclass(frozen=True, slots=True)
class Stump:
    """Adds `weight` to documents whose code is above `bin`, and to those without the feature if `missing_above`."""

    feature: int
    bin: int
    missing_above: bool
    weight: float
    worth: float  # its gain in its round, for importances

    def above(self, documents: FeatureCodes) -> BoolArray:
        """Whether the stump adds its weight to each of the documents."""
        n_bins = int(documents.n_bins[self.feature])
        by_code = np.arange(n_bins + 1) > self.bin
        by_code[n_bins] = self.missing_above
        return np.asarray(by_code[documents.codes[self.feature]])


@dataclass(frozen=True, slots=True, eq=False)
class BestStumps:
    """For each feature the stump with the largest absolute sum of potentials above it, and that sum."""

    sums: Float64Array
    bins: IntArray
    missing_above: BoolArray

    def stump(self, feature: int, weight: float = 1.0, worth: float = 0.0) -> Stump:
        """The stump of a feature; its weight is rounded as leaves store it, so that models score as in training."""
        place, side = int(self.bins[feature]), bool(self.missing_above[feature])
        return Stump(feature, place, side, float(np.float32(weight)), worth)


def best_stumps(documents: FeatureCodes, potentials: Float64Array, *, threads: int = 1) -> BestStumps:
    """The best stump of each feature."""
    n = documents.n_features
    best = BestStumps(np.empty(n), np.empty(n, np.int64), np.empty(n, np.bool_))
    kernels.potential_stumps(
        documents.codes, documents.n_bins, potentials, best.sums, best.bins, best.missing_above, threads
    )
    return best


class StumpRounds:
    """The stumps so far, one for each round, and their scores of the training and of the watched documents.

    `next_stump` gives the stump to add to a model with these scores; None where there is nothing left to learn.
    """

    def __init__(
        self, next_stump: Callable[[Float64Array], Stump | None], documents: FeatureCodes, watched: FeatureCodes | None
    ) -> None:
        self.next_stump, self.documents, self.watched = next_stump, documents, watched
        self.stumps: list[Stump] = []
        self.scores = np.zeros(documents.n_docs)
        self.watched_scores = np.zeros(0 if watched is None else watched.n_docs)

    def take_step(self, step: int) -> bool:  # noqa: ARG002
        """Add a stump; False where no stump helps."""
        stump = self.next_stump(self.scores)
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
        check_between("weight", found["weight"], -LARGEST_WEIGHT, LARGEST_WEIGHT)
        for values in zip(*(found[name].tolist() for name in KINDS), strict=True):
            self._add(Stump(**dict(zip(KINDS, values, strict=True))))

    def _add(self, stump: Stump) -> None:
        self.stumps.append(stump)
        self.scores += np.where(stump.above(self.documents), stump.weight, 0.0)
        if self.watched is not None:
            self.watched_scores += np.where(stump.above(self.watched), stump.weight, 0.0)


KINDS: Mapping[str, type[np.generic]] = {
    "feature": np.int64,
    "bin": np.int64,
    "missing_above": np.bool_,
    "weight": np.float64,
    "worth": np.float64,
}
