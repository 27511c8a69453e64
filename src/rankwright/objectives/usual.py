"""The forces that LambdaMART follows unless it is told otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankwright.metrics.discounted import NDCG
from rankwright.objectives.deltas import MetricDelta, as_delta
from rankwright.objectives.objective import GRADIENT_DTYPE, Judged, LambdaFn, Objective
from rankwright.objectives.registry import lambdarank, ranknet, yetirank

LONG = 250  # documents a query, on average: beyond, few relevant ones are ever near the top of a noisy order
LITTLE_IN_LONG = 100_000  # documents in long lists: with more of them there are enough pairs at the top to learn from
LITTLE = 50_000  # documents: with more of them the leaves average what noisy orders add, so few orders do
ORDERS_OF_MUCH = 4


@dataclass(frozen=True, slots=True)
class UsualForces:
    """YetiRank's forces, which rank best by NDCG and by MAP alike (docs/defaults.md).

    They need labels, and lists that are not so long that most documents never come near the top. In long lists they are
    RankNet's, which learn from every pair, or with much data LambdaRank's. Where pairs are given instead of labels, or
    labels are clicks at positions, they are LambdaRank's.

    Parameters
    ----------
    metric : str
        What LambdaRank's forces aim at: a kind of NDCG.
    """

    name: ClassVar[str] = "yetirank"
    metric: str

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:
        """Return the λ-function of a dataset; see `Objective.bind`."""
        documents: Any = getattr(dataset, "documents", dataset)  # a binned dataset's, without features
        forces = self.for_documents(documents, dataset.groups.n_docs, dataset.groups.n_queries)
        return forces.bind(dataset, threads=threads, dtype=dtype)

    def for_documents(self, documents: Any, n_docs: int, n_queries: int) -> Objective:
        """The forces for data of that size; `documents` says whether it has judgments, and may be a part of it."""
        has_judgments = documents.preferences is None and getattr(documents, "positions", None) is None
        if not has_judgments:
            return lambdarank(self.metric)
        if n_docs > LONG * n_queries:
            return ranknet() if n_docs <= LITTLE_IN_LONG else lambdarank(self.metric)
        return yetirank() if n_docs <= LITTLE else yetirank(perturbations=ORDERS_OF_MUCH)


def usual_forces(metric: str) -> Objective:
    """The forces for a metric: those for NDCG of any kind, and for other metrics LambdaRank's, which aim at them."""
    delta = as_delta(metric)
    is_ndcg = isinstance(delta, MetricDelta) and isinstance(delta.metric, NDCG)
    return UsualForces(metric) if is_ndcg else lambdarank(metric)
