"""Algorithm 3.1: train on the pairs that sorting got wrong, sort again, until nothing new goes wrong.

Iteration 0 is a random net and empty pair sets. Every iteration sorts the training and the validation documents with
its net, rates the validation order (RankQuality) and adds the pairs that the net compared wrongly; the next iteration
trains a net on all pairs so far. The net with the best quality is the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float64Array
from rankwright.comparators.iterations import Iteration, iterations_from_arrays, iterations_to_arrays
from rankwright.comparators.mistakes import mistakes_of, n_possible_pairs
from rankwright.comparators.net import WEIGHT_DTYPE, ComparatorNet, random_net
from rankwright.comparators.pairs import PairSet
from rankwright.comparators.settings import SortNetSettings, layers_of
from rankwright.comparators.sorting import sort_documents
from rankwright.comparators.training import train_and_validate
from rankwright.container.checks import read_array
from rankwright.data.dataset import RankingDataset


@dataclass(slots=True)
class ComparatorLearner:
    """The state of the algorithm between iterations; one step of the training loop is one iteration."""

    data: RankingDataset
    valid: RankingDataset
    settings: SortNetSettings
    threads: int
    net: ComparatorNet = field(init=False)
    iterations: list[Iteration] = field(init=False, default_factory=list)
    pairs: PairSet = field(init=False)
    valid_pairs: PairSet = field(init=False)
    n_possible: int = field(init=False)
    n_possible_valid: int = field(init=False)

    def __post_init__(self) -> None:
        self.pairs, self.valid_pairs = PairSet(self.data), PairSet(self.valid)
        self.n_possible, self.n_possible_valid = n_possible_pairs(self.data), n_possible_pairs(self.valid)

    def take_step(self, iteration: int) -> bool:
        """Make the net of an iteration; False where the net before made no new mistakes."""
        # Each iteration has its own random stream, so that a resumed run draws the same numbers.
        rng = np.random.default_rng([self.settings.seed, iteration])
        best_epoch = None
        if iteration == 0:
            self.net = random_net(self.data.n_features, self.hidden, rng)
        else:
            if not self._add_mistakes():
                return False
            start = random_net(self.data.n_features, self.hidden, rng) if self.settings.restart else self.net
            trained = train_and_validate(
                start,
                self.pairs.training_pairs(),
                self.valid_pairs.training_pairs(),
                self.settings,
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
        """Scores that put the validation documents in the order of the current net."""
        ordered = sort_documents(self.net, self.valid.features, self.valid.groups, threads=self.threads)
        return ordered.scores(self.valid.groups)

    @property
    def hidden(self) -> tuple[int, ...]:
        """The number of hidden neurons in each layer."""
        return layers_of(self.settings.hidden)

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
