"""The table of objectives, and names to values and back.

An objective's name is its family's and, where the family can weigh pairs by a metric, that metric's: `ranknet`,
`lambdarank:ndcg@10`, `spring:wta`. Settings stand beside the name, not in it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from rankwright.errors import SettingError, UnknownNameError, require
from rankwright.metrics.discounted import NDCG
from rankwright.metrics.registry import Measure
from rankwright.objectives.deltas import Delta, MetricDelta, as_delta
from rankwright.objectives.listwise import GainSoftmax, Softmax
from rankwright.objectives.objective import Objective
from rankwright.objectives.pair_losses import Hinge, Logistic, Spring
from rankwright.objectives.pairwise import PairwiseObjective
from rankwright.objectives.pointwise import LogisticError, SquaredError

DEFAULT_METRIC = "ndcg@10"
DEFAULT_TRUNCATION = 30


def ranknet(
    *,
    sigma: float = 1.0,
    pair_equal_labels: bool = False,
    certainty: float = inf,
    sampled_pairs: int | None = None,
) -> PairwiseObjective:
    """RankNet's cost (paper 1, Eq. 3) over all pairs, or sampled ones: it exists, is smooth and convex."""
    return PairwiseObjective(
        Logistic(sigma), pair_equal_labels=pair_equal_labels, certainty=certainty, sampled_pairs=sampled_pairs
    )


def lambdarank(
    metric: str | Measure | Delta = DEFAULT_METRIC,
    *,
    sigma: float = 1.0,
    truncation: int | None = DEFAULT_TRUNCATION,
    sampled_pairs: int | None = None,
) -> PairwiseObjective:
    """The objective of LambdaRank and LambdaMART aimed at `metric`, with the switches that measured best.

    Pairs need a document among the top `truncation`, NDCG's discounts go on beyond its cutoff, and forces are scaled by
    score gap and by query. docs/objectives.md has the measurements.
    """
    delta = as_delta(metric)
    if isinstance(delta, MetricDelta) and isinstance(delta.metric, NDCG):
        delta = replace(delta, tail=True)
    return PairwiseObjective(
        Logistic(sigma), delta, truncation=truncation, sampled_pairs=sampled_pairs, query_norm=True, gap_norm=True
    )


def paper_lambdarank(metric: str | Measure | Delta = DEFAULT_METRIC) -> PairwiseObjective:
    """The slides' formula and nothing else: every pair, its logistic force times what a swap does to `metric`."""
    return PairwiseObjective(Logistic(1.0), as_delta(metric), shuffle_ties=False)


def hinge(metric: str | Measure | Delta = "constant", *, margin: float = 1.0) -> PairwiseObjective:
    """Pairs pushed apart up to a margin, alike or as they matter to `metric`."""
    return PairwiseObjective(Hinge(margin), as_delta(metric))


def spring(metric: str | Measure | Delta = "constant", *, margin: float = 1.0) -> PairwiseObjective:
    """Paper 2's own λ (Eq. 4-6), alike for all pairs or as they matter to `metric`."""
    return PairwiseObjective(Spring(margin), as_delta(metric))


def xendcg() -> GainSoftmax:
    """Softmax cross entropy with randomly raised gains, XE-NDCG."""
    return GainSoftmax(noise=True)


@dataclass(frozen=True, slots=True)
class ObjectiveFamily:
    """A function that makes objectives, and what they are."""

    make: Callable[..., Objective]
    summary: str

    @property
    def takes_metric(self) -> bool:
        """Whether a metric can follow the family's name."""
        return "metric" in inspect.signature(self.make).parameters


OBJECTIVES: Mapping[str, ObjectiveFamily] = {
    "ranknet": ObjectiveFamily(ranknet, "cross entropy of every pair (RankNet)"),
    "lambdarank": ObjectiveFamily(lambdarank, "cross entropy of pairs, weighed by what swapping them does to a metric"),
    "hinge": ObjectiveFamily(hinge, "pairs pushed apart up to a margin"),
    "spring": ObjectiveFamily(spring, "the spring of LambdaRank's paper"),
    "softmax": ObjectiveFamily(Softmax, "cross entropy between the softmaxes of labels and scores (ListNet)"),
    "gain-softmax": ObjectiveFamily(
        GainSoftmax, "cross entropy between shares of the gains and the softmax of the scores"
    ),
    "xendcg": ObjectiveFamily(xendcg, "the same with randomly raised gains (XE-NDCG)"),
    "squared-error": ObjectiveFamily(SquaredError, "squared difference between score and label"),
    "logistic-error": ObjectiveFamily(LogisticError, "cross entropy of a document being relevant"),
}


def objective_named(text: str, **settings: Any) -> Objective:
    """The objective whose name is `text`, with settings other than the usual ones where given.

    >>> objective_named("lambdarank:map", sigma=2.0).name
    'lambdarank:map'
    """
    name, colon, metric = text.partition(":")
    if name not in OBJECTIVES:
        raise UnknownNameError("objective", name, known=OBJECTIVES)
    family = OBJECTIVES[name]
    require(not colon or family.takes_metric, f"objective {name} aims at no metric, got {text!r}")
    known = [setting for setting in inspect.signature(family.make).parameters if setting != "metric"]
    for setting in settings:
        if setting not in known:
            raise SettingError(f"objective {name} has no setting {setting!r}; it has {', '.join(known) or 'none'}")
    return family.make(metric, **settings) if colon else family.make(**settings)
