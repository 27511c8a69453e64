"""TrainAndValidate of Algorithm 3.1: a comparator trained on pairs for some epochs, the best of which is kept.

The learning rate falls evenly to 0 over the epochs, so that a net comes to rest before the next sorting: nets of
different iterations then differ by their training pairs, not by the noise of their last steps. The cost is the squared
error on the targets [1 0] (the paper's), or the logistic cost on the same. Swapping the documents of a pair swaps both
targets and outputs, so training on one order of a pair is training on both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.comparators.net import WEIGHT_DTYPE, ComparatorNet
from rankwright.comparators.pairs import TrainingPairs
from rankwright.comparators.settings import SortNetSettings


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
            _, gradient = train.descend(
                net, order[first : first + settings.batch_queries], settings.cost, threads=threads
            )
            share_left = 1.0 - adam.n_steps / (settings.epochs * steps_an_epoch)
            adam.step(gradient + settings.weight_decay * adam.weights, share_left * settings.learning_rate)
            net = replace(net, weights=adam.weights.astype(WEIGHT_DTYPE))
        cost = judge.cost(net, settings.cost, threads=threads)
        if cost < best.cost:
            best = TrainedComparator(net, cost, epoch)
    return best
