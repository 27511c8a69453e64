"""The trained model of SortNet: a comparator, and the iterations that led to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.comparators.comparing import compared
from rankwright.comparators.iterations import Iteration
from rankwright.comparators.net import WEIGHT_DTYPE, ComparatorNet
from rankwright.comparators.settings import layers_of
from rankwright.comparators.sorting import SortedDocuments, sort_documents
from rankwright.container.checks import read_array, read_list
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.explanations.contributions import PairContributions, Question, settled
from rankwright.features.missing import filled
from rankwright.rankers.model import Model, State, StoredModel
from rankwright.training.loop import History


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

    def pair_contributions(self, data: RankingDataset, pair: tuple[int, int], question: Question) -> PairContributions:
        """What features add to the comparator's output for the two, along the way from two equal documents."""
        question.refuse_cover("SortNet")
        question.refuse_background("SortNet")
        first, second = filled(data.features[list(pair)]).astype(np.float64)
        values, margin = compared(self.net, first, second, threads=question.threads)
        settled_values = settled(values[None], np.array([margin]))[0]
        return PairContributions(settled_values, margin, "the comparator's output, from two equal documents on")

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
