"""Pairwise debiasing: how much clicks and their absence at each position count, learned along with a ranker.

After Unbiased LambdaMART (Hu et al. 2019): of a pair of a clicked document and another, the first counts 1 / t⁺ of its
position and the second 1 / t⁻ of its own. Both ratios are those of what pairs at the position still cost, compared with
the first position. Here they are a function of the scores alone, so that training keeps no state between steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright import kernels
from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.clicks.bias import PositionRatios
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.objectives.objective import GRADIENT_DTYPE, Judged, LambdaFn, Lambdas, Objective, finite_scores

ROUNDS = 2  # of finding each ratio from the other
POWER = 0.5  # that ratios of costs are raised to: less than 1 keeps rare positions from counting too much
LEAST_RATIO = 0.1  # so that no click counts more than ten times
STEADYING = 50  # all the data counts as this many queries more, where ratios come from a few (nets learn so)


@dataclass(frozen=True, slots=True)
class PairwiseDebiased:
    """An objective whose documents are weighed anew at every step, by the positions at which they were shown."""

    objective: Objective

    @property
    def name(self) -> str:
        """The name of the objective that is debiased."""
        return self.objective.name

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:
        """Return the λ-function of a dataset of clicks; see `Objective.bind`."""
        documents: Any = getattr(dataset, "documents", dataset)  # a binned dataset's, without features
        usual = _costs_of_a_query(documents, threads)
        return _BoundPairs(self.objective, documents, usual, threads, dtype)


@dataclass(frozen=True, slots=True, eq=False)
class _BoundPairs:
    objective: Objective
    data: RankingDataset
    usual: Float64Array  # costs of positions before anything is learned, per query
    threads: int
    dtype: type[np.floating[Any]]

    def __call__(self, scores: ArrayLike, queries: ArrayLike | None = None, key: int | None = None) -> Lambdas:
        """Return the forces on documents; see `LambdaFn`."""
        data = self.data if queries is None else self.data.take_queries(np.asarray(queries))
        values = finite_scores(scores, length=data.n_docs)
        beside = None if queries is None else self.usual * STEADYING
        ratios = position_ratios(data, values, threads=self.threads, beside=beside)
        weighed = replace(data, document_weights=_weights(data, ratios))
        return self.objective.bind(weighed, threads=self.threads, dtype=self.dtype)(values, key=key)


def check_clicks(data: RankingDataset) -> None:
    """Raise an error unless labels are clicks, 0 or 1, with positions."""
    _clicks(data)


def position_ratios(
    data: RankingDataset, scores: Float64Array, *, threads: int = 1, beside: Float64Array | None = None
) -> PositionRatios:
    """The ratios of all positions, from what pairs still cost under the scores plus the costs `beside`."""
    labels, positions = _clicks(data)
    n = int(positions.max(initial=0)) + 1 if beside is None else beside.shape[1]
    clicked, other = np.ones(n), np.ones(n)
    costs = np.empty((2, n))
    for _ in range(ROUNDS):
        kernels.position_losses(
            data.groups.offsets, labels, scores, positions, 1 / clicked, 1 / other, costs[0], costs[1], threads
        )
        clicked, other = (_ratio(cost) for cost in (costs if beside is None else costs + beside))
    return PositionRatios(clicked, other)


def _costs_of_a_query(data: RankingDataset, threads: int) -> Float64Array:
    """What pairs cost at each position, of clicks and of others, in a query on average, where all scores are equal."""
    labels, positions = _clicks(data)
    n = int(positions.max(initial=0)) + 1
    ones, costs = np.ones(n), np.empty((2, n))
    kernels.position_losses(
        data.groups.offsets, labels, np.zeros(data.n_docs), positions, ones, ones, costs[0], costs[1], threads
    )
    return costs / max(data.n_queries, 1)


def _ratio(costs: Float64Array) -> Float64Array:
    if not costs[0] > 0:
        return np.ones(len(costs))
    ratios = (costs / costs[0]) ** POWER
    return np.where(costs > 0, np.maximum(ratios, LEAST_RATIO), 1.0)


def _clicks(data: RankingDataset) -> tuple[Float32Array, IntArray]:
    if data.labels is None or data.positions is None:
        raise InputError("pairwise debiasing needs clicks as labels, with the position of each document")
    if not np.isin(data.labels[~np.isnan(data.labels)], (0, 1)).all():
        raise InputError("pairwise debiasing needs clicks, 0 or 1, not click rates: leave debias at auto for those")
    return data.labels, data.positions


def _weights(data: RankingDataset, ratios: PositionRatios) -> Float32Array:
    labels, positions = _clicks(data)
    weights = np.where(labels > 0, 1 / ratios.clicked[positions], 1 / ratios.other[positions])
    own = 1.0 if data.document_weights is None else data.document_weights
    return (weights * own).astype(np.float32)
