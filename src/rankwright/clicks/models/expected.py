"""Models fitted by expectation-maximisation: position-based, user browsing, and the dynamic Bayesian network.

What is hidden is which ranks a user examined. Given the clicks, each step adds up how likely that was, and takes as
attraction the clicks' share of the examinations; so a list in which a document was surely not examined says nothing
about the document.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

import numpy as np

from rankwright import kernels
from rankwright.arrays import Arrays, Float64Array, Int32Array, IntArray, thread_count
from rankwright.clicks.logs.click_log import PairLog
from rankwright.clicks.models.behaviour import Behaviour, Chain, PositionBased, UserBrowsing
from rankwright.clicks.models.click_model import EACH_PAIR, ClickModel
from rankwright.clicks.models.counted import satisfactions
from rankwright.clicks.models.rates import LEAST_RATE, counted, share_of
from rankwright.container.checks import read_array
from rankwright.errors import InputError
from rankwright.kernels.records import PairCells
from rankwright.linear_algebra import length

DEEPEST = 50  # ranks that are told apart; deeper ones count as the last
FIRST_PERSISTENCE = 0.9  # to start from
CHANCES = (LEAST_RATE, 1 - LEAST_RATE)  # between which fitted chances lie
LONGEST = 4.0  # how far a leap may go at first, in steps; it grows where leaps go well

State: TypeAlias = list[Float64Array]  # the first array is the one whose changes are watched
Bounds: TypeAlias = Sequence[tuple[Float64Array | IntArray | float, Float64Array | IntArray | float]]


class _Examination(ClickModel):
    """A click is an examination, whose chance depends on a context, and an attraction, which is the document's.

    The first rank is taken as examined for certain: only products of both chances show in clicks.
    """

    _chances: ClassVar = {"examination": None}

    @abstractmethod
    def _contexts(self, n_ranks: int) -> Int32Array:
        """The context of each rank after each last click; context 0 is that of the first rank."""

    def _learn(self, log: PairLog) -> None:
        threads = thread_count(self.threads)
        counts = counted(log, self.threads)
        clicks, shown = counts.clicks, counts.shown
        context_of = self._contexts(min(log.n_ranks, DEEPEST))
        cells = _cells(log, context_of, threads)
        n_contexts = int(context_of.max()) + 1
        shown_in, clicks_in = (
            np.bincount(cells.contexts, weights=one, minlength=n_contexts) for one in (cells.shown, cells.clicks)
        )

        def step(state: State, number: int) -> State:
            examination, examined = state
            attraction = self._attraction(counts, examined, iteration=number)
            new_examined, in_context = np.empty(log.n_pairs), np.empty(n_contexts)
            kernels.examination_step(cells, attraction, examination, new_examined, in_context, threads)
            new = np.clip(share_of(in_context, shown_in), *CHANCES)
            new[0] = 1.0
            return [new, new_examined]

        # Where the log cannot tell examination and attraction apart, differences between ranks count as examination.
        rates = share_of(clicks_in, shown_in)
        examination: Float64Array = np.clip(rates / rates[0], 0.01, 0.99)
        examination[0] = 1.0
        start, bounds = [examination, np.maximum(shown * examination.mean(), clicks)], (CHANCES, (clicks, shown))
        state, self.n_iterations_ = fixed_point(step, start, bounds, tolerance=self.tolerance, most=self.iterations)
        self._attraction(counts, state[1], iteration=self.iterations)
        self.parameters_ |= {"examination": state[0], "contexts": context_of}

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
    _chances: ClassVar = {"satisfaction": EACH_PAIR, "mean_satisfaction": 1, "persistence": 1}

    def _learn(self, log: PairLog) -> None:
        threads, n_queries = thread_count(self.threads), len(log.lists.list_starts) - 1
        counts = counted(log, self.threads)
        clicks, to_last, last = counts.clicks, counts.to_last, counts.last
        n_clicks = float(clicks.sum())
        went_on, could_go_on = np.empty(n_queries), np.empty(n_queries)

        def step(state: State, number: int) -> State:
            # The first array is the persistence, and the mean attraction and satisfaction to watch along with it.
            chances, examined, satisfied = state
            attraction = self._attraction(counts, examined, iteration=number)
            content = satisfactions(self, satisfied, clicks, number)["satisfaction"]
            examined, satisfied = np.empty(log.n_pairs), np.empty(log.n_pairs)
            sums = examined, satisfied, went_on, could_go_on
            kernels.dbn_step(log.lists, attraction, content, float(chances[0]), *sums, threads)
            events = np.array([went_on.sum(), n_clicks, satisfied.sum()])
            trials = np.array([could_go_on.sum(), examined.sum(), n_clicks])
            return [np.clip(share_of(events, trials), *CHANCES), examined, satisfied]

        start = [np.full(3, FIRST_PERSISTENCE), to_last, 0.5 * last]
        bounds = (CHANCES, (np.minimum(clicks, to_last), counts.shown), (0.0, last))
        state, self.n_iterations_ = fixed_point(step, start, bounds, tolerance=self.tolerance, most=self.iterations)
        self._attraction(counts, state[1], iteration=self.iterations)
        self.parameters_ |= satisfactions(self, state[2], clicks, self.iterations)
        self.parameters_["persistence"] = state[0][:1]

    def _behaviour(self) -> Behaviour:
        persistence = float(self._fitted()["persistence"][0])
        return Chain(np.full(1, persistence), persistence=persistence, satisfies=True)


def fixed_point(
    step: Callable[[State, int], State], start: State, bounds: Bounds, *, tolerance: float, most: int
) -> tuple[State, int]:
    """The state that a step no longer changes by more than the tolerance, and how many steps that took.

    After two steps the state leaps in their direction, as far as their difference suggests (SQUAREM, Varadhan and
    Roland 2008), and is kept within the bounds; another step follows. `step` is also told the number of steps before.
    """
    before, n_steps, longest = start, 0, LONGEST
    while True:
        states = [before]
        for _ in range(2):
            states.append(step(states[-1], n_steps))
            n_steps += 1
            if _change(*states[-2:]) < tolerance or n_steps >= most:
                return states[-1], n_steps
        length = _length(states)
        leapt = _leap(states, min(length, longest), bounds)
        after = step(leapt, n_steps)
        n_steps += 1
        if _change(leapt, after) > _change(*states[:2]):  # it led astray: it is taken back
            before, longest = states[-1], max(1.0, longest / 4)
            continue
        if length > longest:
            longest *= 4
        if _change(leapt, after) < tolerance or n_steps >= most:
            return after, n_steps
        before = after


def _change(one: State, other: State) -> float:
    return float(np.abs(one[0] - other[0]).max())


def _length(states: Sequence[State]) -> float:
    """How many steps further the last two of them point."""
    first, second = states[1][0] - states[0][0], states[2][0] - states[1][0]
    bend = length(second - first)
    return max(1.0, length(first) / bend) if bend > 0 else 1.0


def _leap(states: Sequence[State], length: float, bounds: Bounds) -> State:
    leapt = []
    for (zero, one, two), (low, high) in zip(zip(*states, strict=True), bounds, strict=True):
        first = one - zero
        leapt.append(np.clip(zero + 2 * length * first + length**2 * (two - one - first), low, high))
    return leapt
