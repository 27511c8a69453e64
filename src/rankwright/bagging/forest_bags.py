"""How a forest is bagged: every bag reads the same bin codes, without a copy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.bagging.copies import copy_of
from rankwright.bagging.plan import BagPlan, QuerySample
from rankwright.rankers.ranker import Ranker
from rankwright.training.loop import Listener
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.forest_ranker import ForestRanker


@dataclass(frozen=True, slots=True, eq=False)
class ForestWork:
    """Trains and scores forests like `member`, which is untrained; `choosing` is what its trees are chosen by."""

    member: ForestRanker
    data: BinnedDataset
    valid: BinnedDataset | None
    choosing: BinnedDataset | None
    bags: BagPlan
    threads: int

    def train(self, bag: int, sample: QuerySample, watch_others: bool, listener: Listener) -> Ranker:
        """The forest of a bag."""
        return copy_of(self.member, seed=self.bags.seed_of(bag), threads=self.threads).fit_binned(
            weighted(self.data, sample),
            None if self.bags.overfit else self.choosing,
            queries=None if sample.is_everything else sample.queries,
            watch_others=watch_others,
            listeners=[listener],
            allow_empty=True,  # of one bag: there is something to learn in the whole
        )

    def score_others(self, member: Ranker, sample: QuerySample) -> Float64Array:
        """The scores of documents out of the bag."""
        rows = self.data.groups.rows_of(sample.others)
        return scores_of_codes(member, self.data, self.threads)[rows] if len(rows) else np.empty(0)

    def score_valid(self, member: Ranker) -> Float64Array:
        """The scores of validation documents."""
        assert self.valid is not None
        return scores_of_codes(member, self.valid, self.threads)

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Ranker:
        """The forest that a file describes."""
        return type(self.member).from_state(header, arrays)


def choosing_part(valid: BinnedDataset | None, parts: Mapping[str, int]) -> BinnedDataset | None:
    """The first of several parts of the validation data, which have so many queries: the one that chooses steps."""
    if valid is None or len(parts) < 2:
        return valid
    documents = valid.documents.take_queries(np.arange(next(iter(parts.values()))))
    codes = np.ascontiguousarray(valid.codes[:, : documents.n_docs])
    return replace(valid, codes=codes, documents=documents, query_keys=None)


def scores_of_codes(member: Ranker, documents: BinnedDataset, threads: int) -> Float64Array:
    """A forest's scores of binned documents."""
    assert isinstance(member, ForestRanker)
    scores = np.full(documents.n_docs, member.base_score_)
    member.forest_.add_scores_of_codes(documents, scores, threads=threads)
    return scores


def weighted(data: BinnedDataset, sample: QuerySample) -> BinnedDataset:
    """`data` with the same codes and each query weighted by how often the sample has it.

    A weight acts like copies: the forces on a query's documents are those on its copies together. The only difference
    is that the minimum of documents in a leaf counts a document once.
    """
    if sample.is_everything:
        return data
    weights = sample.counts.astype(np.float32)
    if data.query_weights is not None:
        weights *= data.query_weights
    return replace(data, documents=replace(data.documents, query_weights=weights))
