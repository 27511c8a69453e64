"""OAP-BPM: the mean of many PRanks."""

from __future__ import annotations

from typing import ClassVar

from rankwright.errors import require
from rankwright.linear.perceptrons import Perceptrons, lesson
from rankwright.linear.rows import JudgedRows
from rankwright.rankers.linear_ranker import DEFAULT_SCALING
from rankwright.rankers.prank import Perceptron
from rankwright.training.driver import Learner
from rankwright.training.spaces import Choice, Space


class OAPBPM(Perceptron):
    """The Online Aggregate PRank - Bayes Point Machine (Harrington 2003): a large-margin PRank.

    Each of `n_perceptrons` PRanks is shown each document with probability `tau`; the mean of their weights and
    thresholds approximates the Bayes point, the centre of all perceptrons that make no mistake. `select` on the
    validation documents chooses the epoch. The other settings are those of PRank.
    """

    name: ClassVar[str] = "oap-bpm"
    space: ClassVar[Space] = {"tau": Choice((0.3, 0.5, 0.7)), "n_perceptrons": Choice((20, 100))}

    def __init__(
        self,
        *,
        n_perceptrons: int = 100,
        tau: float = 0.3,
        epochs: int = 30,
        early_stopping: int | None = None,
        select: str = "ndcg@10",
        scaling: str | None = DEFAULT_SCALING,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.n_perceptrons = n_perceptrons
        self.tau = tau
        self.epochs = epochs
        self.early_stopping = early_stopping
        self.select = select
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _learner(self, rows: JudgedRows, threads: int) -> Learner:
        require(self.n_perceptrons >= 1, f"n_perceptrons must be 1 or more, got {self.n_perceptrons}")
        require(0 < self.tau <= 1, f"tau must be a probability above 0, got {self.tau}")
        return Perceptrons(lesson(rows, self.seed), members=self.n_perceptrons, share=self.tau, threads=threads)
