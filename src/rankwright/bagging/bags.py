"""Training bag after bag, scoring queries out of the bag, and keeping the files from which a killed run goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float64Array
from rankwright.bagging.bag_maker import Bag, BagFiles, BagMaker
from rankwright.bagging.on_engine import BagsOnEngine
from rankwright.bagging.out_of_bag import OutOfBag, can_choose
from rankwright.bagging.plan import QuerySample
from rankwright.cluster.engine import Engine
from rankwright.cluster.in_process import ThreadEngine
from rankwright.data.dataset import RankingDataset
from rankwright.metrics.registry import as_measure
from rankwright.rankers.ranker import Ranker
from rankwright.training.driver import Lesson, learn
from rankwright.training.loop import History, Listener, LoopPlan, Watch
from rankwright.training.watch import appender, watch_metric, watch_parts


@dataclass(frozen=True, slots=True, eq=False)
class TrainedBags:
    """The members, the history of the metric watched, and the scores of queries out of the bag.

    `watched` has what was measured after each bag on further parts of the validation data.
    """

    members: list[Ranker]
    history: History
    out_of_bag: OutOfBag
    watched: Mapping[str, list[float]]


def train_bags(
    maker: BagMaker,
    files: BagFiles,
    *,
    engine: Engine | None = None,
    listeners: Sequence[Listener] = (),
    workers: int = 1,
    threads: int = 1,
    parts: Mapping[str, int] | None = None,
) -> TrainedBags:
    """Train the bags of the maker's plan on `engine`, or on `workers` threads; the result is the same.

    After each bag the mean of the bags so far is measured, on validation data or else on queries out of the bag; of
    several `parts` of the validation data, which have so many queries, the first is that of the history. A bag
    that `files` has from an earlier run is not trained again. Ctrl-C keeps the finished bags.
    """
    documents, n_bags = maker.documents, maker.plan.n_bags
    with BagsOnEngine(engine or ThreadEngine(workers), maker, files) as bags:
        learner = BagLearner(documents, maker.valid, maker.select, bags.result, threads)
        watch, others = learner.watches(maker.plan.sample(0, documents.n_queries), parts or {})
        watched: dict[str, list[float]] = {name: [] for name in others}
        appending = [appender(other.measure, watched[name]) for name, other in others.items()]
        lesson = Lesson(learner=learner, model=lambda learned: learned, digests=lambda: ("", None), watch=watch)
        try:
            heard = [bags.hear, *appending, *listeners]
            history = learn(lesson, LoopPlan(n_bags, what=""), chooses=False, listeners=heard).history
        except KeyboardInterrupt:  # before the first bag: later ones may be finished
            history = History(interrupted=True, chosen=False)
        if history.interrupted:
            for bag in bags.finished().values():
                learner.take(bag)
                if watch is not None:
                    history.watched, history.higher_is_better = watch.name, watch.higher_is_better
                    history.values.append(watch.measure())
                for name, other in others.items():
                    watched[name].append(other.measure())
    if not learner.members:
        raise KeyboardInterrupt  # nothing was trained that could be kept
    return TrainedBags(learner.members, history, learner.out_of_bag, watched)


class BagLearner:
    """The bags so far; each step of the training loop adds the next one, which was made elsewhere."""

    def __init__(
        self,
        documents: RankingDataset,
        valid: RankingDataset | None,
        select: str | Callable[..., Any],
        result: Callable[[int], Bag],
        threads: int,
    ) -> None:
        self.members: list[Ranker] = []
        self.out_of_bag = OutOfBag(documents)
        self._valid, self._select, self._result, self._threads = valid, select, result, threads
        self._valid_scores = np.zeros(0 if valid is None else valid.n_docs)

    def take_step(self, step: int) -> bool:
        """Wait for the bag of that number and add it."""
        self.take(self._result(step))
        return True

    def model(self) -> Arrays:
        """How many bags there are; the bags themselves are `members`."""
        return {"n_bags": np.array([len(self.members)])}

    def memory(self) -> Arrays:
        """Nothing: every bag has a file of its own."""
        return {}

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Nothing to do: bags of an earlier run come from their files."""

    def take(self, bag: Bag) -> None:
        """Add a bag."""
        self.members.append(bag.member)
        if bag.others is not None:
            self.out_of_bag.add(bag.sample.others, bag.others)
        if bag.valid is not None:
            self._valid_scores += bag.valid

    def watches(self, first: QuerySample, parts: Mapping[str, int]) -> tuple[Watch | None, dict[str, Watch]]:
        """A watch over the bags so far, None where there is nothing to measure on, and those over further parts."""
        if self._valid is None or not parts:
            return self._watch(first), {}
        every = watch_parts(self._select, self._valid, parts, self._mean_scores, threads=self._threads)
        name = next(iter(every))
        return every.pop(name), every

    def _watch(self, first: QuerySample) -> Watch | None:
        """A watch over the bags so far, None where the first bag leaves nothing to measure on."""
        valid = self._valid
        if valid is not None:
            return watch_metric(self._select, valid.labels, valid.groups, self._mean_scores, threads=self._threads)
        if not can_choose(self.out_of_bag.documents, first.others, self._select, threads=self._threads):
            return None
        measure = as_measure(self._select)
        return Watch(measure.name, self._measure_out_of_bag, measure.higher_is_better)

    def _mean_scores(self) -> Float64Array:
        assert self._valid is not None
        means = self._valid_scores / len(self.members)
        return means if self._valid.initial_scores is None else means + self._valid.initial_scores

    def _measure_out_of_bag(self) -> float:
        found = self.out_of_bag.measure(self._select, threads=self._threads)
        assert found is not None  # the first bag left queries to measure
        return found
