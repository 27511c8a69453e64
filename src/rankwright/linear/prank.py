"""PRank: a perceptron with thresholds between the levels of relevance; and OAP-BPM, the mean of many."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.linear.linear_ranker import LinearRanker
from rankwright.linear.perceptrons import Perceptrons, levelled_documents
from rankwright.linear.rows import JudgedRows
from rankwright.linear.settings import OAPBPMSettings, PRankSettings
from rankwright.training.driver import Learner


class Perceptron(LinearRanker):
    """A ranker that keeps thresholds between levels, and so tells a document's level, not only its score."""

    def _learns_alone(self) -> bool:
        return True

    def predict_levels(self, X: Any, qid: Any = None) -> Float32Array:
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
        scores = self.predict(X, qid)
        # Equal steps keep thresholds in order; weighted steps may not.
        thresholds = np.sort(self.arrays_["thresholds"])
        found: Float32Array = self.arrays_["level_labels"][np.searchsorted(thresholds, scores, side="right")]
        return found


class PRank(Perceptron, PRankSettings):
    """A document's level is the number of thresholds that its score, w·x, reaches. Thresholds on the wrong side of it
    are moved by 1, and w by the document times the sum of these moves. Documents come one by one in a new random order
    each epoch, whatever their queries; `select` on the validation documents chooses the epoch, and `early_stopping` is
    the number of epochs without a better one after which to stop. A document's weight, times that of its query,
    multiplies its moves.

    Every label that occurs is a level; above 64 different labels, neighbouring labels share one. `predict_levels` gives
    levels.
    """

    def _learner(self, rows: JudgedRows, threads: int) -> Learner:
        return Perceptrons(levelled_documents(rows, self.seed), members=1, share=1.0, threads=threads)


class OAPBPM(Perceptron, OAPBPMSettings):
    """Each of `n_perceptrons` PRanks is shown each document with probability `tau`; the mean of their weights and
    thresholds approximates the Bayes point, the centre of all perceptrons that make no mistake. `select` on the
    validation documents chooses the epoch. The other settings are those of PRank.
    """

    def _learner(self, rows: JudgedRows, threads: int) -> Learner:
        documents = levelled_documents(rows, self.seed)
        return Perceptrons(documents, members=self.n_perceptrons, share=self.tau, threads=threads)
