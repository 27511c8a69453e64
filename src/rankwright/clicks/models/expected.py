"""Models fitted by expectation-maximisation: position-based, user browsing, and the dynamic Bayesian network.

What is hidden is which ranks a user examined. Given the clicks, each step adds up how likely that was, and takes as
attraction the clicks' share of the examinations; so what was surely not examined says nothing about a document.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import Int32Array, IntArray, thread_count
from rankwright.clicks.logs.log import PairLog
from rankwright.clicks.models.behaviour import Behaviour, Chain, PositionBased, UserBrowsing
from rankwright.clicks.models.counted import CLICKS, HALF, SHOWN, TO_LAST, counted, satisfactions
from rankwright.clicks.models.model import ClickModel
from rankwright.kernels.records import PairCells

DEEPEST = 50  # ranks that are told apart; deeper ones count as the last
FIRST_EXAMINATION = 0.5  # of ranks below the first, to start from


class _Examination(ClickModel):
    """A click is an examination, whose chance depends on a context, and an attraction, which is the document's.

    The first rank is taken as examined for certain: only products of both chances show in clicks.
    """

    prior_by_rank: ClassVar[bool] = False

    @abstractmethod
    def _contexts(self, n_ranks: int) -> Int32Array:
        """The context of each rank after each last click; context 0 is that of the first rank."""

    def _learn(self, log: PairLog) -> None:
        threads = thread_count(self.threads)
        of_pair, ranks = counted(log, self.threads)
        context_of = self._contexts(min(log.n_ranks, DEEPEST))
        cells = _cells(log, context_of, threads)
        shown_in = np.bincount(cells.contexts, weights=cells.shown, minlength=int(context_of.max()) + 1)
        clicks, shown = of_pair[:, CLICKS].astype(np.float64), of_pair[:, SHOWN]
        examination = np.full(len(shown_in), FIRST_EXAMINATION)
        examination[0] = 1.0
        of_pair_sum, in_context = np.empty(log.n_pairs), np.empty(len(shown_in))
        examined = shown * (0.5 + 0.5 * (ranks.clicks.sum() / max(ranks.shown.sum(), 1)))
        for iteration in range(self.iterations):
            attraction = self._attraction(shown, clicks, np.maximum(examined, clicks), ranks, iteration)
            kernels.examination_step(cells, attraction, examination, of_pair_sum, in_context, threads)
            new = np.clip((in_context + HALF) / (shown_in + 2 * HALF), 1e-6, 1 - 1e-6)
            new[0] = 1.0
            change = float(np.abs(new - examination).max())
            examination, examined = new, of_pair_sum
            self.n_iterations_ = iteration + 1
            if change < self.tolerance:
                break
        self._attraction(shown, clicks, examined, ranks, self.iterations)
        self.parameters_ |= {"examination": examination, "contexts": context_of}


def _cells(log: PairLog, context_of: Int32Array, threads: int) -> PairCells:
    """How often each pair was shown and clicked in each context."""
    n_cells = np.empty(log.n_pairs, np.int64)
    kernels.count_cells(log.lists, context_of, n_cells, threads)
    starts: IntArray = np.concatenate([np.zeros(1, np.int64), np.cumsum(n_cells)])
    n = int(starts[-1])
    cells = PairCells(starts, np.empty(n, np.int32), np.empty(n, np.int64), np.empty(n, np.int64))
    kernels.fill_cells(log.lists, context_of, *cells, threads)
    return cells


class PositionBasedModel(_Examination):
    """A rank is examined with a chance of its own."""

    name: ClassVar[str] = "pbm"
    summary: ClassVar[str] = "a chance of examination for each rank"

    def _contexts(self, n_ranks: int) -> Int32Array:
        return np.repeat(np.arange(n_ranks, dtype=np.int32)[:, None], n_ranks + 1, axis=1)

    def _behaviour(self) -> Behaviour:
        return PositionBased(self._fitted()["examination"])


class UserBrowsingModel(_Examination):
    """The chance of examination depends on the rank and on where the last click was."""

    name: ClassVar[str] = "ubm"
    summary: ClassVar[str] = "a chance of examination for each rank and last click"

    def _contexts(self, n_ranks: int) -> Int32Array:
        ranks, last = np.mgrid[0:n_ranks, 0 : n_ranks + 1]
        contexts: Int32Array = (ranks * (ranks + 1) // 2 + np.minimum(last, ranks)).astype(np.int32)
        return contexts

    def _behaviour(self) -> Behaviour:
        parts = self._fitted()
        return UserBrowsing(parts["examination"][parts["contexts"]])


class DynamicBayesianNetwork(ClickModel):
    """Users go from the top down, leave when satisfied, and otherwise go on with a certain chance."""

    name: ClassVar[str] = "dbn"
    summary: ClassVar[str] = "from the top down until satisfied or tired"
    prior_by_rank: ClassVar[bool] = False

    def _learn(self, log: PairLog) -> None:
        threads = thread_count(self.threads)
        of_pair, ranks = counted(log, self.threads)
        clicks, shown = of_pair[:, CLICKS].astype(np.float64), of_pair[:, SHOWN]
        examined, satisfied, persistence = of_pair[:, TO_LAST].astype(np.float64), 0.5 * clicks, 0.9
        sums = np.empty(log.n_pairs), np.empty(log.n_pairs)
        of_query = np.empty(len(log.lists.list_starts) - 1), np.empty(len(log.lists.list_starts) - 1)
        for iteration in range(self.iterations):
            attraction = self._attraction(shown, clicks, examined, ranks, iteration)
            content = satisfactions(self, satisfied, clicks, iteration)
            kernels.dbn_step(log.lists, attraction, content["satisfaction"], persistence, *sums, *of_query, threads)
            examined, satisfied = sums[0].copy(), sums[1].copy()
            new = float((of_query[0].sum() + HALF) / (of_query[1].sum() + 2 * HALF))
            change, persistence = abs(new - persistence), new
            self.n_iterations_ = iteration + 1
            if change < self.tolerance:
                break
        self._attraction(shown, clicks, examined, ranks, self.iterations)
        self.parameters_ |= satisfactions(self, satisfied, clicks, self.iterations)
        self.parameters_["persistence"] = np.array([persistence])

    def _behaviour(self) -> Behaviour:
        persistence = float(self._fitted()["persistence"][0])
        return Chain(np.full(1, persistence), persistence=persistence, satisfies=True)
