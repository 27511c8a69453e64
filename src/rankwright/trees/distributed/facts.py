"""What workers must know about all documents before they begin with their own."""

from __future__ import annotations

from rankwright.data.dataset import RankingDataset
from rankwright.objectives.objective import DataFacts, DependsOnAllData, Objective


def fixed_for_all(
    objective: Objective, highest: float, n_docs: int, n_queries: int, example: RankingDataset
) -> Objective:
    """The objective as it would be bound to all data, of which `example` is a part.

    A worker has some queries only, and does not know the highest label, on which ERR's chance to stop depends, nor how
    long lists are and how much data there is, by which the usual forces are chosen.
    """
    if isinstance(objective, DependsOnAllData):
        return objective.for_all_data(DataFacts(highest, n_docs, n_queries, example))
    return objective
