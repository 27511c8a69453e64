"""Metrics that callers write themselves: a function of a query's labels and scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankwright.arrays import Float32Array, Float64Array
from rankwright.data.groups import Groups
from rankwright.errors import InputError
from rankwright.metrics.convention import Convention
from rankwright.ranking.order import Ranking

MetricFunction = Callable[[Float32Array, Float64Array], float]


@dataclass(frozen=True, slots=True)
class FunctionMetric:
    """A metric that calls a function with the labels and the scores of one query after another.

    Documents nobody judged are left out, and a query without judged documents does not count. A function with the
    attribute `higher_is_better = False` is an error to be made small.
    """

    depends_on: ClassVar[frozenset[str]] = frozenset()

    function: MetricFunction

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value is a better one, which the function's attribute of that name says."""
        return bool(getattr(self.function, "higher_is_better", True))

    @property
    def name(self) -> str:
        """The name of the function."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def per_query(
        self,
        ranking: Ranking,  # noqa: ARG002
        labels: Float32Array,  # noqa: ARG002
        convention: Convention,  # noqa: ARG002
        threads: int = 1,  # noqa: ARG002
    ) -> Float64Array:
        """An error: the function wants scores, not ranks."""
        raise InputError(f"{self.name} needs scores: it is measured with `evaluate` alone")

    def of_scores(self, scores: Float64Array, labels: Float32Array, groups: Groups) -> Float64Array:
        """The metric of each query; NaN where it has no judged document."""
        values = np.full(groups.n_queries, np.nan)
        for query, rows in enumerate(groups.slices()):
            judged = ~np.isnan(labels[rows])
            if judged.any():
                values[query] = self._value(query, labels[rows][judged], scores[rows][judged])
        return values

    def _value(self, query: int, labels: Float32Array, scores: Float64Array) -> float:
        try:
            found: Any = self.function(labels, scores)
        except Exception as error:
            raise InputError(
                f"the metric {self.name} failed on query number {query}, called with {len(labels)} labels and scores: "
                f"{type(error).__name__}: {error}"
            ) from error
        if not isinstance(found, int | float | np.number | np.bool_):
            raise InputError(f"the metric {self.name} must return a number, got {type(found).__name__}")
        return float(found)
