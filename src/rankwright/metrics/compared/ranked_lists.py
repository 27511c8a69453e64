"""The list of one query as a system ranked it: documents by name, with their labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.metrics.convention import Convention
from rankwright.metrics.evaluation import ScoredLists
from rankwright.ranking.order import Ranking, break_ties


@dataclass(frozen=True, slots=True)
class Listed:
    """A document of a list: what it is the same by in two lists, its name, its label (NaN if unjudged), its score."""

    key: Hashable
    name: str
    label: float
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class RankedQueries:
    """The lists of all queries of one system, ranked; unjudged documents are in them, whatever a convention says."""

    lists: ScoredLists
    ranking: Ranking
    data: RankingDataset | None  # where all systems score the same rows

    @classmethod
    def of(cls, lists: ScoredLists, convention: Convention, data: RankingDataset | None) -> RankedQueries:
        """The lists with ties broken as the convention says."""
        labels = np.nan_to_num(lists.labels)
        ranking = lists.ranking(convention.scores, 1)
        return cls(lists, break_ties(ranking, convention.ties, labels=labels, document_ids=lists.document_ids), data)

    def of_query(self, query: int) -> Iterator[Listed]:
        """The documents of a query, the best first; `query` is its number."""
        start = int(self.ranking.groups.offsets[query])
        for row in self.ranking.rows[start : start + int(self.ranking.n_ranked[query])].tolist():
            name = self._name(row)
            label, score = float(self.lists.labels[row]), float(self.lists.scores[row])
            yield Listed(name if self.data is None else row, name, label, score)

    def _name(self, row: int) -> str:
        if self.lists.document_ids is not None:
            return str(self.lists.document_ids[row])
        rows = None if self.data is None else self.data.source_rows
        return f"row {row if rows is None else int(rows[row])}"
