"""Why two rankers order a pair of documents differently, where the rankers can tell.

This is the one place that asks rankers for explanations: it takes what any object with `explain` answers, as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.errors import RankwrightError

MOST_LINES = 6  # of each ranker's answer


def why_swapped(rankers: Mapping[str, Any], data: RankingDataset, query: int, rows: tuple[int, int]) -> list[str]:
    """Lines on why each of the rankers puts one of two documents above the other; none where no ranker can tell.

    `query` is the query's number, `rows` are the documents' rows in the data. A ranker is asked
    `explain(documents of the query, documents=(one, other))`, by document id; where there are no ids, rows are named as
    the lists of the difference name them.
    """
    own, start = data.take_queries([query]), int(data.groups.offsets[query])
    if own.document_ids is None:
        numbers = np.arange(data.n_docs) if data.source_rows is None else data.source_rows
        named = [f"row {number}" for number in numbers[start : start + own.n_docs]]
        own = replace(own, document_ids=np.array(named))
    assert own.document_ids is not None
    documents = [own.document_ids[row - start] for row in rows]
    lines: list[str] = []
    for name, ranker in rankers.items():
        if not hasattr(ranker, "explain"):
            continue
        try:
            first, *more = str(ranker.explain(own, documents=tuple(documents))).splitlines()[:MOST_LINES] or [""]
        except RankwrightError:  # this kind of ranker, or what it was made from, cannot tell
            continue
        lines += [f"{name}: {first}", *(f"  {line}" for line in more)]
    return lines
