"""Combined regression and ranking: one model good at both."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from rankwright.errors import UnknownNameError, require
from rankwright.linear.combined import CombinedDescent
from rankwright.linear.rows import JudgedRows
from rankwright.rankers.linear_ranker import DEFAULT_SCALING, LinearRanker
from rankwright.training.driver import Learner
from rankwright.training.spaces import Choice, Real, Space

LOSSES = ("squared", "logistic")


class CRR(LinearRanker):
    """Combined regression and ranking by stochastic descent (Sculley 2010).

    Minimises α · regression loss + (1 - α) · ranking loss + ½ · l2 · |w|², where `alpha` is α. With probability α a
    draw is a document, whose score is pulled to its label; else it is a pair of different labels of one query, and the
    difference of its scores is pulled to that of its labels. `loss="logistic"` regresses whether the label is above 0,
    and whether the first of a pair is the better one. Pairs are drawn evenly from all there are, without forming them.
    An epoch has as many draws as there are documents; the rate falls as 1 / (4 · mean |x|² + l2 · draws), and no step
    goes past the point of no error. `select` on validation documents chooses the epoch. A document's weight, times that
    of its query, multiplies its steps, for a pair both documents' do.
    """

    name: ClassVar[str] = "crr"
    budget: ClassVar[str | None] = "epochs"
    space: ClassVar[Space] = {"alpha": Choice((0.5, 0.1, 0.0)), "l2": Real(1e-4, 1.0, log=True)}

    def __init__(
        self,
        *,
        alpha: float = 0.5,
        loss: Literal["squared", "logistic"] = "squared",
        l2: float = 0.01,
        epochs: int = 20,
        early_stopping: int | None = None,
        select: str = "ndcg@10",
        scaling: str | None = DEFAULT_SCALING,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.l2 = l2
        self.epochs = epochs
        self.early_stopping = early_stopping
        self.select = select
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _learner(self, rows: JudgedRows, threads: int) -> Learner:
        if self.loss not in LOSSES:
            raise UnknownNameError("loss", self.loss, known=LOSSES)
        require(0 <= self.alpha <= 1, f"alpha must be a share between 0 and 1, got {self.alpha}")
        require(0 <= self.l2 < np.inf, f"l2 must be 0 or more, got {self.l2}")
        return CombinedDescent(
            rows,
            regression_share=self.alpha,
            l2=self.l2,
            logistic=self.loss == "logistic",
            seed=self.seed,
            threads=threads,
        )
