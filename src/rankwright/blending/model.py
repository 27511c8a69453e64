"""The trained model of a blend: its rankers, their weights, and how their scores become one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from rankwright.arrays import Float64Array, IntArray, arrays_with_prefix
from rankwright.blending.combining import Combining, ListSpread
from rankwright.blending.settings import BY_DEFAULT, BlendSettings, stored_rankers
from rankwright.container.checks import read_list, read_number_list
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, require_input
from rankwright.explanations.contributions import Contributions, PairContributions, Question
from rankwright.rankers.model import Model, State, StoredModel
from rankwright.rankers.trained import TrainedRanker, TrainingFindings

MOST_RANKERS = 1000
LARGEST_FACTOR = 1e30  # of scores: what is larger overflows, and no labels are worth so much
BY_RANKS = (
    "a blend by ranks gives no scores that add up: an explanation needs combine=mean, with z-score or calibrated scores"
)


@dataclass(frozen=True, slots=True, eq=False)
class BlendModel(Model):
    """Trained rankers and their weights; `factors` are what calibrated scores are multiplied by, otherwise 1."""

    members: tuple[TrainedRanker, ...]
    weights: Float64Array
    factors: Float64Array
    combining: Combining

    @property
    def needs_queries(self) -> bool:
        """Whether scores are compared within lists, or a ranker looks at queries."""
        return not self.combining.is_sum or any(member.looks_at_queries for member in self.members)

    @property
    def explains_lists(self) -> bool:
        """Whether the scores of a list can be shared out among features."""
        return self.combining.adds_up and all(member.model.explains_lists for member in self.members)

    def scores(self, data: RankingDataset, *, threads: int) -> Float64Array:
        """The combined score of each document."""
        return self.combining.combined(self._matrix(data, threads), data.groups, self.weights * self.factors)

    def _matrix(self, data: RankingDataset, threads: int) -> Float64Array:
        """Each ranker's scores in a column."""
        found = np.empty((data.n_docs, len(self.members)), order="F")
        for place, member in enumerate(self.members):
            found[:, place] = member.scores(as_known(member, data), threads=threads)
        return found

    def contributions(self, data: RankingDataset, question: Question) -> Contributions:
        """What each feature adds: to calibrated scores, or to z-scores at the mean and deviation of the one list."""
        shares, shift, how = self._shares(data, question.threads)
        values, base = np.zeros((data.n_docs, data.n_features)), shift
        for member, share in zip(self.members, shares.tolist(), strict=True):
            if share:
                part = member.contributions(as_known(member, data), question)
                values[:, : part.values.shape[1]] += share * part.values
                base += share * part.base
        return Contributions(values, base, how)

    def pair_contributions(self, data: RankingDataset, pairs: IntArray, question: Question) -> PairContributions:
        """By how much each feature puts one document above the other, in the same units."""
        shares, _, how = self._shares(data, question.threads)
        values = np.zeros((len(pairs), data.n_features))
        for member, share in zip(self.members, shares.tolist(), strict=True):
            if share:
                part = member.pair_contributions(as_known(member, data), pairs, question)
                values[:, : part.values.shape[1]] += share * part.values
        return PairContributions(values, values.sum(axis=1), how)

    def _shares(self, data: RankingDataset, threads: int) -> tuple[Float64Array, float, str]:
        """What each ranker's score is multiplied by in the blend's score, what is added, and that in words."""
        if not self.combining.adds_up:
            raise InputError(BY_RANKS)
        weights = self.weights * self.factors
        n = len(self.members)
        if self.combining.is_sum:
            return weights, 0.0, f"the sum of {n} rankers, each times its weight"
        require_input(data.n_queries == 1, "a blend of z-scores is explained one list at a time")
        spread = ListSpread.of(self._matrix(data, threads), data.groups)
        shares = weights * spread.factor[0]
        told = f"the sum of {n} rankers, each times its weight over the deviation of its scores in this list"
        return shares, float(-(shares * spread.mean[0]).sum()), told

    def facts(self) -> dict[str, Any]:
        """The rankers with their weights, and how their scores become one."""
        return {
            "rankers": len(self.members),
            "combine": self.combining.combine,
            "scores": self.combining.scores,
            "weights_of_rankers": [
                {"ranker": member.ranker, "weight": weight} | _size(member)
                for member, weight in zip(self.members, self.weights.tolist(), strict=True)
            ],
        }

    def used_features(self, n_features: int) -> Any:
        """Which features any ranker looks at."""
        found = np.zeros(n_features, np.bool_)
        for member in self.members:
            used = member.model.used_features(member.n_features)
            found[: len(used)] |= used
        return found

    def state(self) -> State:
        """The weights, and the states of all rankers."""
        states = [member.without_texts().to_state() for member in self.members]
        header = {
            "weights": self.weights.tolist(),
            "factors": self.factors.tolist(),
            "rankers": [own for own, _ in states],
        }
        return header, {
            f"ranker.{place}.{name}": values
            for place, (_, arrays) in enumerate(states)
            for name, values in arrays.items()
        }

    @classmethod
    def restored(cls, stored: StoredModel) -> Self:
        """The model that `state` described."""
        assert stored.read_member is not None  # readers of blends can read their rankers
        headers = read_list(stored.header, "rankers", dict)
        require_input(
            2 <= len(headers) <= MOST_RANKERS, f"a blend is of 2 to {MOST_RANKERS} rankers, got {len(headers)}"
        )
        wanted = [one["name"] for one in stored_rankers(stored.settings.rankers) or []] or list(BY_DEFAULT)
        found = [header.get("ranker") for header in headers]
        require_input(found == wanted, f"the rankers of the blend must be {wanted}, got {found}")
        require_input(BlendSettings.name not in found, "blends are not blended again")
        numbers = {name: np.array(read_number_list(stored.header, name)) for name in ("weights", "factors")}
        for name, values in numbers.items():
            fits = len(values) == len(headers) and bool((values >= 0).all() and (values <= LARGEST_FACTOR).all())
            require_input(fits and bool(values.any()), f"{name} must be {len(headers)} numbers of 0 or more, one above")
        members = tuple(
            stored.read_member(header, arrays_with_prefix(stored.arrays, f"ranker.{place}."))
            for place, header in enumerate(headers)
        )
        if not all(has_features(member, stored.n_features) for member in members):
            raise InputError(f"the rankers of the blend must all be of {stored.n_features} features")
        combining = Combining.of(stored.settings.combine, stored.settings.scores)
        return cls(members, numbers["weights"], numbers["factors"], combining)


def has_features(member: TrainedRanker, n_features: int) -> bool:
    """Whether a ranker looks at so many features, or at fewer where it does not tell how many there are."""
    return member.n_features == n_features or (member.takes_any_width and member.n_features < n_features)


def as_known(member: TrainedRanker, data: RankingDataset) -> RankingDataset:
    """The documents as a ranker of the blend takes them: one of another tool may look at fewer features."""
    return member.aligned(data) if member.takes_any_width else data


def as_member(trained: TrainedRanker) -> TrainedRanker:
    """A trained ranker as a blend holds it: without what the blend knows for all of them."""
    found = TrainingFindings(chosen=trained.findings.chosen, debiasing=trained.findings.debiasing)
    return replace(trained.without_texts(), findings=found)


def _size(member: TrainedRanker) -> dict[str, Any]:
    facts = member.model.facts()
    return {name: facts[name] for name in ("trees", "leaves", "weights", "bags") if name in facts}
