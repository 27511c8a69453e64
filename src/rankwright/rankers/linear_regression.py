"""Linear regression: labels as weighted sums of features."""

from __future__ import annotations

from typing import ClassVar

from rankwright.errors import require
from rankwright.linear.least_squares import LeastSquares
from rankwright.linear.rows import JudgedRows
from rankwright.rankers.linear_ranker import DEFAULT_SCALING, LinearRanker
from rankwright.training.driver import Learner
from rankwright.training.spaces import Real, Space


class LinearRegression(LinearRanker):
    """Ridge regression of the labels (Hoerl and Kennard 1970), in closed form: the pointwise reference.

    The weights minimise the mean squared error, by document and query weights, plus `l2` · |weights|²; the constant
    is not held back. `select` is what `score` measures: there is one step, and nothing to choose.
    """

    name: ClassVar[str] = "linear-regression"
    space: ClassVar[Space] = {"l2": Real(1e-4, 10.0, log=True)}

    def __init__(
        self,
        *,
        l2: float = 0.01,
        select: str = "ndcg@10",
        scaling: str | None = DEFAULT_SCALING,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.l2 = l2
        self.select = select
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _learner(self, rows: JudgedRows, threads: int) -> Learner:
        require(self.l2 >= 0, f"l2 must be 0 or more, got {self.l2}")
        return LeastSquares(rows, l2=self.l2, threads=threads)
