"""Metrics of pairs: how many pairs of documents stand the right way round.

Two documents of a query make a pair where their labels differ (paper 2, section 2; paper 1, section 5.1). A query
without a pair does not count, under any convention. A tied pair is half right where ties are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, Float64Array
from rankwright.metrics.convention import Convention
from rankwright.metrics.metric import LIST_RULES, lists_of, settle
from rankwright.ranking.order import Ranking


@dataclass(frozen=True, slots=True)
class PairError:
    """The share of a query's pairs that stand the wrong way round."""

    name: ClassVar[str] = "pair-error"
    higher_is_better: ClassVar[bool] = False
    depends_on: ClassVar[frozenset[str]] = LIST_RULES

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The share of each query's pairs that its list has the wrong way round."""
        return _wrong_share(ranking, labels, convention, threads)


@dataclass(frozen=True, slots=True)
class PairAccuracy:
    """The share of a query's pairs that stand the right way round."""

    name: ClassVar[str] = "pair-accuracy"
    higher_is_better: ClassVar[bool] = True
    depends_on: ClassVar[frozenset[str]] = LIST_RULES

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The share of each query's pairs that its list has the right way round."""
        return 1.0 - _wrong_share(ranking, labels, convention, threads)


def _wrong_share(ranking: Ranking, labels: Float32Array, convention: Convention, threads: int) -> Float64Array:
    ranking, labels = settle(ranking, labels, convention, threads=threads)
    wrong, n_pairs = np.empty(ranking.groups.n_queries), np.empty(ranking.groups.n_queries)
    kernels.wrong_pairs(labels, *lists_of(ranking), wrong, n_pairs, threads)
    shares = np.full(len(wrong), np.nan)
    np.divide(wrong, n_pairs, out=shares, where=n_pairs > 0)
    return shares
