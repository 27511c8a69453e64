"""Algorithm 3.1: train on the pairs that sorting got wrong, sort again, until nothing new goes wrong.

Iteration 0 is a random net and empty pair sets. Every iteration sorts the training and the validation documents with
its net, rates the validation order (RankQuality) and adds the pairs the net compared wrongly; the next one trains a net
on the pairs held by then. The net with the best quality is the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float64Array
from rankwright.comparators.mistakes import mistakes_of, n_possible_pairs
from rankwright.comparators.net import ComparatorNet, random_net
from rankwright.comparators.pairs import PairSet
from rankwright.comparators.sorting import sort_documents
from rankwright.comparators.training import TrainingParams, train_and_validate
from rankwright.data.dataset import RankingDataset
from rankwright.errors import require
from rankwright.training.checkpoints import checkpoint_in
from rankwright.training.loop import History, Listener, LoopPlan, Progress, run_loop
from rankwright.training.watch import watch_metric


@dataclass(frozen=True, slots=True)
class IncrementalPlan:
    """How a comparator is to be learned, and which metric is its RankQuality.

    `restart` trains a new random net in each iteration, as the paper does; otherwise the last one is trained on.
    """

    hidden: tuple[int, ...]
    max_iter: int
    training: TrainingParams
    select: str
    restart: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        require(self.max_iter >= 1, f"max_iter must be 1 or more, got {self.max_iter}")


@dataclass(frozen=True, slots=True)
class Iteration:
    """What the net of an iteration was trained on: pairs held, and their share of all pairs there could be."""

    n_pairs: int
    n_valid_pairs: int
    share_of_pairs: float
    share_of_valid_pairs: float
    best_epoch: int | None  # from 0; None for the random net of iteration 0

    def to_dict(self) -> dict[str, Any]:
        """The iteration as files keep it."""
        return asdict(self)


@dataclass(slots=True)
class LearnedComparator:
    """The best net of all iterations, what was watched, and what each iteration held."""

    net: ComparatorNet
    history: History
    iterations: list[Iteration]


@dataclass(slots=True)
class Learning:
    """The state of the algorithm between iterations."""

    data: RankingDataset
    valid: RankingDataset
    plan: IncrementalPlan
    threads: int
    net: ComparatorNet = field(init=False)
    best: ComparatorNet | None = field(init=False, default=None)
    history: History = field(init=False, default_factory=History)
    iterations: list[Iteration] = field(init=False, default_factory=list)
    pairs: PairSet = field(init=False)
    valid_pairs: PairSet = field(init=False)
    n_possible: int = field(init=False)
    n_possible_valid: int = field(init=False)

    def __post_init__(self) -> None:
        self.pairs, self.valid_pairs = PairSet(self.data), PairSet(self.valid)
        self.n_possible, self.n_possible_valid = n_possible_pairs(self.data), n_possible_pairs(self.valid)

    def take_step(self, iteration: int) -> bool:
        """Make the net of an iteration; False where the one before went wrong nowhere new."""
        # Each iteration has a stream of its own: a run that is taken up draws what it would have drawn.
        rng = np.random.default_rng([self.plan.seed, iteration])
        best_epoch = None
        if iteration == 0:
            self.net = random_net(self.data.n_features, self.plan.hidden, rng)
        else:
            if not self._add_mistakes():
                return False
            start = random_net(self.data.n_features, self.plan.hidden, rng) if self.plan.restart else self.net
            trained = train_and_validate(
                start,
                self.pairs.training_pairs(),
                self.valid_pairs.training_pairs(),
                self.plan.training,
                rng,
                threads=self.threads,
            )
            self.net, best_epoch = trained.net, trained.epoch
        self.iterations.append(
            Iteration(
                len(self.pairs),
                len(self.valid_pairs),
                len(self.pairs) / max(self.n_possible, 1),
                len(self.valid_pairs) / max(self.n_possible_valid, 1),
                best_epoch,
            )
        )
        return True

    def _add_mistakes(self) -> int:
        new = self.pairs.add(*mistakes_of(self.net, self.data, threads=self.threads))
        return new + self.valid_pairs.add(*mistakes_of(self.net, self.valid, threads=self.threads))

    def valid_scores(self) -> Float64Array:
        """Scores that put the validation documents in the order the current net sorts them."""
        ordered = sort_documents(self.net, self.valid.features, self.valid.groups, threads=self.threads)
        return ordered.scores(self.valid.groups)

    def keep_the_best(self, progress: Progress) -> None:
        """Remember the net of this iteration where it is the best so far."""
        if self.history.best_step == progress.step:
            self.best = self.net

    def state(self) -> tuple[Mapping[str, Any], Mapping[str, NDArray[Any]]]:
        """All of it, as a checkpoint keeps it."""
        assert self.best is not None  # a checkpoint is written after an iteration
        header = {"history": self.history.to_dict(), "iterations": [one.to_dict() for one in self.iterations]}
        arrays = {"net": self.net.weights, "best": self.best.weights}
        return header, arrays | {"pairs": self.pairs.keys, "valid_pairs": self.valid_pairs.keys}

    def take_up(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave."""
        self.history = History.from_dict(header["history"])
        self.iterations = [Iteration(**one) for one in header["iterations"]]
        self.net, self.best = (
            ComparatorNet(self.data.n_features, self.plan.hidden, arrays[name]) for name in ("net", "best")
        )
        self.pairs = PairSet(self.data, arrays["pairs"])
        self.valid_pairs = PairSet(self.valid, arrays["valid_pairs"])


def learn_comparator(
    data: RankingDataset,
    valid: RankingDataset,
    plan: IncrementalPlan,
    *,
    checkpoint: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    listeners: Sequence[Listener] = (),
    threads: int = 1,
) -> LearnedComparator:
    """The comparator with the best RankQuality on `valid` over iteration 0 and up to `max_iter` more.

    A checkpoint folder that a killed run left behind is taken up, unless its data or its `settings` were others.
    """
    learning = Learning(data, valid, plan, threads)
    watch = watch_metric(plan.select, valid.labels, valid.groups, learning.valid_scores, threads=threads)
    listening = [learning.keep_the_best, *listeners]
    file = checkpoint_in(checkpoint, data, valid, settings or {})
    if file is not None:
        saved = file.load()
        if saved is not None:
            learning.take_up(saved.header, saved.arrays)
        listening.append(file.saver(learning.state))
    run_loop(
        learning.take_step,
        LoopPlan(plan.max_iter + 1),
        watch=watch,
        history=learning.history,
        first_step=len(learning.iterations),
        listeners=listening,
    )
    if learning.best is None:
        raise KeyboardInterrupt  # before the first iteration ended: there is nothing to keep
    # An interrupt may have come between an iteration's training and its rating.
    rated = learning.iterations[: len(learning.history.values)]
    return LearnedComparator(learning.best, learning.history, rated)
