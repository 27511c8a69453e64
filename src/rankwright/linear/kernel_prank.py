"""Kernel PRank: PRank in the space of a kernel, or of all products of two features."""

from __future__ import annotations

from rankwright.linear.linear_ranker import LinearRanker, LinearRecipe
from rankwright.linear.model import KernelPRankModel
from rankwright.linear.perceptrons import KernelPerceptron, QuadraticPerceptron, levelled_documents
from rankwright.linear.prank import predict_levels
from rankwright.linear.rows import JudgedRows
from rankwright.linear.settings import KernelPRankSettings
from rankwright.training.driver import Learner


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
