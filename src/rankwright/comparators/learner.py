"""Algorithm 3.1: train on the pairs that sorting got wrong, sort again, until nothing new goes wrong.

Iteration 0 is a random net and empty pair sets. Every iteration sorts the training and the validation documents with
its net, rates the validation order (RankQuality) and adds the pairs that the net compared wrongly; the next iteration
trains a net on all pairs so far. The net with the best quality is the result.

In an iteration (TrainAndValidate), the learning rate falls evenly to 0 over the epochs, so that a net comes to rest
before the next sorting: nets of different iterations then differ by their training pairs, not by the noise of their
last steps. The cost is the squared error on the targets [1 0] (the paper's), or the logistic cost on the same. Swapping
the documents of a pair swaps both targets and outputs, so training on one order of a pair is training on both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float64Array
from rankwright.comparators.model import Iteration, iterations_from_arrays, iterations_to_arrays
from rankwright.comparators.net import WEIGHT_DTYPE, ComparatorNet, random_net
from rankwright.comparators.pairs import PairSet, TrainingPairs, mistakes_of, n_possible_pairs
from rankwright.comparators.settings import SortNetSettings, layers_of
from rankwright.comparators.sorting import sort_documents
from rankwright.container.checks import read_array
from rankwright.data.dataset import RankingDataset


class Adam:
    """Kingma and Ba's rule: steps of about the learning rate in each weight, whatever the size of its derivative."""

    MEAN_MEMORY, SQUARE_MEMORY, SMALLEST = 0.9, 0.999, 1e-8

    def __init__(self, weights: Float64Array) -> None:
        self.weights, self.n_steps = weights, 0
        self.mean, self.square = np.zeros_like(weights), np.zeros_like(weights)

    def step(self, gradient: Float64Array, learning_rate: float) -> None:
        """Move the weights against the gradient."""
        self.n_steps += 1
        self.mean += (1 - self.MEAN_MEMORY) * (gradient - self.mean)
        self.square += (1 - self.SQUARE_MEMORY) * (gradient * gradient - self.square)
        mean = self.mean / (1 - self.MEAN_MEMORY**self.n_steps)
        size = np.sqrt(self.square / (1 - self.SQUARE_MEMORY**self.n_steps)) + self.SMALLEST
        self.weights -= learning_rate * mean / size


@dataclass(frozen=True, slots=True, eq=False)
class TrainedComparator:
    """The comparator of the best epoch, its cost on the validation pairs, and which epoch that was, from 0."""

    net: ComparatorNet
    cost: float
    epoch: int


def train_and_validate(
    start: ComparatorNet,
    train: TrainingPairs,
    valid: TrainingPairs,
    settings: SortNetSettings,
    rng: np.random.Generator,
    *,
    threads: int = 1,
) -> TrainedComparator:
    """The comparator after the epoch with the smallest cost on validation pairs, or else on training pairs."""
    if train.n_queries == 0:
        return TrainedComparator(start, np.nan, 0)
    net, adam = start, Adam(start.weights.astype(np.float64))
    judge = valid if valid.n_queries else train
    best = TrainedComparator(start, np.inf, 0)
    steps_an_epoch = -(-train.n_queries // settings.batch_queries)
    for epoch in range(settings.epochs):
        order = rng.permutation(train.n_queries)
        for first in range(0, len(order), settings.batch_queries):
            queries = order[first : first + settings.batch_queries]
            _, gradient = train.descend(net, queries, settings.cost, threads=threads)
            share_left = 1.0 - adam.n_steps / (settings.epochs * steps_an_epoch)
            adam.step(gradient + settings.weight_decay * adam.weights, share_left * settings.learning_rate)
            net = replace(net, weights=adam.weights.astype(WEIGHT_DTYPE))
        cost = judge.cost(net, settings.cost, threads=threads)
        if cost < best.cost:
            best = TrainedComparator(net, cost, epoch)
    return best


class ComparatorLearner:
    """The state of the algorithm between iterations; one step of the training loop is one iteration."""

    net: ComparatorNet

    def __init__(self, data: RankingDataset, valid: RankingDataset, settings: SortNetSettings, threads: int) -> None:
        self.data, self.valid, self.settings, self.threads = data, valid, settings, threads
        self.hidden = layers_of(settings.hidden)
        self.iterations: list[Iteration] = []
        self.pairs, self.valid_pairs = PairSet(data), PairSet(valid)
        self.n_possible = n_possible_pairs(data), n_possible_pairs(valid)

    def take_step(self, iteration: int) -> bool:
        """Make the net of an iteration; False where the net before made no new mistakes."""
        # Each iteration has its own random stream, so that a resumed run draws the same numbers.
        rng = np.random.default_rng([self.settings.seed, iteration])
        best_epoch = None
        if iteration == 0:
            self.net = random_net(self.data.n_features, self.hidden, rng)
        else:
            n_new = self.pairs.add(*mistakes_of(self.net, self.data, threads=self.threads))
            n_new += self.valid_pairs.add(*mistakes_of(self.net, self.valid, threads=self.threads))
            if n_new == 0:
                return False
            start = random_net(self.data.n_features, self.hidden, rng) if self.settings.restart else self.net
            train, valid = self.pairs.training_pairs(), self.valid_pairs.training_pairs()
            trained = train_and_validate(start, train, valid, self.settings, rng, threads=self.threads)
            self.net, best_epoch = trained.net, trained.epoch
        n_pairs, n_valid = len(self.pairs), len(self.valid_pairs)
        share, valid_share = n_pairs / max(self.n_possible[0], 1), n_valid / max(self.n_possible[1], 1)
        self.iterations.append(Iteration(n_pairs, n_valid, share, valid_share, best_epoch))
        return True

    def valid_scores(self) -> Float64Array:
        """Scores that put the validation documents in the order of the current net."""
        ordered = sort_documents(self.net, self.valid.features, self.valid.groups, threads=self.threads)
        return ordered.scores(self.valid.groups)

    @property
    def n_taken(self) -> int:
        """How many iterations there were."""
        return len(self.iterations)

    def model(self) -> Arrays:
        """The weights of the current net."""
        return {"weights": self.net.weights}

    def memory(self) -> Arrays:
        """The current net, the pairs so far, and what each iteration was trained on."""
        return {
            "net": self.net.weights,
            "pairs": self.pairs.keys,
            "valid_pairs": self.valid_pairs.keys,
            **iterations_to_arrays(self.iterations),
        }

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Go on from the state of an earlier run."""
        self.iterations = iterations_from_arrays(memory)
        weights = read_array(memory, "net", WEIGHT_DTYPE, (None,))
        self.net = ComparatorNet(self.data.n_features, self.hidden, weights)
        self.pairs = PairSet(self.data, memory["pairs"])
        self.valid_pairs = PairSet(self.valid, memory["valid_pairs"])
