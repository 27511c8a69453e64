"""The table of objectives, which turns names into values and back.

An objective's name is that of its family and, where the family can weigh pairs by a metric, that of the metric with its
convention: `ranknet`, `lambdarank:ndcg@10`, `spring:wta:mslr`. Settings are not part of the name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from rankwright.errors import SettingError, UnknownNameError, require
from rankwright.metrics.list_metrics import NDCG
from rankwright.metrics.metric_table import Measure
from rankwright.objectives.deltas import Decay, Delta, MetricDelta, as_delta
from rankwright.objectives.function import from_function
from rankwright.objectives.objective import GRADIENT_DTYPE, DataFacts, Judged, LambdaFn, Objective
from rankwright.objectives.pairless import GainSoftmax, LogisticError, Softmax, SquaredError
from rankwright.objectives.pairwise import Hinge, Logistic, PairwiseObjective, Spring

DEFAULT_METRIC = "ndcg@10"
DEFAULT_TRUNCATION = 30
DEFAULT_PERTURBATIONS = 10

# By what the usual forces are chosen.
LONG = 250  # documents a query, on average: beyond, few relevant ones are ever near the top of a noisy order
LITTLE_IN_LONG = 100_000  # documents in long lists: with more of them there are enough pairs at the top to learn from
LITTLE = 50_000  # documents: with more of them the leaves average what noisy orders add, so few orders do,
LITTLE_IN_LEAF = 2_000  # unless trees are told to have leaves of no more documents than this on average
ORDERS_OF_MUCH = 4


def ranknet(
    *, sigma: float = 1.0, pair_equal_labels: bool = False, certainty: float = inf, sampled_pairs: int | None = None
) -> PairwiseObjective:
    """Return RankNet's objective (Burges et al. 2005, Eq. 3), whose cost is smooth and convex.

    Parameters
    ----------
    sigma : float, default 1.0
        The steepness of the logistic loss, above 0.
    pair_equal_labels : bool, default False
        Whether documents of equal labels pair too, with target ½.
    certainty : float, default inf
        The target of a pair is logistic(certainty · label difference), which is 1 by default; above 0.
    sampled_pairs : int, optional
        How many partners are drawn for each document in queries that have more, 1 or more; all by default.

    Returns
    -------
    PairwiseObjective
        The objective `ranknet`.
    """
    return PairwiseObjective(
        Logistic(sigma), pair_equal_labels=pair_equal_labels, certainty=certainty, sampled_pairs=sampled_pairs
    )


def lambdarank(
    metric: str | Measure | Delta = DEFAULT_METRIC,
    *,
    sigma: float = 1.0,
    truncation: int | None = DEFAULT_TRUNCATION,
    sampled_pairs: int | None = None,
    perturbations: int = 0,
    noise: float = 1.0,
    expected_ties: bool = False,
    constant_share: float = 0.0,
) -> PairwiseObjective:
    """Return the objective of LambdaRank and LambdaMART, with the switches that measured best.

    NDCG's discounts go on beyond its cutoff, and forces are scaled by score gap and by query; docs/objectives.md has
    the measurements.

    Parameters
    ----------
    metric : str, Measure or Delta, default "ndcg@10"
        What the forces aim at: a name in `DELTAS` with its cutoff and convention, such as `"ndcg@10:letor"`.
    sigma : float, default 1.0
        The steepness of the logistic loss, above 0.
    truncation : int or None, default 30
        Only pairs with a document among this many top ranks count, 1 or more; None takes all pairs.
    sampled_pairs : int, optional
        How many partners are drawn for each document in queries that have more, 1 or more; all by default. It needs
        `truncation=None`.
    perturbations : int, default 0
        Over how many noisy orders a pair's weight is averaged; 0 takes the order of the scores.
    noise : float, default 1.0
        How many times logistic noise is added to the scores for a noisy order, 0 or more.
    expected_ties : bool, default False
        Whether a pair's weight is its mean over all orders of documents with equal scores.
    constant_share : float, default 0.0
        The share of a query's weight that its pairs get in equal parts, as RankNet's have, from 0 to 1.

    Returns
    -------
    PairwiseObjective
        The objective `lambdarank:` with the metric's name.

    Examples
    --------
    >>> lambdarank("map:mslr").name
    'lambdarank:map:mslr'
    """
    return PairwiseObjective(
        Logistic(sigma),
        _with_tail(as_delta(metric)),
        truncation=truncation,
        sampled_pairs=sampled_pairs,
        query_norm=True,
        gap_norm=True,
        perturbations=perturbations,
        noise=noise,
        expected_ties=expected_ties,
        constant_share=constant_share,
    )


def _with_tail(delta: Delta) -> Delta:
    """The same with discounts beyond the cutoff, where the metric is NDCG."""
    if isinstance(delta, MetricDelta) and isinstance(delta.metric, NDCG):
        return replace(delta, tail=True)
    return delta


def yetirank(
    metric: str | Measure | Delta | None = None,
    *,
    sigma: float = 1.0,
    perturbations: int = DEFAULT_PERTURBATIONS,
    noise: float = 1.0,
    decay: float | None = None,
    truncation: int | None = None,
) -> PairwiseObjective:
    """Return YetiRank's objective (Gulin, Kuralenok, Pavlov 2011): pairs of neighbours in noisy orders.

    In each of several orders, made by adding random noise to the scores, only neighbours pair. Without a metric such a
    pair counts the difference of its labels times `decay` to the power of its upper rank; with one, what swapping the
    two would change.

    Parameters
    ----------
    metric : str, Measure or Delta, optional
        What the forces aim at, such as `"map"`; by default YetiRank's own weights.
    sigma : float, default 1.0
        The steepness of the logistic loss, above 0.
    perturbations : int, default 10
        How many noisy orders to average over, 1 or more; every other one has the noise of the one before turned round.
    noise : float, default 1.0
        How many times logistic noise is added to the scores for a noisy order, 0 or more.
    decay : float, optional
        What the weight of a rank is multiplied by to give that of the next, above 0 and below 1; 0.85 by default. It
        does not go with a metric, which has discounts of its own.
    truncation : int, optional
        Only pairs with a document among this many top ranks of a noisy order count, 1 or more; all by default.

    Returns
    -------
    PairwiseObjective
        The objective `yetirank`, or `yetirank:` with the metric's name.

    Examples
    --------
    >>> yetirank().name, yetirank("map").name
    ('yetirank', 'yetirank:map')
    """
    require(metric is None or decay is None, "decay shapes YetiRank's own weights; a metric has discounts of its own")
    own = Decay() if decay is None else Decay(decay)
    return PairwiseObjective(
        Logistic(sigma),
        own if metric is None else _with_tail(as_delta(metric)),
        truncation=truncation,
        perturbations=perturbations,
        noise=noise,
        neighbours=True,
    )


def paper_lambdarank(metric: str | Measure | Delta = DEFAULT_METRIC) -> PairwiseObjective:
    """Return LambdaRank's plain formula (Ganjisaffar's slides): every pair's logistic force times what its swap does.

    Parameters
    ----------
    metric : str, Measure or Delta, default "ndcg@10"
        What the forces aim at.

    Returns
    -------
    PairwiseObjective
        The objective without any of `lambdarank`'s switches.
    """
    return PairwiseObjective(Logistic(1.0), as_delta(metric), shuffle_ties=False)


def hinge(metric: str | Measure | Delta = "constant", *, margin: float = 1.0) -> PairwiseObjective:
    """Return the objective that pushes pairs apart up to a margin.

    Parameters
    ----------
    metric : str, Measure or Delta, default "constant"
        What weighs the pairs; every pair counts alike by default.
    margin : float, default 1.0
        The gap up to which a pair is pushed apart, 0 or more.

    Returns
    -------
    PairwiseObjective
        The objective `hinge`, or `hinge:` with the metric's name.
    """
    return PairwiseObjective(Hinge(margin), as_delta(metric))


def spring(metric: str | Measure | Delta = "constant", *, margin: float = 1.0) -> PairwiseObjective:
    """Return the objective of Burges's own λ (2005, Eq. 4-6).

    Parameters
    ----------
    metric : str, Measure or Delta, default "constant"
        What weighs the pairs; every pair counts alike by default.
    margin : float, default 1.0
        The gap δ up to which the spring pushes, 0 or more. The cost is convex only up to 1.

    Returns
    -------
    PairwiseObjective
        The objective `spring`, or `spring:` with the metric's name.
    """
    return PairwiseObjective(Spring(margin), as_delta(metric))


def xendcg() -> GainSoftmax:
    """Return XE-NDCG: softmax cross entropy with randomly raised gains.

    Returns
    -------
    GainSoftmax
        The objective `xendcg`.
    """
    return GainSoftmax(noise=True)


@dataclass(frozen=True, slots=True)
class UsualForces:
    """The forces that LambdaMART follows unless it is told otherwise; which they are depends on the data.

    For NDCG of any kind they are YetiRank's, which rank best by NDCG and by MAP alike (docs/defaults.md). These need
    labels, and lists that are not so long that most documents never come near the top. In long lists the forces are
    RankNet's, which learn from every pair, or with much data LambdaRank's. Where pairs are given instead of labels,
    where labels are clicks at positions, and for all other metrics, they are LambdaRank's.

    Parameters
    ----------
    metric : str, default "ndcg@10"
        What the forces aim at.
    max_leaves : int, optional
        How many leaves trees were told to have; None where the size of the data decides.
    """

    metric: str = DEFAULT_METRIC
    max_leaves: int | None = None

    def __post_init__(self) -> None:
        as_delta(self.metric)

    @property
    def name(self) -> str:
        """`usual:` and the metric."""
        return f"usual:{self.metric}"

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:
        """Return the λ-function of a dataset; see `Objective.bind`."""
        documents: Any = getattr(dataset, "documents", dataset)  # a binned dataset's, without features
        forces = self.for_documents(documents, dataset.groups.n_docs, dataset.groups.n_queries)
        return forces.bind(dataset, threads=threads, dtype=dtype)

    def for_all_data(self, facts: DataFacts) -> Objective:
        """Return the forces for all data, fixed; see `DependsOnAllData`."""
        return self.for_documents(facts.example, facts.n_docs, facts.n_queries).for_all_data(facts)

    def for_documents(self, documents: Any, n_docs: int, n_queries: int) -> PairwiseObjective:
        """The forces for data of that size; `documents` says whether it has judgments, and may be a part of it."""
        has_judgments = documents.preferences is None and getattr(documents, "positions", None) is None
        delta = as_delta(self.metric)
        is_ndcg = isinstance(delta, MetricDelta) and isinstance(delta.metric, NDCG)
        if not has_judgments or not is_ndcg:
            return lambdarank(self.metric)
        if n_docs > LONG * n_queries:
            return ranknet() if n_docs <= LITTLE_IN_LONG else lambdarank(self.metric)
        is_little = n_docs <= max(LITTLE, LITTLE_IN_LEAF * (self.max_leaves or 0))
        return yetirank() if is_little else yetirank(perturbations=ORDERS_OF_MUCH)


@dataclass(frozen=True, slots=True)
class ObjectiveFamily:
    """A function that makes objectives, and a sentence about them."""

    make: Callable[..., Objective]
    summary: str

    @property
    def takes_metric(self) -> bool:
        """Whether a metric can follow the family's name."""
        return "metric" in inspect.signature(self.make).parameters


OBJECTIVES: Mapping[str, ObjectiveFamily] = {
    "usual": ObjectiveFamily(UsualForces, "what LambdaMART follows by default, chosen by the data"),
    "ranknet": ObjectiveFamily(ranknet, "cross entropy of every pair (RankNet)"),
    "lambdarank": ObjectiveFamily(lambdarank, "cross entropy of pairs, weighed by what swapping them does to a metric"),
    "yetirank": ObjectiveFamily(yetirank, "the same for neighbours in noisy orders only (YetiRank)"),
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


def learns_alone(objective: Objective) -> bool:
    """Whether a document's label pushes its score even if its query has no other document, as far as is known."""
    return getattr(objective, "learns_alone", False)


def objective_of(given: str | Objective | Callable[..., Any]) -> Objective:
    """The objective that a name, an objective or a λ-function of one query stands for."""
    if isinstance(given, str):
        return objective_named(given)
    return given if isinstance(given, Objective) else from_function(given)


def objective_named(text: str, **settings: Any) -> Objective:
    """Return the objective of that name.

    Parameters
    ----------
    text : str
        The name of a family in `OBJECTIVES` and, where it can weigh pairs by a metric, that metric: `ranknet`,
        `lambdarank:map`, `lambdarank:ndcg@10:letor`. `rankwright list objectives` prints the names.
    **settings
        Settings of the family that differ from the usual ones, such as `sigma=2.0`.

    Returns
    -------
    Objective
        Its `name` is the text again.

    Examples
    --------
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
