"""What a page has no room for, as tables that are written next to it: every query's values, and every list's top."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.metrics.comparison.diff import RankedQueries
from rankwright.report.sections.queries import DEPTH
from rankwright.report.sections.subject import Measured


def tables_beside(measured: Measured) -> dict[str, dict[str, Any]]:
    """The tables by name, as columns: `queries`, and `lists` where the lists are known."""
    values: dict[str, Any] = {
        f"{name}:{metric}": evaluation[metric].values
        for name, evaluation in measured.evaluations.items()
        for metric in evaluation.results
    }
    some = measured.some
    tables = {"queries": {"query": some.query_ids, "documents": some.groups.sizes} | values}
    if measured.lists:
        parts = [_tops(name, measured) for name in measured.lists]
        tables["lists"] = {column: np.concatenate([part[column] for part in parts]) for column in parts[0]}
    return tables


def _tops(name: str, measured: Measured) -> dict[str, Any]:
    """The first documents of each query as the system ranked them, a row each."""
    lists = measured.lists[name]
    ranking = RankedQueries.of(lists, measured.some.convention, measured.data).ranking
    query = ranking.groups.query_of_row
    rank = np.arange(len(query)) - ranking.groups.offsets[:-1][query]
    shown = np.flatnonzero(rank < np.minimum(ranking.n_ranked, DEPTH)[query])
    rows = ranking.rows[shown]
    documents = rows if lists.document_ids is None else lists.document_ids[rows]
    return {
        "query": measured.some.query_ids[query[shown]],
        "system": np.full(len(shown), name),
        "rank": rank[shown] + 1,
        "document": documents,
        "label": lists.labels[rows],
        "score": lists.scores[rows],
    }
