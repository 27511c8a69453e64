"""Folds: what each trains on, chooses its steps by, and is measured on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xxhash

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.keys import key_order
from rankwright.data.splits import k_fold, split_queries
from rankwright.errors import require
from rankwright.training.digest import data_digest


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Some queries of one of the datasets that folds are cut from; None stands for all."""

    dataset: int
    queries: IntArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FoldParts:
    """The parts of a fold. `watched` chooses steps while training; None if nothing does."""

    train: Part
    watched: Part | None
    measured: Part


@dataclass(frozen=True, slots=True, eq=False)
class FoldData:
    """The documents of a fold."""

    train: RankingDataset
    watched: RankingDataset | None
    measured: RankingDataset


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """Datasets, and how folds are cut from them; folds refer to the datasets, so that each is kept once."""

    datasets: tuple[RankingDataset, ...]
    plans: tuple[FoldParts, ...]

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self.plans)

    def fold(self, number: int) -> FoldData:
        """The documents of a fold; they are copied unless the fold has a whole dataset."""
        plan = self.plans[number]
        measured = self._take(plan.measured)
        if plan.watched is None:
            watched = None
        else:
            watched = measured if plan.watched is plan.measured else self._take(plan.watched)
        return FoldData(self._take(plan.train), watched, measured)

    def _take(self, part: Part) -> RankingDataset:
        data = self.datasets[part.dataset]
        return data if part.queries is None else data.take_queries(part.queries)

    def measured_ids(self, number: int) -> list[int | str]:
        """The ids of the queries that a fold is measured on, or their numbers if they have no ids."""
        data, numbers = self._measured(number)
        ids: list[int | str] = (numbers if data.query_ids is None else data.query_ids[numbers]).tolist()
        return ids

    def measured_weights(self, number: int) -> Float64Array:
        """The weights of the queries that a fold is measured on."""
        data, numbers = self._measured(number)
        return np.ones(len(numbers)) if data.query_weights is None else data.query_weights[numbers].astype(np.float64)

    def _measured(self, number: int) -> tuple[RankingDataset, IntArray]:
        part = self.plans[number].measured
        data = self.datasets[part.dataset]
        return data, np.arange(data.n_queries) if part.queries is None else part.queries

    def digest(self) -> str:
        """A fingerprint of the documents and of how they are cut."""
        digest = xxhash.xxh3_128()
        for data in self.datasets:
            digest.update(data_digest(data).encode())
        for plan in self.plans:
            for part in (plan.train, plan.watched, plan.measured):
                digest.update(b"-" if part is None else f"{part.dataset}:".encode())
                if part is not None and part.queries is not None:
                    digest.update(np.ascontiguousarray(part.queries, np.int64).data)
        return digest.hexdigest()


def validation_folds(data: RankingDataset, k: int, *, seed: int = 0) -> Folds:
    """`k` folds that choose settings: each query is validated on in one of them and trained on in the others."""
    plans = []
    for fold in k_fold(data.groups, k, seed=seed, order=key_order(data).queries):
        valid = Part(0, fold.test)
        plans.append(FoldParts(Part(0, fold.train), valid, valid))
    return Folds((data,), tuple(plans))


def measuring_folds(data: RankingDataset, k: int, *, valid: float | None = None, seed: int = 0) -> Folds:
    """`k` folds that measure: each query is tested on in one of them.

    `valid` is the share of each fold's other queries that is held back to choose steps by; None holds back none.
    """
    require(valid is None or 0 < valid < 1, f"valid must lie between 0 and 1, got {valid}")
    plans, order = [], key_order(data).queries
    for number, fold in enumerate(k_fold(data.groups, k, seed=seed, order=order)):
        train, watched = fold.train, None
        if valid is not None:
            others = Groups.of_sizes(data.groups.sizes[fold.train])
            places = np.searchsorted(fold.train, order[np.isin(order, fold.train)])
            rng = np.random.default_rng([seed, number])
            kept, held_back = split_queries(others, valid=valid, seed=rng, order=places)
            train, watched = fold.train[kept], Part(0, fold.train[held_back])
        plans.append(FoldParts(Part(0, train), watched, Part(0, fold.test)))
    return Folds((data,), tuple(plans))


def given_folds(parts: Sequence[tuple[RankingDataset, RankingDataset | None, RankingDataset]]) -> Folds:
    """Given folds, each with documents to train on, to choose steps by, and to be measured on.

    If the last two are the same dataset, steps and settings are chosen by the same documents.
    """
    datasets: list[RankingDataset] = []
    plans = []
    for train, watched, measured in parts:
        own = [train, measured] if watched is None or watched is measured else [train, measured, watched]
        first = len(datasets)
        datasets += own
        tested = Part(first + 1)
        chosen_by = None if watched is None else tested if watched is measured else Part(first + 2)
        plans.append(FoldParts(Part(first), chosen_by, tested))
    return Folds(tuple(datasets), tuple(plans))
