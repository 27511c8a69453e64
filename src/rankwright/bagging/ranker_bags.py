"""How any ranker is bagged: a bag is a dataset of its own, and has a query drawn twice two times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.bagging.copies import copy_of
from rankwright.bagging.forest_bags import ForestWork
from rankwright.bagging.mean_rank import rank_scores
from rankwright.bagging.plan import BagPlan, QuerySample
from rankwright.bagging.repetition import repeat_queries
from rankwright.data.dataset import RankingDataset
from rankwright.rankers.ranker import Ranker
from rankwright.training.loop import Listener


@dataclass(frozen=True, slots=True, eq=False)
class RankerWork:
    """Trains and scores rankers like `member`, which is untrained; `forests` does so where they are forests."""

    member: Ranker
    data: RankingDataset
    valid: RankingDataset | None
    choosing: RankingDataset | None  # what a member's steps are chosen by
    bags: BagPlan
    by_rank: bool
    threads: int
    forests: ForestWork | None = None

    def train(self, bag: int, sample: QuerySample, watch_others: bool, listener: Listener) -> Ranker:
        """The ranker of a bag."""
        if self.forests is not None:
            return self.forests.train(bag, sample, watch_others, listener)
        chosen = self.data if sample.is_everything else repeat_queries(self.data, sample.repeated)
        others = self.data.take_queries(sample.others) if watch_others else None
        watched = None if self.bags.overfit else others if self.valid is None else self.choosing
        member = copy_of(self.member, seed=self.bags.seed_of(bag), threads=self.threads)
        return member.fit(chosen, valid=watched, listeners=[listener], allow_empty=True)

    def score_others(self, member: Ranker, sample: QuerySample) -> Float64Array:
        """The scores, or ranks, of documents out of the bag."""
        if len(sample.others) == 0:
            return np.empty(0)
        return member_scores(member, self.data.take_queries(sample.others), self.by_rank)

    def score_valid(self, member: Ranker) -> Float64Array:
        """The scores, or ranks, of validation documents."""
        assert self.valid is not None
        return member_scores(member, self.valid, self.by_rank)

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Ranker:
        """The trained copy that a file describes."""
        return type(self.member).from_state(header, arrays, **own_module(self.member))


def member_scores(member: Ranker, data: RankingDataset, by_rank: bool) -> Float64Array:
    """A bag's scores of documents, or minus its ranks: numbers that can be averaged."""
    scores = member.scores_in_place(data)
    return rank_scores(scores, data.groups) if by_rank else scores


def own_module(member: Ranker) -> dict[str, Any]:
    """The part of a ranker that is not in its file: the user's own module of a net, if there is one."""
    module = getattr(member, "module", None)
    return {} if module is None else {"module": module}
