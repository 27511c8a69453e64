"""The trained model of SortNet: a comparator, the iterations that led to it, and what features add to its output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float64Array, IntArray
from rankwright.comparators.net import WEIGHT_DTYPE, ComparatorNet
from rankwright.comparators.settings import layers_of
from rankwright.comparators.sorting import SortedDocuments, sort_documents
from rankwright.container.checks import (
    MOST,
    check_between,
    read_any_field,
    read_array,
    read_integer,
    read_list,
    read_number,
)
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.explanations.contributions import PairContributions, Question, settled
from rankwright.features.missing import filled
from rankwright.rankers.model import Model, State, StoredModel
from rankwright.training.loop import History

NO_EPOCH = -1  # stands in checkpoints for the missing best epoch of iteration 0, whose net is random


@dataclass(frozen=True, slots=True)
class Iteration:
    """What the net of an iteration was trained on: the number of pairs, and their share of all possible pairs."""

    n_pairs: int
    n_valid_pairs: int
    share_of_pairs: float
    share_of_valid_pairs: float
    best_epoch: int | None  # from 0; None for the random net of iteration 0

    def to_dict(self) -> dict[str, Any]:
        """The iteration as files keep it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Iteration:
        """The iteration that `to_dict` recorded."""
        counts = [read_integer(record, name) for name in ("n_pairs", "n_valid_pairs")]
        shares = [read_number(record, name) for name in ("share_of_pairs", "share_of_valid_pairs")]
        epoch = None if read_any_field(record, "best_epoch") is None else read_integer(record, "best_epoch")
        return cls(counts[0], counts[1], shares[0], shares[1], epoch)


def iterations_to_arrays(iterations: list[Iteration]) -> Arrays:
    """The iterations as arrays with one value for each iteration."""
    counts = [(one.n_pairs, one.n_valid_pairs, NO_EPOCH if one.best_epoch is None else one.best_epoch)
              for one in iterations]  # fmt: skip
    shares = [(one.share_of_pairs, one.share_of_valid_pairs) for one in iterations]
    return {"counts": np.array(counts, np.int64).reshape(-1, 3), "shares": np.array(shares).reshape(-1, 2)}


def iterations_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> list[Iteration]:
    """The iterations in the arrays that `iterations_to_arrays` made."""
    counts = read_array(arrays, "counts", np.int64, (None, 3))
    shares = read_array(arrays, "shares", np.float64, (len(counts), 2))
    check_between("counts", counts, NO_EPOCH, MOST)
    return [
        Iteration(n_pairs, n_valid, share, valid_share, None if epoch == NO_EPOCH else epoch)
        for (n_pairs, n_valid, epoch), (share, valid_share) in zip(counts.tolist(), shares.tolist(), strict=True)
    ]


POINTS = 16  # along the way
STEP = 0.02  # of a feature's move, over which a derivative is taken: outputs are single precision


def compared(
    net: ComparatorNet, first: Float64Array, second: Float64Array, *, threads: int = 1
) -> tuple[Float64Array, float]:
    """What each feature adds, and the whole output: by how much the input of N≻ is above that of N≺.

    Both documents start in the middle between the two, where neither is preferred, and move apart to where they are.
    On the way the output rises by what the move of each feature adds to it: the integral of its derivative.
    """
    apart = (first - second) / 2
    moved = np.flatnonzero(apart)
    values = np.zeros(len(first))
    places, weights = np.polynomial.legendre.leggauss(POINTS)
    for place, weight in zip(((1 + places) / 2).tolist(), (weights / 2).tolist(), strict=True):
        values[moved] += weight * _slopes(net, (first + second) / 2, apart, place, moved, threads)
    return values, float(_margins(net, first[None], second[None], threads)[0])


def _slopes(
    net: ComparatorNet, middle: Float64Array, apart: Float64Array, place: float, moved: IntArray, threads: int
) -> Float64Array:
    """How fast the output rises as each feature alone moves on, in units of its whole way."""
    ways = np.repeat((place * apart)[None], 2 * len(moved), axis=0)
    numbers = np.arange(len(moved))
    ways[numbers, moved] += STEP / 2 * apart[moved]
    ways[len(moved) + numbers, moved] -= STEP / 2 * apart[moved]
    margins = _margins(net, middle + ways, middle - ways, threads)
    return np.asarray((margins[: len(moved)] - margins[len(moved) :]) / STEP)


def _margins(net: ComparatorNet, left: Float64Array, right: Float64Array, threads: int) -> Float64Array:
    rows = np.concatenate([left, right]).astype(np.float32)
    numbers = np.arange(len(left))
    inputs = net.margins(rows, numbers, len(left) + numbers, threads=threads).astype(np.float64)
    return np.asarray(inputs[:, 0] - inputs[:, 1])


@dataclass(frozen=True, slots=True, eq=False)
class ComparatorModel(Model):
    """A net that compares two documents; `chosen` is the iteration it comes from."""

    net: ComparatorNet
    iterations: list[Iteration]
    chosen: int

    def sorted(self, data: RankingDataset, *, threads: int) -> SortedDocuments:
        """The documents of each query, sorted by the comparator."""
        return sort_documents(self.net, data.features, data.groups, threads=threads)

    def scores(self, data: RankingDataset, *, threads: int) -> Float64Array:
        """Scores that reproduce the order: 0 for a query's best document, -1 for the next, and so on."""
        return self.sorted(data, threads=threads).scores(data.groups)

    @property
    def needs_queries(self) -> bool:
        """True: a document has no score of its own."""
        return True

    def pair_contributions(self, data: RankingDataset, pairs: IntArray, question: Question) -> PairContributions:
        """What features add to the comparator's output for the two, along the way from two equal documents."""
        question.refuse_cover("SortNet")
        question.refuse_background("SortNet")
        features = filled(data.features).astype(np.float64)
        found = [compared(self.net, features[i], features[j], threads=question.threads) for i, j in pairs.tolist()]
        margins = np.array([margin for _, margin in found])
        values = settled(np.array([values for values, _ in found]), margins)
        return PairContributions(values, margins, "the comparator's output, from two equal documents on")

    @property
    def n_steps(self) -> int:
        """How many iterations led to the net, including iteration 0 with its random net."""
        return self.chosen + 1

    def facts(self) -> dict[str, Any]:
        """The neurons of each layer, the iteration the net comes from, and the pairs it was trained on."""
        chosen = self.iterations[self.chosen]
        return {
            "hidden": " + ".join(map(str, self.net.hidden)),
            "weights": len(self.net.weights),
            "iteration": self.chosen,
            "pairs": chosen.n_pairs,
            "share_of_pairs": chosen.share_of_pairs,
        }

    def state(self) -> State:
        """The iterations, and the weights."""
        return {"iterations": [one.to_dict() for one in self.iterations]}, {"weights": self.net.weights}

    @classmethod
    def restored(cls, stored: StoredModel) -> Self:
        """The model that `state` described."""
        iterations = [Iteration.from_dict(one) for one in read_list(stored.header, "iterations", dict)]
        weights = read_array(stored.arrays, "weights", WEIGHT_DTYPE, (None,))
        net = ComparatorNet(stored.n_features, layers_of(stored.settings.hidden), weights)
        chosen = History.from_dict(stored.header["history"]).best_step or 0
        if chosen >= len(iterations):
            raise InputError(f"the net is that of iteration {chosen}, and there are {len(iterations)}")
        return cls(net, iterations, chosen)
