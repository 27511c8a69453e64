"""Models fitted by expectation-maximisation: position-based, user browsing, and the dynamic Bayesian network.

What is hidden is which ranks a user examined. Given the clicks, each step adds up how likely that was, and takes as
attraction the clicks' share of the examinations; so a list in which a document was surely not examined says nothing
about the document.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import Arrays, Float64Array, Int32Array, IntArray, thread_count
from rankwright.clicks.logs.click_log import PairLog
from rankwright.clicks.models.behaviour import Behaviour, Chain, PositionBased, UserBrowsing
from rankwright.clicks.models.click_model import ClickModel
from rankwright.clicks.models.counted import CLICKS, HALF, LAST, SHOWN, TO_LAST, counted, satisfactions
from rankwright.clicks.models.fixed_point import State, fixed_point
from rankwright.clicks.models.rates import LEAST_RATE
from rankwright.container.checks import read_array
from rankwright.errors import InputError
from rankwright.kernels.records import PairCells

DEEPEST = 50  # ranks that are told apart; deeper ones count as the last
FIRST_PERSISTENCE = 0.9  # to start from
CHANCES = (LEAST_RATE, 1 - LEAST_RATE)  # between which fitted chances lie


class _Examination(ClickModel):
    """A click is an examination, whose chance depends on a context, and an attraction, which is the document's.

    The first rank is taken as examined for certain: only products of both chances show in clicks.
    """

    @abstractmethod
    def _contexts(self, n_ranks: int) -> Int32Array:
        """The context of each rank after each last click; context 0 is that of the first rank."""

    def _learn(self, log: PairLog) -> None:
        threads = thread_count(self.threads)
        of_pair, ranks = counted(log, self.threads)
        context_of = self._contexts(min(log.n_ranks, DEEPEST))
        cells = _cells(log, context_of, threads)
        clicks, shown = of_pair[:, CLICKS].astype(np.float64), of_pair[:, SHOWN]
        n_contexts = int(context_of.max()) + 1
        shown_in = np.bincount(cells.contexts, weights=cells.shown, minlength=n_contexts)
        clicks_in = np.bincount(cells.contexts, weights=cells.clicks, minlength=n_contexts)

        def step(state: State, number: int) -> State:
            examination, examined = state
            attraction = self._attraction(shown, clicks, examined, ranks, number)
            new_examined, in_context = np.empty(log.n_pairs), np.empty(n_contexts)
            kernels.examination_step(cells, attraction, examination, new_examined, in_context, threads)
            new = np.clip((in_context + HALF) / (shown_in + 2 * HALF), *CHANCES)
            new[0] = 1.0
            return [new, new_examined]

        # Where the log cannot tell examination and attraction apart, differences between ranks count as examination.
        rates = (clicks_in + HALF) / (shown_in + 2 * HALF)
        examination = np.clip(rates / rates[0], 0.01, 0.99)
        examination[0] = 1.0
        state, self.n_iterations_ = fixed_point(
            step,
            [examination, np.maximum(shown * examination.mean(), clicks)],
            [CHANCES, (clicks, shown)],
            tolerance=self.tolerance,
            most=self.iterations,
        )
        self._attraction(shown, clicks, state[1], ranks, self.iterations)
        self.parameters_ |= {"examination": state[0], "contexts": context_of}

    def _chances(self, n_pairs: int) -> Mapping[str, tuple[int | None, ...]]:  # noqa: ARG002
        return {"examination": (None,)}

    def _check(self, parameters: Arrays) -> None:
        contexts = read_array(parameters, "contexts", np.int32, (None, None))
        n_ranks, n_contexts = len(contexts), len(parameters["examination"])
        if not 1 <= n_ranks <= DEEPEST or not np.array_equal(contexts, self._contexts(n_ranks)):
            raise InputError("contexts must be those of the model")
        if int(contexts.max()) + 1 != n_contexts:
            raise InputError(f"examination must have {int(contexts.max()) + 1} values, got {n_contexts}")


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

    def _learn(self, log: PairLog) -> None:
        threads = thread_count(self.threads)
        of_pair, ranks = counted(log, self.threads)
        clicks, shown = of_pair[:, CLICKS].astype(np.float64), of_pair[:, SHOWN]
        to_last, last = of_pair[:, TO_LAST].astype(np.float64), of_pair[:, LAST].astype(np.float64)
        of_query = np.empty(len(log.lists.list_starts) - 1), np.empty(len(log.lists.list_starts) - 1)

        def step(state: State, number: int) -> State:
            chances, examined, satisfied = state
            attraction = self._attraction(shown, clicks, examined, ranks, number)
            content = satisfactions(self, satisfied, clicks, number)["satisfaction"]
            sums = np.empty(log.n_pairs), np.empty(log.n_pairs)
            kernels.dbn_step(log.lists, attraction, content, float(chances[0]), *sums, *of_query, threads)
            return [_chances(*of_query, *sums, clicks), *sums]

        state, self.n_iterations_ = fixed_point(
            step,
            [np.full(3, FIRST_PERSISTENCE), to_last, 0.5 * last],
            [CHANCES, (np.minimum(clicks, to_last), shown), (0.0, last)],
            tolerance=self.tolerance,
            most=self.iterations,
        )
        self._attraction(shown, clicks, state[1], ranks, self.iterations)
        self.parameters_ |= satisfactions(self, state[2], clicks, self.iterations)
        self.parameters_["persistence"] = state[0][:1]

    def _behaviour(self) -> Behaviour:
        persistence = float(self._fitted()["persistence"][0])
        return Chain(np.full(1, persistence), persistence=persistence, satisfies=True)

    def _chances(self, n_pairs: int) -> Mapping[str, tuple[int | None, ...]]:
        return {"satisfaction": (n_pairs,), "mean_satisfaction": (1,), "persistence": (1,)}


def _chances(
    went_on: Float64Array,
    could_go_on: Float64Array,
    examined: Float64Array,
    satisfied: Float64Array,
    clicks: Float64Array,
) -> Float64Array:
    """The persistence, and the mean attraction and satisfaction, whose changes are watched along with it."""
    n_clicks = float(clicks.sum())
    events = np.array([went_on.sum(), n_clicks, satisfied.sum()])
    trials = np.array([could_go_on.sum(), examined.sum(), n_clicks])
    return np.clip((events + HALF) / (trials + 2 * HALF), *CHANCES)
