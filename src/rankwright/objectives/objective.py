"""What an objective is: a recipe for forces on documents.

Bound to a dataset, an objective becomes a λ-function, which turns scores into `Lambdas`. Both are values: they keep no
state from call to call, so the same scores and the same key give the same forces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float32Array, Float64Array, IntArray, as_scores, as_vector
from rankwright.data.groups import Groups
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, require
from rankwright.kernels.records import Batch, FloatArray, Forces, WeighedGroups

GRADIENT_DTYPE = np.float32  # one per document: memory matters; diagnostics ask for float64


class Lambdas(NamedTuple):
    """The forces on documents.

    Attributes
    ----------
    gradient : numpy.ndarray
        The derivative dC/ds of each document, which descent subtracts; Burges's λ is its negative.
    curvature : numpy.ndarray
        The second derivative of each document, 0 or more, by which a Newton step divides.
    cost : numpy.ndarray
        The cost of each query; NaN where the forces are the derivatives of no cost.
    """

    gradient: FloatArray
    curvature: FloatArray
    cost: Float64Array


class LambdaFn(Protocol):
    """A function from the scores of a dataset's documents to the forces on them; `Objective.bind` makes it."""

    def __call__(self, scores: ArrayLike, queries: ArrayLike | None = None, key: int | None = None) -> Lambdas:
        """Return the forces on the documents of all queries, or of some.

        Parameters
        ----------
        scores : array-like
            One finite score for each row of those queries, one query after another.
        queries : array-like of int, optional
            The queries to look at, by number from 0; all by default.
        key : int, optional
            What random choices are made from (sampled pairs, the order of equal scores), and nothing else; 0 by
            default.

        Returns
        -------
        Lambdas
            Forces in the order of the scores, and a cost for each query.
        """


class Judged(Protocol):
    """The parts of a dataset that an objective reads: labels or preferences, groups and weights, but no features."""

    @property
    def labels(self) -> Float32Array | None:
        """The label of each row; NaN is unjudged."""

    @property
    def groups(self) -> Groups:
        """The rows of each query."""

    @property
    def preferences(self) -> Preferences | None:
        """The pairs that replace those made from labels."""

    @property
    def query_weights(self) -> Float32Array | None:
        """The weight of each query; None means all are 1."""

    @property
    def document_weights(self) -> Float32Array | None:
        """The weight of each row; None means all are 1."""


@runtime_checkable
class Objective(Protocol):
    """What a ranker is trained for; anything with a `name` and `bind` will do."""

    @property
    def name(self) -> str:
        """The name, which `objective_named` turns back into the objective with its usual settings."""

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:
        """Return the λ-function of a dataset's documents, with what depends on labels alone computed once.

        Parameters
        ----------
        dataset : RankingDataset
            The queries, with labels or preferences; features are not read.
        threads : int, default 1
            How many threads compute the forces. It never changes them.
        dtype : type, default numpy.float32
            The precision of the forces: `numpy.float32`, or `numpy.float64` for diagnostics.

        Returns
        -------
        LambdaFn
            A function from scores to `Lambdas`.
        """


@dataclass(frozen=True, slots=True, eq=False)
class DataFacts:
    """What is known of all data where only a part of it is at hand; `example` is some of its documents."""

    highest_label: float
    n_docs: int
    n_queries: int
    example: Judged


@runtime_checkable
class DependsOnAllData(Objective, Protocol):
    """An objective that is bound differently to a part of the data than to all of it."""

    def for_all_data(self, facts: DataFacts) -> Objective:
        """Return an objective that gives a part of the data the forces that it would have among all data."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundKernel:
    """A λ-function that a kernel computes.

    `arguments` are those that the kernel takes besides the batch and the forces to fill.
    """

    kernel: Callable[..., None]
    arguments: Mapping[str, Any]
    groups: Groups
    threads: int
    dtype: type[np.floating[Any]]
    has_cost: bool = True

    def __post_init__(self) -> None:
        require(self.dtype in (np.float32, np.float64), f"dtype must be float32 or float64, got {self.dtype}")

    def __call__(self, scores: ArrayLike, queries: ArrayLike | None = None, key: int | None = None) -> Lambdas:
        """Return the forces on the documents of all queries, or of some; see `LambdaFn`."""
        chosen, starts = batch_of(self.groups, queries)
        n_docs = int(starts[-1])
        gradient, curvature = np.empty(n_docs, self.dtype), np.empty(n_docs, self.dtype)
        cost = np.full(len(chosen), np.nan)
        unsigned_key = 0 if key is None else int(key) & (2**64 - 1)
        batch = Batch(finite_scores(scores, length=n_docs), chosen, starts, unsigned_key)
        forces = Forces(gradient, curvature, cost if self.has_cost else np.empty(0))
        self.kernel(batch=batch, **self.arguments, forces=forces, threads=self.threads)
        return Lambdas(gradient, curvature, cost)


def batch_of(groups: Groups, queries: ArrayLike | None) -> tuple[IntArray, IntArray]:
    """The queries asked for, and where the rows of each start in a batch with one query after another."""
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
    """The labels of `dataset`, which `purpose` needs."""
    if dataset.labels is None:
        raise InputError(f"{purpose} needs labels, and the dataset has none")
    return dataset.labels


def weighed_groups(dataset: Judged) -> WeighedGroups:
    """The queries and their weights as kernels take them: empty where all are 1."""
    given = (dataset.document_weights, dataset.query_weights)
    documents, queries = (np.empty(0, np.float32) if weights is None else weights for weights in given)
    return WeighedGroups(dataset.groups.offsets, documents, queries)
