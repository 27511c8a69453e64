"""What a forest is grown on, wherever the documents are: in this process, or with workers (`mart/worker_lists.py`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.data.splits import Fold
from rankwright.objectives.objective import LambdaFn, Objective
from rankwright.training.loop import Watch
from rankwright.training.watch import Watches, watch_metric, watches_of
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.bins.fingerprints import binned_digest
from rankwright.trees.boosting import Boosting, BoostingParams
from rankwright.trees.label_sums import LabelSums, label_sums

Metric = str | Callable[..., Any]


class GrownOn(Protocol):
    """Forests of the same forces and base score, ready to grow on the same documents."""

    def fold(self, params: BoostingParams, queries: IntArray) -> Any:
        """A forest that is grown on some of the queries."""

    def whole(self, params: BoostingParams) -> Any:
        """The forest that is grown on all training documents; it also scores those that are watched."""


class ForestLists(Protocol):
    """The documents that a forest is grown on, and those that are watched meanwhile, if any are."""

    @property
    def n_docs(self) -> int:
        """How many documents are trained on."""

    @property
    def n_queries(self) -> int:
        """How many queries there are."""

    @property
    def groups(self) -> Groups:
        """How many documents each query has."""

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names, or their numbers from 1."""

    @property
    def has_categories(self) -> bool:
        """Whether a feature holds categories."""

    @property
    def starts_from_scores(self) -> bool:
        """Whether training starts from scores that the caller gave."""

    @property
    def is_watched(self) -> bool:
        """Whether some documents are watched, which choose the number of trees."""

    @property
    def can_be_folded(self) -> bool:
        """Whether folds of the queries can be held out and measured: all are trained on, and they have labels."""

    def label_sums(self, *, relevant: bool) -> LabelSums:
        """The sums of the labels, or of 1 for each relevant document."""

    def start(self, objective: Objective, base_score: float, threads: int) -> GrownOn:
        """Forests that follow these forces, ready to grow."""

    def watch_unseen(self, metric: Metric, forests: Sequence[Any], folds: Sequence[Fold], threads: int) -> Watch:
        """A watch over all folds, each scored by the forest that was not grown on it."""

    def watches(self, metric: Metric, forest: Any, threads: int) -> Watches:
        """Watches over the documents that are watched, by the forest that is grown on all others."""

    def digest(self) -> str:
        """The fingerprint of what is trained on."""

    def digests(self) -> tuple[str, str | None]:
        """The fingerprints of what is trained on and of what is watched."""


@dataclass(frozen=True, slots=True, eq=False)
class BinnedLists:
    """Bin codes in this process: all queries are trained on or some, and something may be watched meanwhile.

    With `watch_others` the queries that are not trained on take the place of `valid`. `parts` tells how many queries
    each part of `valid` has, where it has several.
    """

    data: BinnedDataset
    valid: BinnedDataset | None = None
    queries: IntArray | None = None
    watch_others: bool = False
    parts: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_docs(self) -> int:
        """How many documents are trained on."""
        return self.data.n_docs if self.queries is None else int(self.groups.sizes[self.queries].sum())

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return self.data.n_queries

    @property
    def groups(self) -> Groups:
        """How many documents each query has."""
        return self.data.groups

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names, or their numbers from 1."""
        return self.data.names

    @property
    def has_categories(self) -> bool:
        """Whether a feature holds categories."""
        return bool(self.data.mapper.categorical.any())

    @property
    def starts_from_scores(self) -> bool:
        """Whether training starts from scores that the caller gave."""
        return self.data.initial_scores is not None

    @property
    def is_watched(self) -> bool:
        """Whether some documents are watched, which choose the number of trees."""
        return self.valid is not None or self.watch_others

    @property
    def can_be_folded(self) -> bool:
        """Whether folds of the queries can be held out and measured: all are trained on, and they have labels."""
        return self.queries is None and self.data.labels is not None and self.data.preferences is None

    def label_sums(self, *, relevant: bool) -> LabelSums:
        """The sums of the labels, or of 1 for each relevant document."""
        return label_sums(self.data, relevant=relevant)

    def start(self, objective: Objective, base_score: float, threads: int) -> BinnedStart:
        """Forests that follow these forces, ready to grow."""
        return BinnedStart(self, objective.bind(self.data, threads=threads), base_score, threads)

    def watch_unseen(self, metric: Metric, forests: Sequence[Boosting], folds: Sequence[Fold], threads: int) -> Watch:
        """A watch over all folds, each scored by the forest that was not grown on it."""
        unseen = np.sort(np.concatenate([fold.test for fold in folds]))
        rows_of_folds, measured = [self.groups.rows_of(fold.test) for fold in folds], self.groups.rows_of(unseen)
        scores: Float64Array = np.empty(self.data.n_docs)

        def unseen_scores() -> Float64Array:
            for forest, rows in zip(forests, rows_of_folds, strict=True):
                scores[rows] = forest.scores[rows]
            return scores[measured]

        documents = self.data.documents.take_queries(unseen)
        return watch_metric(metric, documents.labels, documents.groups, unseen_scores, threads=threads)

    def watches(self, metric: Metric, forest: Boosting, threads: int) -> Watches:
        """Watches over the documents that are watched, by the forest that is grown on all others."""
        if not self.watch_others:
            documents = None if self.valid is None else self.valid.documents
            return watches_of(metric, documents, self.parts, lambda: forest.watched_scores, threads=threads)
        assert self.queries is not None
        others = np.setdiff1d(np.arange(self.n_queries), self.queries)
        rows = self.groups.rows_of(others)
        documents = self.data.documents.take_queries(others)
        return watches_of(metric, documents, {}, lambda: forest.scores[rows], threads=threads)

    def digest(self) -> str:
        """The fingerprint of what is trained on."""
        return binned_digest(self.data)

    def digests(self) -> tuple[str, str | None]:
        """The fingerprints of what is trained on and of what is watched."""
        return self.digest(), None if self.valid is None else binned_digest(self.valid)


@dataclass(frozen=True, slots=True, eq=False)
class BinnedStart:
    """Forests that are ready to grow on bin codes; forces are bound to the data once."""

    lists: BinnedLists
    lambda_fn: LambdaFn
    base_score: float
    threads: int

    def fold(self, params: BoostingParams, queries: IntArray) -> Boosting:
        """A forest that is grown on some of the queries."""
        return self._forest(params, queries=queries)

    def whole(self, params: BoostingParams) -> Boosting:
        """The forest that is grown on all training documents; it also scores those that are watched."""
        lists = self.lists
        return self._forest(params, watched=lists.valid, queries=lists.queries, score_all=lists.watch_others)

    def _forest(self, params: BoostingParams, **parts: Any) -> Boosting:
        return Boosting(
            self.lists.data, self.lambda_fn, params, base_score=self.base_score, threads=self.threads, **parts
        )
