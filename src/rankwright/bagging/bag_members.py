"""How the member of a bag is trained and scored: a forest on bin codes or shards that all bags share, or any ranker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone

from rankwright.arrays import Float64Array, IntArray, thread_count
from rankwright.bagging.bag_models import rank_scores
from rankwright.bagging.binned_shards import BinnedShards
from rankwright.bagging.samples import BagPlan, QuerySample
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.preferences import Preferences
from rankwright.mart.forest_ranker import ForestRanker
from rankwright.mart.sources import prepared_bins
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.recipe import TrainingRun
from rankwright.rankers.trained import TrainedRanker, TrainingFindings
from rankwright.training.loop import Listener
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.bins.sparse_binning import first_rows
from rankwright.trees.model import forest_model, steps_of

AnyRanker = TypeVar("AnyRanker", bound=Ranker)


def copy_of(ranker: AnyRanker, **changes: Any) -> AnyRanker:
    """An untrained copy with these settings changed; settings that the ranker lacks are ignored."""
    copy: AnyRanker = clone(ranker)
    settings = copy.get_params(deep=False)
    copy.set_params(**{name: value for name, value in changes.items() if name in settings})
    return copy


@dataclass(frozen=True, slots=True, eq=False)
class ForestMembers:
    """Trains and scores forests like `single`, which is untrained; engines send this to their workers.

    `data` are codes that every bag reads without a copy, or shards, of which a bag reads the queries that it drew.
    `choosing` is what a forest's trees are chosen by, and `findings` what was found in the data of all bags.
    """

    single: ForestRanker
    data: BinnedDataset | BinnedShards
    valid: BinnedDataset | None
    choosing: BinnedDataset | None
    bags: BagPlan
    threads: int
    findings: TrainingFindings = field(default_factory=TrainingFindings)

    @property
    def have_one_length(self) -> bool:
        """Whether all forests may have the same number of trees: nobody said how it is to be found."""
        return self.single.n_trees is None and self.single.early_stopping is None

    def length_of(self, forests: Sequence[TrainedRanker]) -> int:
        """How many trees these forests have on average."""
        return max(1, round(sum(map(steps_of, forests)) / len(forests)))

    def train(
        self, bag: int, sample: QuerySample, watch_others: bool, listener: Listener, n_trees: int | None = None
    ) -> TrainedRanker:
        """The forest of a bag: of so many trees, or of as many as are found to be best."""
        queries = sample.queries
        if isinstance(self.data, BinnedShards):
            read = self.data.read(queries, self.threads)
            data, grown_on = weighted(read, QuerySample(sample.counts[queries])), None
        else:
            data, grown_on = weighted(self.data, sample), None if sample.is_everything else queries
        length = {} if n_trees is None else {"n_trees": n_trees}
        member = copy_of(self.single, seed=self.bags.seed_of(bag), threads=self.threads, **length)
        member.check()
        chosen_by = None if self.bags.overfit or length else self.choosing
        run = TrainingRun([listener], allow_empty=True)  # one bag may have nothing to learn from where the whole has
        prepared = prepared_bins(member, data, chosen_by, grown_on, watch_others, run, self.findings)
        trained = member.recipe.grow(member, prepared, run)
        # The weights of all clicks stay with the bag: workers need not send them back.
        return replace(trained, findings=replace(trained.findings, propensity_weights=None))

    def score_others(self, member: TrainedRanker, sample: QuerySample) -> Float64Array | None:
        """The scores of documents out of the bag; None of shards, from which these are not read."""
        if isinstance(self.data, BinnedShards):
            return None
        rows = self.data.groups.rows_of(sample.others)
        return self._scores(member, self.data)[rows] if len(rows) else np.empty(0)

    def score_valid(self, member: TrainedRanker) -> Float64Array:
        """The scores of validation documents."""
        assert self.valid is not None
        return self._scores(member, self.valid)

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> TrainedRanker:
        """The forest that a file describes."""
        return type(self.single).from_state(header, arrays).trained_

    def _scores(self, member: TrainedRanker, documents: BinnedDataset) -> Float64Array:
        model = forest_model(member)
        scores = np.full(documents.n_docs, model.base_score)
        model.forest.add_scores_of_codes(documents, scores, threads=self.threads)
        return scores


def choosing_part(valid: BinnedDataset | None, parts: Mapping[str, int]) -> BinnedDataset | None:
    """The first part of the validation data, which chooses steps; `parts` tells how many queries each part has."""
    if valid is None or len(parts) < 2:
        return valid
    documents = valid.documents.take_queries(np.arange(next(iter(parts.values()))))
    codes = first_rows(valid.codes, documents.n_docs)
    return replace(valid, codes=codes, documents=documents, query_keys=None)


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


@dataclass(frozen=True, slots=True, eq=False)
class RankerMembers:
    """Trains and scores rankers like `member`, which is untrained; `forests` does so where they are forests.

    A bag is a dataset of its own, in which a query that was drawn twice occurs twice.
    """

    member: Ranker
    data: RankingDataset
    valid: RankingDataset | None
    choosing: RankingDataset | None  # what a member's steps are chosen by
    bags: BagPlan
    by_rank: bool
    threads: int
    forests: ForestMembers | None = None

    @property
    def have_one_length(self) -> bool:
        """Whether all copies may have the same number of steps."""
        return self.forests is not None and self.forests.have_one_length

    def length_of(self, copies: Sequence[TrainedRanker]) -> int:
        """How many steps these copies have on average."""
        assert self.forests is not None
        return self.forests.length_of(copies)

    def train(
        self, bag: int, sample: QuerySample, watch_others: bool, listener: Listener, n_steps: int | None = None
    ) -> TrainedRanker:
        """The ranker of a bag."""
        if self.forests is not None:
            return self.forests.train(bag, sample, watch_others, listener, n_steps)
        chosen = self.data if sample.is_everything else repeat_queries(self.data, sample.repeated)
        others = self.data.take_queries(sample.others) if watch_others else None
        watched = None if self.bags.overfit else others if self.valid is None else self.choosing
        member = copy_of(self.member, seed=self.bags.seed_of(bag), threads=self.threads)
        return member.fit(chosen, valid=watched, listeners=[listener], allow_empty=True).trained_

    def score_others(self, member: TrainedRanker, sample: QuerySample) -> Float64Array:
        """The scores, or ranks, of documents out of the bag."""
        if len(sample.others) == 0:
            return np.empty(0)
        return self._scores(member, self.data.take_queries(sample.others))

    def score_valid(self, member: TrainedRanker) -> Float64Array:
        """The scores, or ranks, of validation documents."""
        assert self.valid is not None
        return self._scores(member, self.valid)

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> TrainedRanker:
        """The trained copy that a file describes."""
        return type(self.member).from_state(header, arrays, **own_module(self.member)).trained_

    def _scores(self, member: TrainedRanker, data: RankingDataset) -> Float64Array:
        """The member's scores of documents, or minus their ranks: numbers that can be averaged."""
        scores = member.scores(data, threads=thread_count(self.threads))
        return rank_scores(scores, data.groups) if self.by_rank else scores


def own_module(member: Ranker) -> dict[str, Any]:
    """The part of a ranker that is not in its file: the user's own module of a net, if there is one."""
    module = getattr(member, "module", None)
    return {} if module is None else {"module": module}


def repeat_queries(data: RankingDataset, queries: IntArray) -> RankingDataset:
    """The dataset of the given queries; each copy is a separate query with its own documents and preferences."""
    taken = replace(data, preferences=None, query_ids=None).take_queries(queries)
    if data.preferences is None:
        return taken
    return replace(taken, preferences=_repeated(data.preferences, data.groups, queries, taken.groups))


def _repeated(pairs: Preferences, groups: Groups, queries: IntArray, taken: Groups) -> Preferences:
    query_of_pair = groups.query_of_row[pairs.better]
    by_query = np.argsort(query_of_pair, kind="stable")
    of_query = Groups.of_sizes(np.bincount(query_of_pair, minlength=groups.n_queries))
    chosen = by_query[of_query.rows_of(queries)]
    shift = np.repeat(taken.offsets[:-1] - groups.offsets[queries], of_query.sizes[queries])
    return Preferences(
        pairs.better[chosen] + shift, pairs.worse[chosen] + shift, pairs.probability[chosen], pairs.weight[chosen]
    )
