"""Objectives from a function of the user's own: Burges's λ-function, written in Python.

What the function gives is checked at every call, so that a wrong shape or a NaN is reported with its query.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.data.side_columns import Side, columns_asked_for, side_for
from rankwright.errors import InputError, SettingError, require
from rankwright.objectives.objective import (
    GRADIENT_DTYPE,
    DataFacts,
    Judged,
    LambdaFn,
    Lambdas,
    batch_of,
    finite_scores,
    judged_labels,
)

PARTS = ("gradient", "curvature", "cost")


@dataclass(frozen=True, slots=True)
class FunctionObjective:
    """An objective whose forces a Python function gives; `from_function` makes it and explains it."""

    function: Callable[..., Any]
    scope: Literal["query", "all"] = "query"
    label: str | None = None
    learns_alone: ClassVar[bool] = True  # as far as is known

    def __post_init__(self) -> None:
        require(callable(self.function), f"the λ-function must be callable, got {self.function!r}")
        require(self.scope in ("query", "all"), f"scope must be 'query' or 'all', got {self.scope!r}")

    @property
    def name(self) -> str:
        """The given name, or the function's own."""
        return self.label or str(getattr(self.function, "__name__", type(self.function).__name__))

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:  # noqa: ARG002
        """Return the λ-function of a dataset's documents; see `Objective.bind`. It runs on one thread."""
        labels = judged_labels(dataset, f"objective {self.name}")
        asked = columns_asked_for(self.function, 2 if self.scope == "query" else 3)
        side = side_for(asked, getattr(dataset, "side", None), f"λ-function {self.name!r}", dataset.groups.n_docs)
        return BoundFunction(self, labels, dataset.groups, dataset.query_weights, dataset.document_weights, dtype, side)

    def for_all_data(self, facts: DataFacts) -> FunctionObjective:  # noqa: ARG002
        """Return the objective itself; raises where the function takes all queries at once."""
        if self.scope == "all":
            raise SettingError(
                f"objective {self.name} takes all queries at once, and workers have some each: write it for one query "
                f"at a time (scope='query')"
            )
        return self


def from_function(
    function: Callable[..., Any], *, scope: Literal["query", "all"] = "query", name: str | None = None
) -> FunctionObjective:
    """Return an objective whose forces a Python function of your own computes.

    Query weights multiply all that the function gives, document weights its gradient and curvature.

    Parameters
    ----------
    function : callable
        With scope `"query"` it is called as `function(scores, labels)` for one query at a time, with scope `"all"` as
        `function(scores, labels, offsets)` for all at once, where query q owns `offsets[q]` to `offsets[q + 1]`.
        Scores are float64; labels are float32, with NaN for unjudged. Further parameters without a default are side
        columns of the data, by name: `function(scores, labels, margin)`. It returns the gradient dC/ds of each document
        (what descent subtracts; Burges's λ is its negative); or gradient and curvature; or those and the cost of each
        query. Without a curvature every document has 1.
    scope : {"query", "all"}, default "query"
        Whether the function takes one query at a time, or all at once, for those who vectorise.
    name : str, optional
        The name of the objective; the function's own by default.

    Returns
    -------
    Objective
        For `LambdaMART(objective=…)`, `NetRanker(objective=…)` and `diagnose`.

    Examples
    --------
    >>> def pull_to_label(scores, labels):
    ...     return scores - labels
    >>> from_function(pull_to_label).name
    'pull_to_label'
    """
    return FunctionObjective(function, scope, name)


@dataclass(frozen=True, slots=True, eq=False)
class BoundFunction:
    """A λ-function that a Python function computes."""

    objective: FunctionObjective
    labels: Float32Array
    groups: Groups
    query_weights: Float32Array | None
    document_weights: Float32Array | None
    dtype: type[np.floating[Any]]
    side: Side = field(default_factory=dict)

    def __call__(self, scores: ArrayLike, queries: ArrayLike | None = None, key: int | None = None) -> Lambdas:  # noqa: ARG002
        """Return the forces of all queries, or of some; see `LambdaFn`. The function has no use for a key."""
        chosen, starts = batch_of(self.groups, queries)
        rows = slice(None) if queries is None else self.groups.rows_of(chosen)
        # Copies: a function that works in place must not change the caller's scores or the dataset's labels.
        values, labels = finite_scores(scores, length=int(starts[-1])).copy(), self.labels[rows].copy()
        if self.objective.scope == "all":
            result = self.objective.function(values, labels, starts, **self._side(rows))
            forces = self._checked(result, len(values), len(chosen), f"{len(chosen)} queries")
        else:
            forces = self._of_each(values, labels, starts, chosen, self._side(rows))
        per_query = np.ones(len(chosen)) if self.query_weights is None else self.query_weights[chosen]
        per_document = np.repeat(per_query, np.diff(starts)).astype(np.float64)
        if self.document_weights is not None:
            per_document *= self.document_weights[rows]
        gradient, curvature = ((part * per_document).astype(self.dtype) for part in (forces.gradient, forces.curvature))
        return Lambdas(gradient, curvature, forces.cost * per_query)

    def _side(self, rows: slice | IntArray) -> Side:
        """Copies of the side columns of these rows."""
        return {name: np.array(column[rows]) for name, column in self.side.items()}

    def _of_each(
        self, scores: Float64Array, labels: Float32Array, starts: IntArray, queries: IntArray, side: Side
    ) -> Lambdas:
        parts = Lambdas(np.empty(len(scores)), np.empty(len(scores)), np.empty(len(queries)))
        for k, query in enumerate(queries.tolist()):
            docs, n_docs = slice(starts[k], starts[k + 1]), int(starts[k + 1] - starts[k])
            own = {name: column[docs] for name, column in side.items()}
            result = self.objective.function(scores[docs], labels[docs], **own)
            found = self._checked(result, n_docs, 1, f"query {query} with {n_docs} documents")
            parts.gradient[docs], parts.curvature[docs], parts.cost[k] = found.gradient, found.curvature, found.cost[0]
        return parts

    def _checked(self, result: Any, n_docs: int, n_queries: int, place: str) -> Lambdas:
        """The parts that the function gave; an error says what is wrong with them."""
        parts = result if isinstance(result, tuple) else (result,)
        if not 1 <= len(parts) <= len(PARTS):
            raise self._error(place, f"{len(parts)} parts", "a gradient, and perhaps a curvature and a cost")
        gradient = self._vector(parts, 0, n_docs, place)
        curvature = self._vector(parts, 1, n_docs, place) if len(parts) > 1 else np.ones(n_docs)
        cost = self._vector(parts, 2, n_queries, place) if len(parts) > 2 else np.full(n_queries, np.nan)
        if (curvature < 0).any():
            raise self._error(place, f"a curvature of {curvature.min():g}", "0 or more")
        return Lambdas(gradient, curvature, cost)

    def _vector(self, parts: tuple[Any, ...], which: int, length: int, place: str) -> Float64Array:
        array = np.asarray(parts[which])
        if array.dtype.kind not in "fiub":
            raise self._error(place, f"a {PARTS[which]} of {array.dtype}", "real numbers")
        if array.ndim == 0 and which == PARTS.index("cost"):
            array = array.reshape(1)
        if array.shape != (length,):
            raise self._error(place, f"a {PARTS[which]} of shape {array.shape}", f"shape ({length},)")
        if not np.isfinite(array).all():
            raise self._error(place, f"a {PARTS[which]} with {array[~np.isfinite(array)][0]}", "finite numbers")
        return array.astype(np.float64)

    def _error(self, place: str, found: str, wanted: str) -> InputError:
        return InputError(f"λ-function {self.objective.name!r} gave {found} for {place}; wanted {wanted}")
