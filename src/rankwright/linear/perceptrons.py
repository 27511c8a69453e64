"""Rank perceptrons, epoch by epoch: a single one, a committee, one of all products of features, one with a kernel.

The order of the documents in epoch t is drawn from the seed and t alone, so a resumed run goes on as if it had never
stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Arrays, Float32Array, IntArray
from rankwright.container.checks import check_between, read_array
from rankwright.kernels.records import LevelledRows
from rankwright.linear.rows import JudgedRows, ordinal_levels
from rankwright.training.driver import RemembersArrays

MOST_LEVELS = 64  # thresholds are looked at one by one: more levels would tell little and cost much


@dataclass(frozen=True, slots=True, eq=False)
class LevelledDocuments(LevelledRows):
    """What a perceptron learns from: documents with levels, in an order that the seed gives."""

    level_labels: Float32Array  # the lowest label of each level
    seed: int

    @property
    def n_thresholds(self) -> int:
        """The number of thresholds: one between neighbouring levels."""
        return len(self.level_labels) - 1

    def epoch(self, number: int) -> tuple[IntArray, int]:
        """The order of the documents, and the key for all else that is drawn."""
        rng = np.random.default_rng([self.seed, number])
        return rng.permutation(len(self.levels)), int(rng.integers(2**63))


def levelled_documents(rows: JudgedRows, seed: int) -> LevelledDocuments:
    """The documents of `rows`, with a level for each label."""
    levels, labels = ordinal_levels(rows.labels, MOST_LEVELS)
    return LevelledDocuments(
        rows.features, levels, rows.weights, labels if len(labels) else np.zeros(1, np.float32), seed
    )


class Perceptrons(RemembersArrays):
    """Linear perceptrons of which each sees a document with probability `share`; the model is their mean."""

    remembered: ClassVar[tuple[str, ...]] = ("weights", "thresholds")

    def __init__(self, documents: LevelledDocuments, *, members: int, share: float, threads: int) -> None:
        self.documents, self.share, self.threads = documents, share, threads
        self.weights = np.zeros((members, documents.features.shape[1]))
        self.thresholds = np.zeros((members, documents.n_thresholds))

    def take_step(self, step: int) -> bool:
        """Take every member through its documents once."""
        order, key = self.documents.epoch(step)
        before = self.weights.copy()
        kernels.prank_pass(self.documents, order, self.share, key, self.weights, self.thresholds, self.threads)
        return self.share < 1 or not np.array_equal(before, self.weights)

    def model(self) -> Arrays:
        """The mean weights and thresholds."""
        return {
            "weights": self.weights.mean(axis=0),
            "thresholds": self.thresholds.mean(axis=0),
            "level_labels": self.documents.level_labels,
        }


class QuadraticPerceptron(RemembersArrays):
    """A perceptron in the space of the kernel (1 + γ x·z)², which is that of all products of two features.

    Its weights there are a symmetric matrix: no product is ever stored for a document, and no support is kept.
    """

    remembered: ClassVar[tuple[str, ...]] = ("constant", "weights", "matrix", "thresholds")

    def __init__(self, documents: LevelledDocuments, *, gamma: float, threads: int) -> None:
        self.documents, self.gamma, self.threads = documents, gamma, threads
        n = documents.features.shape[1]
        self.constant, self.weights, self.matrix = np.zeros(1), np.zeros(n), np.zeros((n, n))
        self.thresholds = np.zeros(documents.n_thresholds)

    def take_step(self, step: int) -> bool:
        """Go through all documents once."""
        order, _ = self.documents.epoch(step)
        before = self.matrix.copy()
        kernels.quadratic_prank_pass(
            self.documents, order, self.gamma, self.constant, self.weights, self.matrix, self.thresholds, self.threads
        )
        return not np.array_equal(before, self.matrix)

    def model(self) -> Arrays:
        """The form, its thresholds and γ."""
        arrays = {name: values.copy() for name, values in self.memory().items()}
        return arrays | {"gamma": np.array([self.gamma]), "level_labels": self.documents.level_labels}


class KernelPerceptron(RemembersArrays):
    """A perceptron whose score is a sum of kernel values with the documents it learned from."""

    remembered: ClassVar[tuple[str, ...]] = ("support", "coefficients", "n_support", "thresholds")
    grown: ClassVar[tuple[str, ...]] = ("support", "coefficients")  # of the model; in memory there is room for all

    def __init__(
        self, documents: LevelledDocuments, *, kernel: str, gamma: float, max_support: int | None, threads: int
    ) -> None:
        self.documents, self.kernel, self.gamma, self.threads = documents, kernel, gamma, threads
        n_places = len(documents.levels) if max_support is None else min(max_support, len(documents.levels))
        self.support, self.coefficients = np.zeros(n_places, np.int64), np.zeros(n_places)
        self.n_support = np.zeros(1, np.int64)
        self.thresholds = np.zeros(documents.n_thresholds)

    def take_step(self, step: int) -> bool:
        """Go through all documents once."""
        order, _ = self.documents.epoch(step)
        before = self.coefficients.copy()
        kernels.kernel_prank_pass(
            self.documents,
            order,
            self.kernel,
            self.gamma,
            self.support,
            self.coefficients,
            self.n_support,
            self.thresholds,
            self.threads,
        )
        return not np.array_equal(before, self.coefficients)

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue with the support of an earlier run, which are rows of the documents."""
        for name in self.grown:
            read_array(memory, name, getattr(self, name).dtype, self.support.shape)
        super().take_up(memory)
        check_between("support", self.support, 0, len(self.documents.levels) - 1)
        check_between("n_support", self.n_support, 0, len(self.support))

    def model(self) -> Arrays:
        """The supporting documents that count, their coefficients, the thresholds and γ."""
        held = slice(0, int(self.n_support[0]))
        counts = self.coefficients[held] != 0
        return {
            "support": self.documents.features[self.support[held][counts]],
            "coefficients": self.coefficients[held][counts],
            "thresholds": self.thresholds.copy(),
            "gamma": np.array([self.gamma]),
            "level_labels": self.documents.level_labels,
        }
