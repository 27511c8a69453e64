"""How a forest is bagged: every bag reads the same bin codes, and none of them is copied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.ensembles.bags import BagWork
from rankwright.ensembles.plan import BagPlan, QuerySample
from rankwright.rankers.forest_ranker import ForestRanker
from rankwright.rankers.ranker import Ranker
from rankwright.training.loop import Listener
from rankwright.trees.binned import BinnedDataset


def forest_work(
    single: Callable[..., ForestRanker], data: BinnedDataset, valid: BinnedDataset | None, bags: BagPlan, threads: int
) -> BagWork:
    """The work of bagging the forests that `single` makes, given their seed and threads."""
    chooser = None if bags.overfit else valid

    def train(bag: int, sample: QuerySample, watch_others: bool, listener: Listener) -> Ranker:
        return single(seed=bags.seed_of(bag), threads=threads).fit_binned(
            weighted(data, sample),
            chooser,
            queries=None if sample.is_everything else sample.queries,
            watch_others=watch_others,
            listeners=[listener],
        )

    def scores_of(member: Ranker, documents: BinnedDataset) -> Float64Array:
        assert isinstance(member, ForestRanker)
        scores = np.full(documents.n_docs, member.base_score_)
        member.forest_.add_scores_of_codes(documents, scores, threads=threads)
        return scores

    def score_others(member: Ranker, sample: QuerySample) -> Float64Array:
        rows = data.groups.rows_of(sample.others)
        return scores_of(member, data)[rows] if len(rows) else np.empty(0)

    def score_valid(member: Ranker) -> Float64Array:
        assert valid is not None
        return scores_of(member, valid)

    return BagWork(train, score_others, score_valid, type(single()).from_state)


def weighted(data: BinnedDataset, sample: QuerySample) -> BinnedDataset:
    """`data`, codes shared, with a query counting as often as the sample has it.

    A weight is as good as a copy: the forces on a query's documents are those of its copies together. What differs is
    that the least number of documents in a leaf counts different ones.
    """
    if sample.is_everything:
        return data
    weights = sample.counts.astype(np.float32)
    if data.query_weights is not None:
        weights *= data.query_weights
    return replace(data, documents=replace(data.documents, query_weights=weights))
