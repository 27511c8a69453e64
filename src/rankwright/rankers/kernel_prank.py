"""Kernel PRank: PRank in the space of a kernel, or of all products of two features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from numpy.typing import NDArray

from rankwright.errors import UnknownNameError, require
from rankwright.features.nystrom import KERNELS
from rankwright.linear.models import KernelModel, Model, QuadraticModel
from rankwright.linear.perceptrons import KernelPerceptron, QuadraticPerceptron, lesson
from rankwright.linear.rows import JudgedRows
from rankwright.rankers.linear_ranker import DEFAULT_SCALING
from rankwright.rankers.prank import Perceptron
from rankwright.training.driver import Learner
from rankwright.training.spaces import Choice, Real, Space

FEATURES = ("kernel", "quadratic")


class KernelPRank(Perceptron):
    """PRank with a kernel (Crammer and Singer 2002).

    The score is a sum of `kernel` values (rbf: exp(-γ |x - z|²), quadratic: (1 + γ x·z)², cubic) with the documents
    that were learned from, its support. `gamma` is 1 over the number of features unless given. `max_support` bounds
    the support: where it is full, a new document takes the place of the one with the smallest coefficient, the earlier
    place among equals. Without it, training takes time in proportion to documents times support.

    `features="quadratic"` is Quad PRank (Burges et al. 2005, section 6): the perceptron of the quadratic kernel, with
    its weights as a symmetric matrix of the products of two features instead of a support. It is the same function, in
    time and memory that do not grow with the documents; `kernel` and `max_support` have no part in it. The other
    settings are those of PRank.
    """

    name: ClassVar[str] = "kernel-prank"
    importance_kinds: ClassVar[tuple[str, ...]] = ()  # a kernel has no weights of features
    space: ClassVar[Space] = {"features": Choice(("quadratic", "kernel")), "gamma": Real(1e-4, 0.1, log=True)}

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        features: Literal["kernel", "quadratic"] = "kernel",
        gamma: float | None = None,
        max_support: int | None = None,
        epochs: int = 10,
        early_stopping: int | None = None,
        select: str = "ndcg@10",
        scaling: str | None = DEFAULT_SCALING,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.features = features
        self.gamma = gamma
        self.max_support = max_support
        self.epochs = epochs
        self.early_stopping = early_stopping
        self.select = select
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _learner(self, rows: JudgedRows, threads: int) -> Learner:
        for name, value, known in (("kernel", self.kernel, KERNELS), ("features", self.features, FEATURES)):
            if value not in known:
                raise UnknownNameError(name, value, known=known)
        require(self.gamma is None or self.gamma > 0, f"gamma must be above 0, got {self.gamma}")
        require(
            self.max_support is None or self.max_support >= 1, f"max_support must be 1 or more, got {self.max_support}"
        )
        gamma = 1.0 / max(1, rows.features.shape[1]) if self.gamma is None else float(self.gamma)
        taught = lesson(rows, self.seed)
        if self.features == "quadratic":
            return QuadraticPerceptron(taught, gamma=gamma, threads=threads)
        return KernelPerceptron(taught, kernel=self.kernel, gamma=gamma, max_support=self.max_support, threads=threads)

    def _model_of(self, arrays: Mapping[str, NDArray[Any]]) -> Model:
        gamma = float(arrays["gamma"][0])
        if self.features == "quadratic":
            return QuadraticModel(gamma, float(arrays["constant"][0]), arrays["weights"], arrays["matrix"])
        return KernelModel(self.kernel, gamma, arrays["support"], arrays["coefficients"])
