"""Bagging of any ranker: copies of it, each trained on its own sample of queries."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rankwright.arrays import Float64Array, thread_count
from rankwright.bagging.bag_maker import BagFiles, BagMaker
from rankwright.bagging.bagged import Bagged
from rankwright.bagging.bagged_forest import BaggedForest
from rankwright.bagging.bags import train_bags
from rankwright.bagging.copies import copy_of
from rankwright.bagging.forest_bags import ForestWork
from rankwright.bagging.plan import BagPlan
from rankwright.bagging.ranker_bags import RankerWork, member_scores, restored_copy
from rankwright.data.dataset import RankingDataset
from rankwright.errors import UnknownNameError, require
from rankwright.rankers.forest_ranker import ForestRanker
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.rankers.ranker import Ranker
from rankwright.training.digest import data_digest, run_identity
from rankwright.training.loop import Listener
from rankwright.training.spaces import Choice, Real, Space
from rankwright.trees.binned import bin_dataset

COMBINATIONS = ("score", "rank")


class Bagging(Bagged, Ranker):
    """The mean of copies of any ranker, each trained on its own sample of queries.

    `ranker` is what to bag (default: `LambdaMART()`; BL-MART makes one forest of those). Bags draw queries as those of
    BL-MART do; a query drawn twice is there twice. `overfit=False` gives each copy its out-of-bag queries, or `valid`,
    to choose its best step by. `combine` says what is averaged: the `score`, or the `rank` in the query's list, which
    knows no scale; the default is the rank where copies score lists and not documents, as SortNet does, else the score.
    `select` names what copies choose by, where it is not to be their own.
    """

    name: ClassVar[str] = "bagging"
    budget: ClassVar[str | None] = "n_bags"
    validates_itself: ClassVar[bool] = True
    space: ClassVar[Space] = {"bag_fraction": Real(0.3, 1.0), "combine": Choice(("score", "rank"))}

    members_: list[Ranker]
    oob_scores_: Float64Array
    oob_score_: float | None

    def __init__(
        self,
        ranker: Ranker | None = None,
        *,
        n_bags: int = 10,
        bag_fraction: float = 1.0,
        bootstrap: bool = True,
        overfit: bool = False,
        combine: Literal["score", "rank"] | None = None,
        select: str | None = None,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.ranker = ranker
        self.n_bags = n_bags
        self.bag_fraction = bag_fraction
        self.bootstrap = bootstrap
        self.overfit = overfit
        self.combine = combine
        self.select = select
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    @property
    def n_bags_(self) -> int:
        """How many bags were trained."""
        return len(self.members_)

    @property
    def looks_at_queries(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return self._combines_ranks() or any(member.looks_at_queries for member in getattr(self, "members_", ()))

    def single(self, **changes: Any) -> Ranker:
        """An untrained copy of what is bagged: what bagging is compared with."""
        member: Ranker = LambdaMART() if self.ranker is None else self.ranker
        require(not isinstance(member, Bagging), "a bag of bags is one larger bag: give the ranker itself")
        if self.select is not None:
            changes = changes | {"select": self.select}
        return copy_of(member, **changes)

    def _combines_ranks(self) -> bool:
        if self.combine is None:
            return self.single().needs_qid
        if self.combine not in COMBINATIONS:
            raise UnknownNameError("combination", self.combine, known=COMBINATIONS)
        return self.combine == "rank"

    def _learn(
        self,
        data: RankingDataset,
        valid: RankingDataset | None,
        listeners: Sequence[Listener],
        checkpoint: str | os.PathLike[str] | None,
    ) -> None:
        bags = BagPlan(
            n_bags=self.n_bags,
            bag_fraction=self.bag_fraction,
            bootstrap=self.bootstrap,
            overfit=self.overfit,
            seed=self.seed,
        )
        engine, threads = self._engine, thread_count(self.threads)
        workers = min(threads, bags.n_bags) if self.single().trains_beside_others else 1
        self.data_digest_ = data_digest(data)
        identity = run_identity(
            self.data_digest_, None if valid is None else data_digest(valid), self._lasting_settings()
        )
        work = self._work(data, valid, bags, threads // workers if engine is None else engine.threads)
        trained = train_bags(
            BagMaker(data, valid, work, bags, self._selected()),
            BagFiles(None if checkpoint is None else Path(checkpoint), identity),
            engine=engine,
            listeners=listeners,
            workers=workers,
            threads=threads,
        )
        if not trained.members:
            raise KeyboardInterrupt  # nothing was trained that could be kept
        self.members_, self.history_ = trained.members, trained.history
        self.oob_scores_ = data.in_source_order(trained.out_of_bag.scores())
        self.oob_score_ = trained.out_of_bag.measure(self._selected(), threads=threads)

    def _work(self, data: RankingDataset, valid: RankingDataset | None, bags: BagPlan, threads: int) -> RankerWork:
        single, forests = self.single(), None
        if isinstance(single, ForestRanker) and not isinstance(single, BaggedForest) and single.scaling is None:
            binned = bin_dataset(data, **(single._binning() | {"seed": self.seed, "threads": self.threads}))
            watched = None if valid is None else bin_dataset(valid, binned.mapper, threads=self.threads)
            forests = ForestWork(single, binned, watched, bags, threads)  # which share one binned matrix
        return RankerWork(single, data, valid, bags, self._combines_ranks(), threads, forests)

    def _selected(self) -> str:
        return self.single()._selected()

    def _scores(self, data: RankingDataset) -> Float64Array:
        sums, by_rank = np.zeros(data.n_docs), self._combines_ranks()
        for member in self.members_:
            sums += member_scores(member, data, by_rank)
        return np.asarray(sums / len(self.members_))

    def facts(self) -> dict[str, Any]:
        """How many bags there are, of what, and what they reach on queries out of the bag."""
        check_is_fitted(self)
        own: dict[str, Any] = {"bags": self.n_bags_, "of": self.members_[0].name}
        return own if self.oob_score_ is None else own | {"out_of_bag_score": self.oob_score_}

    @property
    def n_steps_(self) -> int:
        """How many bags there are."""
        return self.n_bags_

    def _storable_settings(self) -> dict[str, Any]:
        single = None if self.ranker is None else {"ranker": self.ranker.name} | self.ranker._storable_settings()
        return super()._storable_settings() | {"ranker": single}

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        states = [member.to_state() for member in self.members_]
        header = {
            "out_of_bag": self.oob_score_,
            "bags": [header for header, _ in states],
        }
        return header, {
            _prefix(bag) + name: values for bag, (_, arrays) in enumerate(states) for name, values in arrays.items()
        }

    @classmethod
    def from_state(
        cls,
        header: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        *,
        kinds: Mapping[str, type[Ranker]] | None = None,
        module: Any = None,
        **given: Any,
    ) -> Self:
        """The bag that a model file's header and arrays describe; `kinds` are the rankers by name."""
        described = header["settings"]["ranker"]
        single = None
        if described is not None:
            settings = {name: value for name, value in described.items() if name != "ranker"}
            own = {} if module is None else {"module": module}
            single = (kinds or {})[described["ranker"]](**settings, **own)
        with_single = dict(header) | {"settings": dict(header["settings"]) | {"ranker": single}}
        return super().from_state(with_single, arrays, **given)

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.oob_score_ = header["out_of_bag"]
        single = self.single()
        self.members_ = [
            restored_copy(single, own, {name.removeprefix(_prefix(bag)): values for name, values in arrays.items()
                                 if name.startswith(_prefix(bag))})
            for bag, own in enumerate(header["bags"])
        ]  # fmt: skip


def _prefix(bag: int) -> str:
    """What the names of a bag's arrays begin with in a model file."""
    return f"bag.{bag}."
