"""Why two rankers order a pair of documents differently, where the rankers can tell.

This is the one place that asks rankers for explanations: it takes what any object with `explain` answers, as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankwright.data.dataset import RankingDataset

MOST_LINES = 6  # of each ranker's answer


def why_swapped(
    rankers: Mapping[str, Any], data: RankingDataset | None, query: Any, documents: tuple[Any, Any]
) -> list[str]:
    """Lines on why each of the rankers puts one of two documents of a query above the other.

    `documents` are the two documents' ids. Nothing where the data has no ids, or no ranker explains itself.
    """
    if data is None or data.document_ids is None:
        return []
    lines: list[str] = []
    for name, ranker in rankers.items():
        explain = getattr(ranker, "explain", None)
        if explain is not None:
            answer = str(explain(data, query=query, documents=documents)).splitlines()
            lines += [f"{name}: {line}" for line in answer[:MOST_LINES]]
    return lines
