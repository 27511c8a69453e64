"""The forces that LambdaMART follows unless it is told otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankwright.metrics.discounted import NDCG
from rankwright.objectives.deltas import MetricDelta, as_delta
from rankwright.objectives.objective import GRADIENT_DTYPE, Judged, LambdaFn, Objective
from rankwright.objectives.registry import lambdarank, yetirank

LITTLE = 50_000  # documents: with more of them the leaves average what noisy orders add, so few orders do
ORDERS_OF_MUCH = 4


@dataclass(frozen=True, slots=True)
class UsualForces:
    """YetiRank's forces, which rank best by NDCG and by MAP alike (docs/defaults.md).

    They need labels. Where pairs are given instead, or labels are clicks at positions, they are LambdaRank's.

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
        has_judgments = documents.preferences is None and getattr(documents, "positions", None) is None
        chosen = self._judged(dataset.groups.n_docs) if has_judgments else lambdarank(self.metric)
        return chosen.bind(dataset, threads=threads, dtype=dtype)

    def _judged(self, n_docs: int) -> Objective:
        return yetirank() if n_docs <= LITTLE else yetirank(perturbations=ORDERS_OF_MUCH)


def usual_forces(metric: str) -> Objective:
    """The forces for a metric: those for NDCG of any kind, and for other metrics LambdaRank's, which aim at them."""
    delta = as_delta(metric)
    is_ndcg = isinstance(delta, MetricDelta) and isinstance(delta.metric, NDCG)
    return UsualForces(metric) if is_ndcg else lambdarank(metric)
