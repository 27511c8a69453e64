"""What swapping two documents changes: the worths and discounts that metrics are made from."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.metrics.convention import Convention
from rankwright.metrics.metric import Metric
from rankwright.ranking.gains import RECIPROCAL


@runtime_checkable
class SwapMetric(Metric, Protocol):
    """A metric that is made from a worth of each document and a discount of each rank.

    From the two a kernel computes what each swap of two documents changes, so a ranker can be trained for the metric.
    """

    kind: ClassVar[str]  # how the metric is made from the two, as kernels call it

    @property
    def depth(self) -> int:
        """How many ranks count."""

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:
        """What each document counts, given its label and those of its query; no label is NaN."""

    def discount(self, n_ranks: int, convention: Convention) -> Float64Array:
        """The share of a worth that is left at each of the first `n_ranks` ranks; shorter where the rest leave none."""


def relevance_worth(
    _metric: SwapMetric,
    labels: Float32Array,
    groups: Groups,  # noqa: ARG001
    convention: Convention,
    threads: int = 1,  # noqa: ARG001
) -> Float64Array:
    """1 for each relevant document, 0 for the others."""
    return relevance(labels, convention)


def no_discount(metric: SwapMetric, n_ranks: int, convention: Convention) -> Float64Array:  # noqa: ARG001
    """1 at each rank within the cutoff."""
    return np.ones(min(metric.depth, n_ranks))


def reciprocal_discount(metric: SwapMetric, n_ranks: int, convention: Convention) -> Float64Array:  # noqa: ARG001
    """One over each rank, counted from 1, within the cutoff."""
    return RECIPROCAL.table(min(metric.depth, n_ranks))


def convention_discount(metric: SwapMetric, n_ranks: int, convention: Convention) -> Float64Array:
    """The convention's discount of each rank within the cutoff."""
    return convention.discount.table(min(metric.depth, n_ranks))


def relevance(labels: Float32Array, convention: Convention) -> Float64Array:
    """1 for each relevant label, 0 for the others."""
    return convention.relevant.of(labels).astype(np.float64)


def discounts_of(metric: SwapMetric, groups: Groups, convention: Convention) -> Float64Array:
    """The metric's discounts, as many as the longest list needs."""
    return metric.discount(int(groups.sizes.max(initial=0)), convention)


def query_sums(values: Float64Array, groups: Groups) -> Float64Array:
    """The sum of the values, one a row, of each query."""
    return np.bincount(groups.query_of_row, values, groups.n_queries).astype(np.float64)


def shares_of(values: Float64Array, totals: Float64Array | IntArray, groups: Groups) -> Float64Array:
    """Each row's value over the total of its query; 0 where that is 0."""
    total_of_row = np.repeat(totals, groups.sizes)
    return np.divide(values, total_of_row, out=np.zeros_like(values), where=total_of_row > 0)
