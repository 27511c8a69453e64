"""PRank: a perceptron with thresholds between the levels of relevance."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.linear.perceptrons import Perceptrons, lesson
from rankwright.linear.rows import JudgedRows
from rankwright.rankers.linear_ranker import DEFAULT_SCALING, LinearRanker
from rankwright.training.driver import Learner
from rankwright.training.spaces import Choice, Space


class Perceptron(LinearRanker):
    """A ranker that keeps thresholds between levels, and so tells a document's level, not only its score."""

    budget: ClassVar[str | None] = "epochs"

    def predict_levels(self, X: Any, qid: Any = None) -> Float32Array:
        """The label that the thresholds give each document: that of the first threshold above its score."""
        scores = self.predict(X, qid)
        # Equal steps keep thresholds in order; document weights need not.
        thresholds = np.sort(self.arrays_["thresholds"])
        found: Float32Array = self.arrays_["level_labels"][np.searchsorted(thresholds, scores, side="right")]
        return found


class PRank(Perceptron):
    """A linear perceptron with rank thresholds (Crammer and Singer 2002).

    A document's level is the number of thresholds that its score, w·x, reaches. Where thresholds stand on the wrong
    side of it they are moved by 1, and w by the document times the sum of these moves. Documents come one by one in a
    new random order each epoch, whatever their queries; `select` on the validation documents chooses the epoch, and
    `early_stopping` is the number of epochs without a better one after which to stop. A document's weight, times that
    of its query, multiplies its moves.

    Every label that occurs is a level; above 64 different labels neighbours share one. `predict_levels` gives levels.
    """

    name: ClassVar[str] = "prank"
    space: ClassVar[Space] = {"scaling": Choice((DEFAULT_SCALING, "query-minmax"))}

    def __init__(
        self,
        *,
        epochs: int = 30,
        early_stopping: int | None = None,
        select: str = "ndcg@10",
        scaling: str | None = DEFAULT_SCALING,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.epochs = epochs
        self.early_stopping = early_stopping
        self.select = select
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _learner(self, rows: JudgedRows, threads: int) -> Learner:
        return Perceptrons(lesson(rows, self.seed), members=1, share=1.0, threads=threads)
