"""What must be known of all documents before a worker can begin with its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.errors import SettingError
from rankwright.objectives.deltas import MetricDelta, fitting_convention
from rankwright.objectives.function import FunctionObjective
from rankwright.objectives.objective import Objective
from rankwright.objectives.pairwise import PairwiseObjective
from rankwright.objectives.usual import UsualForces


def fixed_for_all(
    objective: Objective, highest: float, n_docs: int, n_queries: int, example: RankingDataset
) -> Objective:
    """The objective as it would be bound to all data, of which `example` is a part.

    A worker has some queries only, and does not know the highest label, on which ERR's chance to stop depends, nor how
    long lists are and how much data there is, by which the usual forces are chosen.
    """
    if isinstance(objective, UsualForces):
        objective = objective.for_documents(example, n_docs, n_queries)
    if isinstance(objective, FunctionObjective) and objective.scope == "all":
        raise SettingError(
            f"objective {objective.name} takes all queries at once, and workers have some each: write it for one query "
            f"at a time (scope='query')"
        )
    if not isinstance(objective, PairwiseObjective) or not isinstance(objective.delta, MetricDelta):
        return objective
    if objective.delta.convention is not None:
        return objective
    fitting = fitting_convention(np.array([highest], np.float32))
    return replace(objective, delta=replace(objective.delta, convention=fitting))
