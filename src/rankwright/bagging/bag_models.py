"""The trained models of bags, and the fitted attributes of rankers that have one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float64Array, IntArray
from rankwright.bagging.settings import BAGGED_BY_DEFAULT, stored_ranker
from rankwright.container.checks import read_list, read_optional_number
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError, require
from rankwright.explanations.contributions import Contributions, PairContributions, Question, mean_contributions
from rankwright.rankers.model import Model, State, StoredModel
from rankwright.rankers.trained import TrainedRanker
from rankwright.rankers.views import View
from rankwright.ranking.order import rank
from rankwright.trees.forests.forest import Forest
from rankwright.trees.model import ForestModel, forest_of_file


@dataclass(frozen=True, slots=True, eq=False)
class BaggedForestModel(ForestModel):
    """The mean of forests as one forest, with the trees in order of bags."""

    trees_of_bags: IntArray  # how many trees each bag has
    oob_score: float | None  # the value of `select` on queries out of the bag

    def bag(self, number: int) -> Forest:
        """The trees with which one bag would score alone, without its base score."""
        n_bags = self.n_steps
        require(0 <= number < n_bags, f"bags are numbered from 0 to {n_bags - 1}, got {number}")
        last = int(self.trees_of_bags[: number + 1].sum())
        return self.forest.part(last - int(self.trees_of_bags[number]), last).scaled(n_bags)

    @property
    def n_steps(self) -> int:
        """How many bags there are."""
        return len(self.trees_of_bags)

    def facts(self) -> dict[str, Any]:
        """The number of bags, their value on queries out of the bag, and the facts of their trees."""
        own: dict[str, Any] = {"bags": self.n_steps, "fewest_trees_of_a_bag": int(self.trees_of_bags.min())}
        if self.oob_score is not None:
            own["out_of_bag_score"] = self.oob_score
        return own | ForestModel.facts(self)

    def state(self) -> State:
        """The state of the forest, the number of trees of each bag, and the value out of the bag."""
        header, arrays = ForestModel.state(self)
        return header | {"trees_of_bags": self.trees_of_bags.tolist(), "out_of_bag": self.oob_score}, arrays

    @classmethod
    def restored(cls, stored: StoredModel) -> Self:
        """The model that `state` described."""
        forest, base_score = forest_of_file(stored)
        counts = read_list(stored.header, "trees_of_bags", int)
        if not counts or min(counts) < 0 or sum(counts) != forest.n_trees:
            raise InputError(f"{len(counts)} bags have {sum(counts)} trees, the forest {forest.n_trees}")
        return cls(forest, base_score, np.array(counts, np.int64), read_optional_number(stored.header, "out_of_bag"))


@dataclass(frozen=True, slots=True, eq=False)
class BagModel(Model):
    """Trained rankers whose scores are averaged, or with `by_rank` their ranks."""

    members: tuple[TrainedRanker, ...]
    by_rank: bool
    oob_score: float | None

    def scores(self, data: RankingDataset, *, threads: int) -> Float64Array:
        """The mean of the members' scores, or ranks, of each document."""
        sums = np.zeros(data.n_docs)
        for member in self.members:
            scores = member.scores(data, threads=threads)
            sums += rank_scores(scores, data.groups) if self.by_rank else scores
        return np.asarray(sums / len(self.members))

    def contributions(self, data: RankingDataset, question: Question) -> Contributions:
        """The mean of what each feature adds to the members' scores."""
        if self.by_rank:
            raise InputError("a bag that averages ranks gives no scores that add up: name two documents to compare")
        return mean_contributions([member.contributions(data, question) for member in self.members])

    def pair_contributions(self, data: RankingDataset, pairs: IntArray, question: Question) -> PairContributions:
        """The mean of what each feature adds to the members' comparisons of the two."""
        parts = [member.pair_contributions(data, pairs, question) for member in self.members]
        values = np.asarray(sum(part.values for part in parts) / len(parts))
        return PairContributions(values, values.sum(axis=1), f"the mean of {len(parts)} bags: {parts[0].how}")

    @property
    def needs_queries(self) -> bool:
        """Whether ranks are averaged, or a member looks at queries."""
        return self.by_rank or any(member.looks_at_queries for member in self.members)

    @property
    def n_steps(self) -> int:
        """How many bags there are."""
        return len(self.members)

    def facts(self) -> dict[str, Any]:
        """The number of bags, the ranker in them, and their value on queries out of the bag."""
        own: dict[str, Any] = {"bags": len(self.members), "of": self.members[0].ranker}
        return own if self.oob_score is None else own | {"out_of_bag_score": self.oob_score}

    def state(self) -> State:
        """The value out of the bag, and the states of all members."""
        states = [member.without_texts().to_state() for member in self.members]
        header = {"out_of_bag": self.oob_score, "bags": [header for header, _ in states]}
        return header, {
            _prefix(bag) + name: values for bag, (_, arrays) in enumerate(states) for name, values in arrays.items()
        }

    @classmethod
    def restored(cls, stored: StoredModel) -> Self:
        """The model that `state` described."""
        assert stored.read_member is not None  # readers of bags can read their members
        arrays = _by_bag(stored.arrays)
        members = [
            stored.read_member(header, arrays.get(_prefix(bag), {}))
            for bag, header in enumerate(read_list(stored.header, "bags", dict))
        ]
        if not members or any(member.n_features != stored.n_features for member in members):
            raise InputError(f"the {len(members)} bags must be 1 or more, all of {stored.n_features} features")
        described = stored_ranker(stored.settings.ranker)
        bagged = BAGGED_BY_DEFAULT if described is None else described["ranker"]
        if any(member.ranker != bagged for member in members):
            raise InputError(f"the bags must be of {bagged}, got {', '.join({member.ranker for member in members})}")
        combine, single = stored.settings.combine, members[0].model
        by_rank = combine == "rank" or (combine is None and single.needs_queries)
        return cls(tuple(members), by_rank, read_optional_number(stored.header, "out_of_bag"))


n_bags_view = View[int](lambda trained: trained.model.n_steps, "How many bags were trained.")
oob_score_view = View[float | None](
    lambda trained: trained.model.oob_score,  # type: ignore[attr-defined]  # models of bags have one
    "The value of `select` on queries out of the bag; None where there is nothing to measure.",
)
oob_scores_view = View[Float64Array | None](
    lambda trained: trained.findings.oob_scores, "The mean score of each training document out of the bag."
)


def _prefix(bag: int) -> str:
    """The prefix of a bag's array names in a model file."""
    return f"bag.{bag}."


def _by_bag(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Arrays]:
    """The arrays of each bag, by the bag's prefix; they are gone through once, however many bags there are."""
    found: dict[str, Arrays] = {}
    for name, values in arrays.items():
        bag, number, own = (*name.split(".", 2), "", "")[:3]
        found.setdefault(f"{bag}.{number}.", {})[own] = values
    return found


def rank_scores(scores: Float64Array, groups: Groups) -> Float64Array:
    """Minus each document's rank in its query's list, from 0; documents of equal score share the mean of theirs."""
    ranking = rank(scores, groups)
    blocks = ranking.tie_blocks
    places = np.repeat((blocks[:-1] + blocks[1:] - 1) / 2, np.diff(blocks))
    result = np.empty(groups.n_docs)
    result[ranking.rows] = np.repeat(groups.offsets[:-1], groups.sizes) - places
    return result
