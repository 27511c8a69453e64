"""What a forest is grown on where a crew has the documents: the counterpart of `BinnedLists`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.splits import Fold
from rankwright.metrics.confidence_intervals import weighted_mean
from rankwright.metrics.metric_table import as_measure
from rankwright.objectives.objective import Objective
from rankwright.training.loop import Watch
from rankwright.trees.binned_ranker import BinnedLists
from rankwright.trees.boosting import BoostingParams
from rankwright.trees.distributed.crew_data import CrewData
from rankwright.trees.distributed.facts import fixed_for_all
from rankwright.trees.distributed.members import BeginTask, MeasureTask, measure
from rankwright.trees.distributed.remote import RemoteBoosting
from rankwright.trees.label_sums import LabelSums
from rankwright.trees.length import FoldedBoosting

NAMES = count()


@dataclass(frozen=True, slots=True, eq=False)
class CrewLists(BinnedLists):
    """The documents of a crew, all of which are trained on, and whether validation documents are watched meanwhile."""

    data: CrewData  # type: ignore[assignment]  # it has what is asked of it here
    valid: bool | None = None  # type: ignore[assignment]

    @property
    def n_docs(self) -> int:
        """The number of documents to train on."""
        return self.data.n_docs

    def digest(self) -> str:
        """The fingerprint of what is trained on."""
        return self.data.digest

    def digests(self) -> tuple[str, str | None]:
        """The fingerprints of what is trained on and of what is watched."""
        return self.data.digest, self.data.valid_digest

    earlier_digests = None  # type: ignore[assignment]  # workers cannot make them

    def label_sums(self, *, relevant: bool) -> LabelSums:
        """The sums of the labels, or of 1 for each relevant document."""
        return self.data.relevant_sums if relevant else self.data.label_sums

    def boosting(self, objective: Objective, base_score: float, threads: int) -> Callable[..., Any]:  # noqa: ARG002
        """A function from parameters to a forest that the crew grows."""
        facts, example = self.data.facts, self.data.example
        assert example is not None
        fixed = fixed_for_all(objective, max(facts.highest, 0.0), facts.n_docs, facts.n_queries, example)

        def begin(params: BoostingParams, *, queries: IntArray | None = None, watched: Any = None, **_: Any) -> Any:
            name = f"forest {next(NAMES):06}"
            threads = self.data.threads
            task = BeginTask(name, fixed, params, base_score, queries, watched is not None, threads)
            booster = RemoteBoosting(self.data, task)
            self.data.boosters[name] = booster
            self.data.meet()
            return booster

        return begin

    def folded(self, grown: Callable[[IntArray], Any], folds: Sequence[Fold]) -> RemoteFolded:
        """A forest without each fold, side by side."""
        return RemoteFolded(grown, folds)

    def watch_unseen(self, metric: Any, folded: Any, threads: int) -> Watch:  # noqa: ARG002
        """A watch over the queries that the forests of a length search were not grown on."""
        unseen = tuple(fold.test for fold in folded.folds)
        return self._watch(metric, list(folded.parts), unseen)

    def watch_valid(self, metric: Any, boosting: Any) -> Watch | None:
        """A watch over the validation documents, if there are any."""
        return None if self.valid is None else self._watch(metric, [boosting], None)

    def _watch(self, metric: Any, forests: Sequence[RemoteBoosting], unseen: tuple[IntArray, ...] | None) -> Watch:
        chosen = as_measure(metric)
        task = MeasureTask(tuple(forest.task.name for forest in forests), metric, self.data.threads, unseen)

        def measure_now() -> float:
            for forest in forests:
                forest.settle()
            values: Float64Array = np.concatenate(self.data.together(measure, task))
            counted = values[~np.isnan(values)]
            return weighted_mean(counted, np.ones(len(counted)))

        return Watch(chosen.name, measure_now, chosen.higher_is_better)


class RemoteFolded(FoldedBoosting):
    """Several forests that a crew grows, each on the queries outside one fold."""

    def __init__(self, grown_on: Callable[[IntArray], Any], folds: Sequence[Fold]) -> None:
        self.folds = folds
        self.parts = [grown_on(fold.train) for fold in folds]
