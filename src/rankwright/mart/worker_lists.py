"""What a forest is grown on where workers have the documents: the counterpart of `BinnedLists`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.data.splits import Fold
from rankwright.mart.lists import Metric
from rankwright.metrics.confidence_intervals import weighted_mean
from rankwright.metrics.metric_table import as_measure
from rankwright.objectives.objective import Objective
from rankwright.training.loop import Watch
from rankwright.training.watch import Watches
from rankwright.trees.boosting import BoostingParams
from rankwright.trees.distributed.crew_data import CrewData
from rankwright.trees.distributed.facts import fixed_for_all
from rankwright.trees.distributed.members import ForestTask, MeasureTask, measure
from rankwright.trees.distributed.remote import RemoteBoosting
from rankwright.trees.label_sums import LabelSums

FOREST_NUMBERS = count()


@dataclass(frozen=True, slots=True, eq=False)
class WorkerLists:
    """The documents of a crew, all of which are trained on; validation documents may be watched meanwhile."""

    data: CrewData
    is_watched: bool = False
    starts_from_scores: bool = False

    @property
    def n_docs(self) -> int:
        """How many documents are trained on."""
        return self.data.n_docs

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
    def can_be_folded(self) -> bool:
        """Whether there are labels by which folds can be measured."""
        return self.data.has_labels

    def label_sums(self, *, relevant: bool) -> LabelSums:
        """The sums of the labels, or of 1 for each relevant document."""
        return self.data.relevant_sums if relevant else self.data.label_sums

    def start(self, objective: Objective, base_score: float, threads: int) -> WorkerStart:  # noqa: ARG002
        """Forests that follow these forces, ready to grow; workers have threads of their own."""
        facts, example = self.data.facts, self.data.example
        assert example is not None
        fixed = fixed_for_all(objective, max(facts.highest, 0.0), facts.n_docs, facts.n_queries, example)
        return WorkerStart(self, fixed, base_score)

    def watch_unseen(
        self,
        metric: Metric,
        forests: Sequence[RemoteBoosting],
        folds: Sequence[Fold],
        threads: int,  # noqa: ARG002
    ) -> Watch:
        """A watch over all folds, each scored by the forest that was not grown on it."""
        return self._watch(metric, forests, tuple(fold.test for fold in folds))

    def watches(self, metric: Metric, forest: RemoteBoosting, threads: int) -> Watches:  # noqa: ARG002
        """A watch over the validation documents, if there are any."""
        return Watches(self._watch(metric, [forest], None) if self.is_watched else None)

    def _watch(self, metric: Metric, forests: Sequence[RemoteBoosting], unseen: tuple[IntArray, ...] | None) -> Watch:
        chosen = as_measure(metric)
        task = MeasureTask(tuple(forest.task.name for forest in forests), metric, self.data.threads, unseen)

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


@dataclass(frozen=True, slots=True, eq=False)
class WorkerStart:
    """Forests that a crew is ready to grow."""

    lists: WorkerLists
    objective: Objective
    base_score: float

    def fold(self, params: BoostingParams, queries: IntArray) -> RemoteBoosting:
        """A forest that is grown on some of the queries."""
        return self._forest(params, queries, is_watched=False)

    def whole(self, params: BoostingParams) -> RemoteBoosting:
        """The forest that is grown on all documents; it also scores those that are watched."""
        return self._forest(params, None, is_watched=self.lists.is_watched)

    def _forest(self, params: BoostingParams, queries: IntArray | None, *, is_watched: bool) -> RemoteBoosting:
        data, name = self.lists.data, f"forest {next(FOREST_NUMBERS):06}"
        task = ForestTask(name, self.objective, params, self.base_score, queries, is_watched, data.threads)
        booster = RemoteBoosting(data, task)
        data.boosters[name] = booster
        data.meet()
        return booster
