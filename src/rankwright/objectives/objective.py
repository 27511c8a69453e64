"""What an objective is: a recipe for forces on documents.

Bound to a dataset it becomes a λ-function, which turns scores into `Lambdas`. Both are values: they keep no state from
call to call, so the same scores and the same key give the same forces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.arrays import Float32Array, Float64Array, IntArray, as_scores, as_vector
from rankwright.data.groups import Groups
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, require

GRADIENT_DTYPE = np.float32  # one per document: memory matters; diagnostics ask for float64

FloatArray = NDArray[Any]  # float32 or float64, as the λ-function was asked for


class Lambdas(NamedTuple):
    """Forces on documents: what descent subtracts, how stiff it is, and the cost it lowers.

    `gradient` is dC/ds of each document (paper 2's λ is its negative), `curvature` is 0 or more, and `cost` has a value
    a query, NaN where the forces belong to no cost.
    """

    gradient: FloatArray
    curvature: FloatArray
    cost: Float64Array


class LambdaFn(Protocol):
    """Scores of a dataset's documents to forces on them."""

    def __call__(self, scores: ArrayLike, queries: ArrayLike | None = None, key: int | None = None) -> Lambdas:
        """The forces of all queries, or of the given ones.

        `scores` has one value for each row of those queries, one query after another, and so have the results. Random
        choices (sampled pairs, the order of equal scores) are made from `key` and from nothing else.
        """


class Judged(Protocol):
    """What an objective reads of a dataset: labels or preferences, groups and weights, but no features."""

    @property
    def labels(self) -> Float32Array | None:
        """One a row; NaN is unjudged."""

    @property
    def groups(self) -> Groups:
        """The rows of each query."""

    @property
    def preferences(self) -> Preferences | None:
        """Pairs that replace those made from labels."""

    @property
    def query_weights(self) -> Float32Array | None:
        """One a query; None is all 1."""

    @property
    def document_weights(self) -> Float32Array | None:
        """One a row; None is all 1."""


@runtime_checkable
class Objective(Protocol):
    """What a ranker is trained for."""

    @property
    def name(self) -> str:
        """The name of this objective; `objective_named` turns it back, with its usual settings."""

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:
        """The λ-function of `dataset`'s documents, with everything computed that depends on labels alone."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundKernel:
    """A λ-function that a kernel computes.

    `arguments` are those that the kernel takes besides the batch, the key and the outputs.
    """

    kernel: Callable[..., None]
    arguments: Mapping[str, Any]
    groups: Groups
    threads: int
    dtype: type[np.floating[Any]]
    has_cost: bool = True
    is_random: bool = False

    def __post_init__(self) -> None:
        require(self.dtype in (np.float32, np.float64), f"dtype must be float32 or float64, got {self.dtype}")

    def __call__(self, scores: ArrayLike, queries: ArrayLike | None = None, key: int | None = None) -> Lambdas:
        """The forces of all queries, or of the given ones; see `LambdaFn`."""
        chosen, starts = batch_of(self.groups, queries)
        n_docs = int(starts[-1])
        gradient, curvature = np.empty(n_docs, self.dtype), np.empty(n_docs, self.dtype)
        cost = np.full(len(chosen), np.nan)
        random = {"key": _unsigned(key)} if self.is_random else {}
        self.kernel(
            scores=finite_scores(scores, length=n_docs),
            queries=chosen,
            starts=starts,
            offsets=self.groups.offsets,
            **self.arguments,
            **random,
            gradient=gradient,
            curvature=curvature,
            cost=cost if self.has_cost else np.empty(0),
            threads=self.threads,
        )
        return Lambdas(gradient, curvature, cost)


def batch_of(groups: Groups, queries: ArrayLike | None) -> tuple[IntArray, IntArray]:
    """The queries asked for, and where the rows of each start in a batch that has them one after another."""
    if queries is None:
        return np.arange(groups.n_queries), groups.offsets
    chosen = as_vector(queries, name="queries", dtype=np.int64)
    if len(chosen) and (chosen.min() < 0 or chosen.max() >= groups.n_queries):
        raise InputError(f"queries must lie between 0 and {groups.n_queries - 1}, got {chosen.min()} to {chosen.max()}")
    return chosen, np.concatenate([[0], np.cumsum(groups.sizes[chosen])])


def finite_scores(scores: ArrayLike, *, length: int) -> Float64Array:
    """`scores` as float64; infinities are refused because the gap between two of them is not a number."""
    array = as_scores(scores, length=length)
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError(f"scores must be finite, but score {row} is {array[row]}")
    return array


def judged_labels(dataset: Judged, purpose: str) -> Float32Array:
    """The labels of `dataset`, which `purpose` cannot do without."""
    if dataset.labels is None:
        raise InputError(f"{purpose} needs labels, and the dataset has none")
    return dataset.labels


def weights_of(dataset: Judged) -> dict[str, Float32Array]:
    """The weights as kernels take them: empty where all are 1."""
    none = np.empty(0, np.float32)
    return {
        "document_weights": none if dataset.document_weights is None else dataset.document_weights,
        "query_weights": none if dataset.query_weights is None else dataset.query_weights,
    }


def _unsigned(key: int | None) -> int:
    return 0 if key is None else int(key) & (2**64 - 1)
