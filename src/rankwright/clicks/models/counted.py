"""Models that counting fits exactly: click rates, cascade, dependent clicks, and the simplified DBN."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float64Array, IntArray, thread_count
from rankwright.clicks.logs.click_log import PairLog
from rankwright.clicks.models.behaviour import Behaviour, ByDocument, ByRank, Chain
from rankwright.clicks.models.click_model import ClickModel, RankCounts
from rankwright.clicks.models.rates import drawn_rates, fitted_strength

SHOWN, CLICKS, TO_FIRST, TO_LAST, LAST, RANKS = range(6)  # columns of what is counted of a pair
HALF = 0.5  # added to counts of ranks, so that no chance is 0 or 1


def counted(log: PairLog, threads: int | None) -> tuple[IntArray, RankCounts]:
    """Counts of each pair, and of each rank."""
    of_pair, at_rank = np.empty((log.n_pairs, 6), np.int64), np.empty((log.n_ranks, 3), np.int64)
    kernels.count_clicks(log.lists, of_pair, at_rank, thread_count(threads))
    shown, clicks, last = at_rank.T.astype(np.float64)
    return of_pair, RankCounts(shown, clicks, last, of_pair[:, RANKS] / np.maximum(of_pair[:, SHOWN], 1))


class RankRate(ClickModel):
    """Every rank has its click rate, whatever is shown: the model that others must beat."""

    name: ClassVar[str] = "rank-rate"
    summary: ClassVar[str] = "a click rate for each rank"

    def _learn(self, log: PairLog) -> None:
        of_pair, ranks = counted(log, self.threads)
        clicks, rates = of_pair[:, CLICKS].astype(np.float64), ranks.click_rates
        self._attraction(of_pair[:, SHOWN], clicks, of_pair[:, SHOWN].astype(np.float64), ranks, usual_at=rates)
        self.parameters_ |= {"rates": rates, "attraction": ranks.of_pairs(rates)}

    def _behaviour(self) -> Behaviour:
        return ByRank(self._fitted()["rates"])

    def _chances(self, n_pairs: int) -> Mapping[str, tuple[int | None, ...]]:  # noqa: ARG002
        return {"rates": (None,)}


class DocumentRate(ClickModel):
    """Every document of a query has its click rate, wherever it is shown."""

    name: ClassVar[str] = "document-rate"
    summary: ClassVar[str] = "a click rate for each document of a query"

    def _learn(self, log: PairLog) -> None:
        of_pair, ranks = counted(log, self.threads)
        clicks, shown = of_pair[:, CLICKS].astype(np.float64), of_pair[:, SHOWN]
        self._attraction(shown, clicks, shown.astype(np.float64), ranks, usual_at=ranks.click_rates)

    def _behaviour(self) -> Behaviour:
        return ByDocument()


class Cascade(ClickModel):
    """Users go from the top down to the first click, and leave. Further clicks count as mistakes, at a fitted rate."""

    name: ClassVar[str] = "cascade"
    summary: ClassVar[str] = "from the top down to the first click"

    def _learn(self, log: PairLog) -> None:
        of_pair, ranks = counted(log, self.threads)
        examined = of_pair[:, TO_FIRST].astype(np.float64)
        n_first = _first_clicks(log)
        beyond = float(of_pair[:, SHOWN].sum() - of_pair[:, TO_FIRST].sum())
        noise = (float(of_pair[:, CLICKS].sum()) - float(n_first.sum()) + HALF) / (beyond + 1)
        self._attraction(of_pair[:, SHOWN], n_first, examined, ranks)
        self.parameters_["noise"] = np.array([noise])

    def _behaviour(self) -> Behaviour:
        return Chain(np.zeros(1), noise=float(self._fitted()["noise"][0]))

    def _chances(self, n_pairs: int) -> Mapping[str, tuple[int | None, ...]]:  # noqa: ARG002
        return {"noise": (1,)}


class DependentClicks(ClickModel):
    """Users go from the top down and after each click go on with a chance that depends on the rank."""

    name: ClassVar[str] = "dcm"
    summary: ClassVar[str] = "goes on after a click with the chance of its rank"

    def _learn(self, log: PairLog) -> None:
        of_pair, ranks = counted(log, self.threads)
        clicks = of_pair[:, CLICKS].astype(np.float64)
        self._attraction(of_pair[:, SHOWN], clicks, of_pair[:, TO_LAST].astype(np.float64), ranks)
        self.parameters_["continuation"] = 1 - (ranks.last + HALF) / (ranks.clicks + 2 * HALF)

    def _behaviour(self) -> Behaviour:
        return Chain(self._fitted()["continuation"])

    def _chances(self, n_pairs: int) -> Mapping[str, tuple[int | None, ...]]:  # noqa: ARG002
        return {"continuation": (None,)}


class SimplifiedDBN(ClickModel):
    """Users go from the top down until a clicked document satisfies them."""

    name: ClassVar[str] = "sdbn"
    summary: ClassVar[str] = "from the top down until satisfied"

    def _learn(self, log: PairLog) -> None:
        of_pair, ranks = counted(log, self.threads)
        clicks = of_pair[:, CLICKS].astype(np.float64)
        self._attraction(of_pair[:, SHOWN], clicks, of_pair[:, TO_LAST].astype(np.float64), ranks)
        self.parameters_ |= satisfactions(self, of_pair[:, LAST].astype(np.float64), clicks)

    def _behaviour(self) -> Behaviour:
        return Chain(np.ones(1), satisfies=True)

    def _chances(self, n_pairs: int) -> Mapping[str, tuple[int | None, ...]]:
        return {"satisfaction": (n_pairs,), "mean_satisfaction": (1,)}


def satisfactions(
    model: ClickModel, satisfied: Float64Array, clicks: Float64Array, iteration: int = 0
) -> dict[str, Float64Array]:
    """The share of its clicks with which each document satisfied, drawn to that of all."""
    mean = float(satisfied.sum() + HALF) / float(clicks.sum() + 1)
    usual = np.full(len(clicks), mean)
    if iteration == 0 or "satisfaction" not in model.strengths_:
        model.strengths_["satisfaction"] = fitted_strength(satisfied, clicks, usual)
    rates = drawn_rates(satisfied, clicks, usual, model.strengths_["satisfaction"])
    return {"satisfaction": rates, "mean_satisfaction": np.array([mean])}


def _first_clicks(log: PairLog) -> Float64Array:
    """How often each pair was the first click of a list."""
    lists, clicked = log.lists, log.lists.clicked
    rows = np.flatnonzero(clicked)
    list_of_click = np.searchsorted(lists.offsets, rows, side="right") - 1
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = list_of_click[1:] != list_of_click[:-1]
    first, of_list = rows[is_first], list_of_click[is_first]
    sums = np.bincount(lists.pairs[first], weights=lists.counts[of_list], minlength=log.n_pairs)
    return sums.astype(np.float64)
