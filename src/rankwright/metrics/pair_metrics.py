"""Metrics of pairs: how many pairs of documents are in the right order.

Two documents of a query make a pair where their labels differ (Burges 2005, section 2; Burges et al. 2005, section
5.1). A query without a pair does not count, under any convention. A tied pair is half right where ties are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float64Array
from rankwright.metrics.metric import LIST_RULES, ListMetric, SettledLists


@dataclass(frozen=True, slots=True)
class PairError(ListMetric):
    """The share of a query's pairs that are in the wrong order."""

    family: ClassVar[str] = "pair-error"
    higher_is_better: ClassVar[bool] = False
    depends_on: ClassVar[frozenset[str]] = LIST_RULES

    def values(self, lists: SettledLists) -> Float64Array:
        """The share of each query's pairs that its list has in the wrong order."""
        wrong, n_pairs = lists.count(kernels.wrong_pairs, lists.labels)
        shares = np.full(len(wrong), np.nan)
        np.divide(wrong, n_pairs, out=shares, where=n_pairs > 0)
        return shares


@dataclass(frozen=True, slots=True)
class PairAccuracy(ListMetric):
    """The share of a query's pairs that are in the right order."""

    family: ClassVar[str] = "pair-accuracy"
    depends_on: ClassVar[frozenset[str]] = LIST_RULES

    def values(self, lists: SettledLists) -> Float64Array:
        """The share of each query's pairs that its list has in the right order."""
        return 1.0 - PairError().values(lists)
