"""Models that counting fits exactly: click rates, cascade, dependent clicks, and the simplified DBN."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.clicks.logs.click_log import PairLog
from rankwright.clicks.models.behaviour import Behaviour, Chain, PositionBased
from rankwright.clicks.models.click_model import EACH_PAIR, ClickModel
from rankwright.clicks.models.rates import counted, drawn_rates, fitted_strength, share_of


class RankRate(ClickModel):
    """Every rank has its click rate, whatever is shown: the model that others must beat."""

    name: ClassVar[str] = "rank-rate"
    summary: ClassVar[str] = "a click rate for each rank"
    _chances: ClassVar = {"rates": None}

    def _learn(self, log: PairLog) -> None:
        counts = counted(log, self.threads)
        rates = counts.rates_at
        self._attraction(counts, counts.shown.astype(np.float64), usual_at=rates)
        self.parameters_ |= {"rates": rates, "attraction": counts.of_pairs(rates)}

    def _behaviour(self) -> Behaviour:
        return PositionBased(self._fitted()["rates"], attracts=False)


class DocumentRate(ClickModel):
    """Every document of a query has its click rate, wherever it is shown."""

    name: ClassVar[str] = "document-rate"
    summary: ClassVar[str] = "a click rate for each document of a query"

    def _learn(self, log: PairLog) -> None:
        counts = counted(log, self.threads)
        self._attraction(counts, counts.shown.astype(np.float64), usual_at=counts.rates_at)

    def _behaviour(self) -> Behaviour:
        return PositionBased(np.ones(1))


class Cascade(ClickModel):
    """Users go from the top down to the first click, and leave. Further clicks count as mistakes, at a fitted rate."""

    name: ClassVar[str] = "cascade"
    summary: ClassVar[str] = "from the top down to the first click"
    _chances: ClassVar = {"noise": 1}

    def _learn(self, log: PairLog) -> None:
        counts, n_first = counted(log, self.threads), _first_clicks(log)
        beyond = float(counts.shown.sum() - counts.to_first.sum())
        noise = share_of(float(counts.clicks.sum() - n_first.sum()), beyond)
        self._attraction(counts, counts.to_first, clicks=n_first)
        self.parameters_["noise"] = np.array([noise])

    def _behaviour(self) -> Behaviour:
        return Chain(np.zeros(1), noise=float(self._fitted()["noise"][0]))


class DependentClicks(ClickModel):
    """Users go from the top down and after each click go on with a chance that depends on the rank."""

    name: ClassVar[str] = "dcm"
    summary: ClassVar[str] = "goes on after a click with the chance of its rank"
    _chances: ClassVar = {"continuation": None}

    def _learn(self, log: PairLog) -> None:
        counts = counted(log, self.threads)
        self._attraction(counts, counts.to_last)
        self.parameters_["continuation"] = 1 - share_of(counts.last_at, counts.clicks_at)

    def _behaviour(self) -> Behaviour:
        return Chain(self._fitted()["continuation"])


class SimplifiedDBN(ClickModel):
    """Users go from the top down until a clicked document satisfies them."""

    name: ClassVar[str] = "sdbn"
    summary: ClassVar[str] = "from the top down until satisfied"
    _chances: ClassVar = {"satisfaction": EACH_PAIR, "mean_satisfaction": 1}

    def _learn(self, log: PairLog) -> None:
        counts = counted(log, self.threads)
        self._attraction(counts, counts.to_last)
        self.parameters_ |= satisfactions(self, counts.last, counts.clicks)

    def _behaviour(self) -> Behaviour:
        return Chain(np.ones(1), satisfies=True)


def satisfactions(
    model: ClickModel, satisfied: Float64Array, clicks: Float64Array, iteration: int = 0
) -> dict[str, Float64Array]:
    """The share of its clicks with which each document satisfied, drawn to that of all."""
    mean = share_of(float(satisfied.sum()), float(clicks.sum()))
    usual = np.full(len(clicks), mean)
    if iteration == 0 or "satisfaction" not in model.strengths_:
        model.strengths_["satisfaction"] = fitted_strength(satisfied, clicks, usual)
    rates = drawn_rates(satisfied, clicks, usual, model.strengths_["satisfaction"])
    return {"satisfaction": rates, "mean_satisfaction": np.array([mean])}


def _first_clicks(log: PairLog) -> Float64Array:
    """How often each pair was the first click of a list."""
    lists, rows = log.lists, np.flatnonzero(log.lists.clicked)
    of_list, first = np.unique(np.searchsorted(lists.offsets, rows, side="right") - 1, return_index=True)
    sums = np.bincount(lists.pairs[rows[first]], weights=lists.counts[of_list], minlength=log.n_pairs)
    return sums.astype(np.float64)
