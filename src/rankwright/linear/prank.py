"""PRank: a perceptron with thresholds between the levels of relevance; and OAP-BPM, the mean of many."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.linear.linear_ranker import LinearRanker, LinearRecipe
from rankwright.linear.perceptrons import Perceptrons, levelled_documents
from rankwright.linear.rows import JudgedRows
from rankwright.linear.settings import OAPBPMSettings, PRankSettings
from rankwright.training.driver import Learner


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


def one_perceptron(settings: PRankSettings, rows: JudgedRows, threads: int) -> Learner:
    """The learner of one perceptron."""
    return Perceptrons(levelled_documents(rows, settings.seed), members=1, share=1.0, threads=threads)


class PRank(LinearRanker, PRankSettings):
    """A document's level is the number of thresholds that its score, w·x, reaches. Thresholds on the wrong side of it
    are moved by 1, and w by the document times the sum of these moves. Documents come one by one in a new random order
    each epoch, whatever their queries; `select` on the validation documents chooses the epoch, and `early_stopping` is
    the number of epochs without a better one after which to stop. A document's weight, times that of its query,
    multiplies its moves.

    Every label that occurs is a level; above 64 different labels, neighbouring labels share one. `predict_levels` gives
    levels.
    """

    recipe = LinearRecipe(one_perceptron, alone=True)
    predict_levels = predict_levels


def committee(settings: OAPBPMSettings, rows: JudgedRows, threads: int) -> Learner:
    """The learner of many perceptrons, each of which sees some documents."""
    documents = levelled_documents(rows, settings.seed)
    return Perceptrons(documents, members=settings.n_perceptrons, share=settings.tau, threads=threads)


class OAPBPM(LinearRanker, OAPBPMSettings):
    """Each of `n_perceptrons` PRanks is shown each document with probability `tau`; the mean of their weights and
    thresholds approximates the Bayes point, the centre of all perceptrons that make no mistake. `select` on the
    validation documents chooses the epoch. The other settings are those of PRank.
    """

    recipe = LinearRecipe(committee, alone=True)
    predict_levels = predict_levels
