"""Rank perceptrons, epoch by epoch: PRank, with thresholds between the levels of relevance; OAP-BPM, the mean of many;
and kernel PRank, in the space of a kernel or of all products of two features.

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
from rankwright.linear.linear_ranker import JudgedRows, LinearRanker, LinearRecipe, ordinal_levels
from rankwright.linear.model import KernelPRankModel
from rankwright.linear.settings import KernelPRankSettings, OAPBPMSettings, PRankSettings
from rankwright.memory import require_memory
from rankwright.training.driver import Learner, RemembersArrays

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

    def __init__(self, settings: PRankSettings | OAPBPMSettings, rows: JudgedRows, threads: int) -> None:
        self.documents, self.threads = levelled_documents(rows, settings.seed), threads
        members, self.share = 1, 1.0
        if isinstance(settings, OAPBPMSettings):
            members, self.share = settings.n_perceptrons, settings.tau
        self.weights = np.zeros((members, rows.features.shape[1]))
        self.thresholds = np.zeros((members, self.documents.n_thresholds))

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
        require_memory(2 * 8 * n**2, f"the quadratic kernel of {n:,} features")  # this step and the one before
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
    grown: ClassVar[tuple[str, ...]] = (
        "support",
        "coefficients",
    )  # in the model; in memory they have room for all documents

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
        support = self.support, self.coefficients, self.n_support
        kernels.kernel_prank_pass(
            self.documents, order, self.kernel, self.gamma, *support, self.thresholds, self.threads
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


def predict_levels(self: LinearRanker, X: Any, qid: Any = None) -> Float32Array:
    """Give each document a label.

    Parameters
    ----------
    X, qid
        As for `predict`.

    Returns
    -------
    array of float32
        The label that the thresholds give each document: that of the first threshold above its score.
    """
    scores = np.asarray(self.predict(X, qid))
    # Equal steps keep thresholds in order; weighted steps may not.
    thresholds = np.sort(self.arrays_["thresholds"])
    found: Float32Array = self.arrays_["level_labels"][np.searchsorted(thresholds, scores, side="right")]
    return found


class PRank(LinearRanker, PRankSettings):
    """A document's level is the number of thresholds that its score, w·x, reaches. Thresholds on the wrong side of it
    are moved by 1, and w by the document times the sum of these moves. Documents come one by one in a new random order
    each epoch, whatever their queries; `select` on the validation documents chooses the epoch, and `early_stopping` is
    the number of epochs without a better one after which to stop. A document's weight, times that of its query,
    multiplies its moves.

    Every label that occurs is a level; above 64 different labels, neighbouring labels share one. `predict_levels` gives
    levels.
    """

    recipe = LinearRecipe(Perceptrons, alone=True)
    predict_levels = predict_levels


class OAPBPM(LinearRanker, OAPBPMSettings):
    """Each of `n_perceptrons` PRanks is shown each document with probability `tau`; the mean of their weights and
    thresholds approximates the Bayes point, the centre of all perceptrons that make no mistake. `select` on the
    validation documents chooses the epoch. The other settings are those of PRank.
    """

    recipe = LinearRecipe(Perceptrons, alone=True)
    predict_levels = predict_levels


def kernel_perceptron(settings: KernelPRankSettings, rows: JudgedRows, threads: int) -> Learner:
    """The learner in the space of the kernel."""
    gamma = 1.0 / max(1, rows.features.shape[1]) if settings.gamma is None else float(settings.gamma)
    documents = levelled_documents(rows, settings.seed)
    if settings.features == "quadratic":
        return QuadraticPerceptron(documents, gamma=gamma, threads=threads)
    return KernelPerceptron(
        documents, kernel=settings.kernel, gamma=gamma, max_support=settings.max_support, threads=threads
    )


class KernelPRank(LinearRanker, KernelPRankSettings):
    """The score is a sum of `kernel` values (rbf: exp(-γ |x - z|²), quadratic: (1 + γ x·z)², cubic) with the documents
    that were learned from, its support. `gamma` is 1 over the number of features unless given. `max_support` bounds
    the support: where it is full, a new document takes the place of the one with the smallest coefficient, the earlier
    place among equals. Without it, training takes time in proportion to documents times support.

    `features="quadratic"` is Quad PRank (Burges et al. 2005, section 6): the perceptron of the quadratic kernel, with
    its weights as a symmetric matrix of the products of two features instead of a support. It is the same function, in
    time and memory that do not grow with the documents; `kernel` and `max_support` have no part in it. The other
    settings are those of PRank.
    """

    model_kind = KernelPRankModel

    recipe = LinearRecipe(kernel_perceptron, alone=True)
    predict_levels = predict_levels
