"""What a forest is grown on, wherever the documents are: bin codes in this process, or with the workers of a crew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol, TypeAlias

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.splits import Fold
from rankwright.metrics.confidence_intervals import weighted_mean
from rankwright.metrics.metric_table import as_measure
from rankwright.objectives.objective import DataFacts, Objective
from rankwright.training.driver import Judged, Watches, watch_together, watches_of
from rankwright.training.loop import Watch
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.bins.fingerprints import binned_digest
from rankwright.trees.boosting import Boosting, BoostingParams
from rankwright.trees.distributed.crew_data import CrewData, RemoteBoosting
from rankwright.trees.distributed.members import ForestTask, MeasureTask, measure
from rankwright.trees.label_sums import LabelSums, label_sums
from rankwright.trees.share import fixed_for_all
from rankwright.trees.sizing import FoldedForests

Metric = str | Callable[..., Any]
Growing: TypeAlias = Boosting | FoldedForests
FOREST_NUMBERS = count()


class BeginForest(Protocol):
    """What begins forests of the same forces and base score, on the same documents."""

    def __call__(self, params: BoostingParams, queries: IntArray | None = None, *, watches: bool = False) -> Any:
        """A forest that grows on these queries; by default on all, and then it also scores those that are watched.

        One of some queries does so if it `watches`.
        """


@dataclass(frozen=True, slots=True, eq=False)
class BinnedLists:
    """Bin codes in this process: all queries are trained on or some, and something may be watched meanwhile.

    With `watch_others` the queries that are not trained on take the place of `valid`. `parts` tells how many queries
    each part of `valid` has, where it has several.
    """

    data: BinnedDataset
    threads: int
    valid: BinnedDataset | None = None
    queries: IntArray | None = None
    watch_others: bool = False
    parts: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_docs(self) -> int:
        """How many documents are trained on."""
        return self.data.n_docs if self.queries is None else int(self.data.groups.sizes[self.queries].sum())

    @property
    def starts_from_scores(self) -> bool:
        """Whether training starts from scores that the caller gave."""
        return self.data.initial_scores is not None

    @property
    def is_watched(self) -> bool:
        """Whether some documents are watched, which choose the number of trees."""
        return self.valid is not None or self.watch_others

    @property
    def is_validated(self) -> bool:
        """Whether validation data alone is watched."""
        return self.valid is not None and not self.watch_others

    @property
    def can_be_folded(self) -> bool:
        """Whether folds of the queries can be held out and measured: all are trained on, and they have labels."""
        return self.queries is None and self.data.labels is not None and self.data.preferences is None

    def label_sums(self, *, relevant: bool) -> LabelSums:
        """The sums of the labels, or of 1 for each relevant document."""
        return label_sums(self.data, relevant=relevant)

    def start(self, objective: Objective, base_score: float) -> BeginForest:
        """What begins forests that follow these forces, which are bound to the data once."""
        lambda_fn = objective.bind(self.data, threads=self.threads)

        def begin(params: BoostingParams, queries: IntArray | None = None, *, watches: bool = False) -> Boosting:
            some: dict[str, Any] = {"queries": queries, "watched": self.valid if watches else None}
            if queries is None:
                some = {"queries": self.queries, "watched": self.valid, "score_all": self.watch_others}
            return Boosting(self.data, lambda_fn, params, base_score=base_score, threads=self.threads, **some)

        return begin

    def watch_unseen(self, metric: Metric, forests: Sequence[Boosting], folds: Sequence[Fold]) -> Watch:
        """A watch over all folds, each scored by the forest that was not grown on it.

        With validation data, this is watched together with them, by a first forest that is grown on all queries.
        """
        groups, unseen = self.data.groups, np.sort(np.concatenate([fold.test for fold in folds]))
        rows_of_folds, measured = [groups.rows_of(fold.test) for fold in folds], groups.rows_of(unseen)
        scores: Float64Array = np.empty(self.data.n_docs)

        def unseen_scores() -> Float64Array:
            for forest, rows in zip(forests[-len(folds) :], rows_of_folds, strict=True):
                scores[rows] = forest.scores[rows]
            return scores[measured]

        watched = [(self.data.documents.take_queries(unseen), unseen_scores)]
        if self.is_validated:
            watched.append(self._choosing(forests[0]))
        return watch_together(metric, watched, threads=self.threads)

    def _choosing(self, forest: Growing) -> Judged:
        """The first part of the validation documents, and its scores by a forest."""
        assert self.valid is not None
        documents = self.valid.documents
        if len(self.parts) > 1:
            documents = documents.take_queries(np.arange(next(iter(self.parts.values()))))
        return documents, lambda: forest.watched_scores[: documents.n_docs]

    def watches(self, metric: Metric, forest: Growing) -> Watches:
        """Watches over the documents that are watched, by the forest, or the mean of several, grown on others."""
        if not self.watch_others:
            documents = None if self.valid is None else self.valid.documents
            return watches_of(metric, documents, self.parts, lambda: forest.watched_scores, threads=self.threads)
        assert self.queries is not None
        assert isinstance(forest, Boosting)
        others = np.setdiff1d(np.arange(self.data.n_queries), self.queries)
        rows = self.data.groups.rows_of(others)
        documents = self.data.documents.take_queries(others)
        return watches_of(metric, documents, {}, lambda: forest.scores[rows], threads=self.threads)

    def digest(self) -> str:
        """The fingerprint of what is trained on."""
        return binned_digest(self.data)

    def digests(self) -> tuple[str, str | None]:
        """The fingerprints of what is trained on and of what is watched."""
        return self.digest(), None if self.valid is None else binned_digest(self.valid)


@dataclass(frozen=True, slots=True, eq=False)
class WorkerLists:
    """The documents of a crew, all of which are trained on; validation documents may be watched meanwhile."""

    data: CrewData
    is_watched: bool = False
    starts_from_scores: bool = False

    @property
    def n_docs(self) -> int:
        """How many documents are trained on."""
        return self.data.facts.n_docs

    @property
    def is_validated(self) -> bool:
        """Whether validation data was given."""
        return self.is_watched

    @property
    def can_be_folded(self) -> bool:
        """Whether there are labels by which folds can be measured."""
        return self.data.facts.has_labels

    def label_sums(self, *, relevant: bool) -> LabelSums:
        """The sums of the labels, or of 1 for each relevant document."""
        return self.data.relevant_sums if relevant else self.data.label_sums

    def start(self, objective: Objective, base_score: float) -> BeginForest:
        """What has the workers begin forests that follow these forces."""
        data, facts, example = self.data, self.data.facts, self.data.example
        assert example is not None
        forces = fixed_for_all(objective, DataFacts(max(facts.highest, 0.0), facts.n_docs, facts.n_queries, example))

        def begin(params: BoostingParams, queries: IntArray | None = None, *, watches: bool = False) -> RemoteBoosting:
            name, is_watched = f"forest {next(FOREST_NUMBERS):06}", self.is_watched and (watches or queries is None)
            task = ForestTask(name, forces, params, base_score, queries, is_watched, data.threads)
            data.boosters[name] = booster = RemoteBoosting(data, task)
            data.meet()
            return booster

        return begin

    def watch_unseen(self, metric: Metric, forests: Sequence[RemoteBoosting], folds: Sequence[Fold]) -> Watch:
        """A watch over all folds, each scored by the forest that was not grown on it."""
        return self._watch(metric, forests, len(forests) - len(folds), tuple(fold.test for fold in folds))

    def watches(self, metric: Metric, forest: RemoteBoosting | FoldedForests) -> Watches:
        """A watch over the validation documents, if there are any, by the forest or the mean of several."""
        forests = forest.parts if isinstance(forest, FoldedForests) else [forest]
        return Watches(self._watch(metric, forests, len(forests)) if self.is_watched else None)

    def _watch(
        self, metric: Metric, forests: Sequence[RemoteBoosting], n_watching: int, unseen: tuple[IntArray, ...] = ()
    ) -> Watch:
        chosen, names = as_measure(metric), tuple(forest.task.name for forest in forests)
        task = MeasureTask(names, metric, self.data.threads, n_watching, unseen)

        def measure_now() -> float:
            for forest in forests:
                forest.settle()
            values: Float64Array = np.concatenate(self.data.together(measure, task))
            counted = values[~np.isnan(values)]
            return weighted_mean(counted, np.ones(len(counted)))

        return Watch(chosen.name, measure_now, chosen.higher_is_better)

    def digest(self) -> str:
        """The fingerprint of what is trained on."""
        return self.data.digest

    def digests(self) -> tuple[str, str | None]:
        """The fingerprints of what is trained on and of what is watched."""
        return self.data.digest, self.data.valid_digest


ForestLists: TypeAlias = BinnedLists | WorkerLists
