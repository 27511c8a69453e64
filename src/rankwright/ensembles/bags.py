"""Bag after bag: training, what was learned of queries out of the bag, and the files that let a killed run go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.ensembles.out_of_bag import OutOfBag, can_choose
from rankwright.ensembles.plan import BagPlan, QuerySample
from rankwright.ensembles.side_by_side import SideBySide
from rankwright.metrics.registry import parse_metric
from rankwright.rankers.ranker import Ranker
from rankwright.training.checkpoints import Checkpoint
from rankwright.training.loop import History, Listener, LoopPlan, Watch, run_loop
from rankwright.training.watching import watch_metric


@dataclass(frozen=True, slots=True)
class BagWork:
    """What must be known of a kind of ranker to bag it.

    `train(bag, sample, watch_others, listener)` gives the trained member; `score_others(member, queries)` its scores of
    the documents of training queries it did not see; `score_valid(member)` those of the validation documents.
    """

    train: Callable[[int, QuerySample, bool, Listener], Ranker]
    score_others: Callable[[Ranker, QuerySample], Float64Array]
    score_valid: Callable[[Ranker], Float64Array]
    restore: Callable[[Mapping[str, Any], Mapping[str, Any]], Ranker]


@dataclass(frozen=True, slots=True, eq=False)
class Bag:
    """A trained member, its sample, and its scores of documents it did not see."""

    member: Ranker
    sample: QuerySample
    others: Float64Array
    valid: Float64Array | None


@dataclass(frozen=True, slots=True, eq=False)
class TrainedBags:
    """The members, what was watched after each of them, and their word on queries out of the bag."""

    members: list[Ranker]
    history: History
    out_of_bag: OutOfBag


def train_bags(
    documents: RankingDataset,
    valid: RankingDataset | None,
    work: BagWork,
    plan: BagPlan,
    *,
    select: str,
    identity: Mapping[str, Any],
    checkpoint: Path | None = None,
    listeners: Sequence[Listener] = (),
    workers: int = 1,
    threads: int = 1,
) -> TrainedBags:
    """The bags of `plan`, `workers` of them trained at a time; the result does not depend on how many.

    What is watched after each bag is the mean of the bags so far, on `valid`, else on queries out of the bag. A bag
    that a checkpoint folder has from an earlier run of the same `identity` is not trained again. Ctrl-C keeps the bags
    that are finished.
    """
    growing = _Growing(documents, valid, select, threads)
    watch = growing.watch(plan.sample(0, documents.n_queries))

    def make(number: int, listener: Listener) -> Bag:
        sample = plan.sample(number, documents.n_queries)
        saver = None if checkpoint is None else _saver(checkpoint, identity, number)
        saved = None if saver is None else saver.load()
        if saved is not None:
            member = work.restore(saved.header, saved.arrays)
        else:
            watch_others = (
                not plan.overfit and valid is None and can_choose(documents, sample.others, select, threads=1)
            )
            member = work.train(number, sample, watch_others, listener)
            if saver is not None:
                saver.state = member.to_state
                saver.save()
        return Bag(
            member, sample, work.score_others(member, sample), None if valid is None else work.score_valid(member)
        )

    with SideBySide(make, range(plan.n_bags), workers) as side_by_side:

        def take_bag(number: int) -> bool:
            growing.take(side_by_side.result(number))
            return True

        history = run_loop(
            take_bag,
            LoopPlan(plan.n_bags),
            watch=watch,
            history=History(chosen=False),
            listeners=listeners,
        )
        for bag in side_by_side.finished().values() if history.interrupted else ():
            growing.take(bag)
            if watch is not None:
                history.values.append(watch.measure())
    return TrainedBags(growing.members, history, growing.out_of_bag)


class _Growing:
    """The bags so far."""

    def __init__(self, documents: RankingDataset, valid: RankingDataset | None, select: str, threads: int) -> None:
        self.members: list[Ranker] = []
        self.out_of_bag = OutOfBag(documents)
        self._valid, self._select, self._threads = valid, select, threads
        self._valid_scores = np.zeros(0 if valid is None else valid.n_docs)

    def take(self, bag: Bag) -> None:
        self.members.append(bag.member)
        self.out_of_bag.add(bag.sample.others, bag.others)
        if bag.valid is not None:
            self._valid_scores += bag.valid

    def watch(self, first: QuerySample) -> Watch | None:
        """A watch over the bags so far, None where there is nothing to measure them on from the first bag on."""
        valid = self._valid
        if valid is not None:
            return watch_metric(self._select, valid.labels, valid.groups, self._mean_scores, threads=self._threads)
        if not can_choose(self.out_of_bag.documents, first.others, self._select, threads=self._threads):
            return None
        measure = parse_metric(self._select)
        return Watch(measure.name, self._measure_out_of_bag, measure.higher_is_better)

    def _mean_scores(self) -> Float64Array:
        assert self._valid is not None
        means = self._valid_scores / len(self.members)
        return means if self._valid.initial_scores is None else means + self._valid.initial_scores

    def _measure_out_of_bag(self) -> float:
        found = self.out_of_bag.measure(self._select, threads=self._threads)
        assert found is not None  # the first bag left queries to measure
        return found


def _saver(folder: Path, identity: Mapping[str, Any], number: int) -> Checkpoint:
    """The file of one finished bag."""
    return Checkpoint(folder / f"bag-{number:04d}", identity, lambda: ({}, {}))
