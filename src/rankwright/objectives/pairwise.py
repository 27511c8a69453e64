"""Objectives that are sums over pairs of documents: RankNet, LambdaRank and their relatives.

A pair's force is that of its loss, times what swapping the two would do to the metric, times the weights of the query,
of both documents and of the pair. It acts on both documents, in opposite directions, so gradients sum to 0 in each
query.

A pair's loss is a function of the gap x between two scores: φ(x) is that of a pair whose first document should rank
above its second. Where that holds only with probability P̄, the loss is P̄ φ(x) + (1 - P̄) φ(-x). The kernel knows a
loss by its `name` and its `shape`; `kinks` are the gaps at which the slope of φ is not smooth.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, ClassVar

import numpy as np

from rankwright import kernels
from rankwright.data.groups import Groups
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, require
from rankwright.kernels.records import LabelledQueries, PairSettings
from rankwright.objectives.deltas import Constant, Decay, Delta, MetricDelta, fitting_convention
from rankwright.objectives.objective import (
    GRADIENT_DTYPE,
    BoundKernel,
    DataFacts,
    Judged,
    LambdaFn,
    judged_labels,
    weighed_groups,
)


@dataclass(frozen=True, slots=True)
class Logistic:
    """RankNet's cross entropy (Burges et al. 2005, Eq. 3), φ(x) = log(1 + e^(-σx)): smooth and convex.

    Parameters
    ----------
    sigma : float, default 1.0
        The steepness σ, above 0. Larger values let go of a pair at a smaller gap.
    """

    name: ClassVar[str] = "logistic"
    sigma: float = 1.0

    def __post_init__(self) -> None:
        require(0 < self.sigma < float("inf"), f"sigma must be above 0 and finite, got {self.sigma}")

    @property
    def shape(self) -> float:
        """The steepness σ."""
        return self.sigma

    @property
    def kinks(self) -> tuple[float, ...]:
        """None: the slope is smooth."""
        return ()


@dataclass(frozen=True, slots=True)
class MarginLoss:
    """What losses that push a pair apart up to a margin share."""

    margin: float = 1.0

    def __post_init__(self) -> None:
        require(0 <= self.margin < float("inf"), f"margin must be 0 or more and finite, got {self.margin}")

    @property
    def shape(self) -> float:
        """The margin."""
        return self.margin


@dataclass(frozen=True, slots=True)
class Hinge(MarginLoss):
    """The loss of ranking support vector machines, φ(x) = max(0, margin - x): convex, with a kink.

    Where it slopes, its curvature counts 1, not the true 0, so that Newton steps exist.

    Parameters
    ----------
    margin : float, default 1.0
        The gap up to which a pair is pushed apart, 0 or more.
    """

    name: ClassVar[str] = "hinge"

    @property
    def kinks(self) -> tuple[float, ...]:
        """The margin, where the slope ends."""
        return (self.margin,)


@dataclass(frozen=True, slots=True)
class Spring(MarginLoss):
    """Burges's own λ (2005, Eq. 4-9): a constant push while the pair stands wrong, then a spring up to the margin.

    The push jumps at 0 unless the margin is 1, and the cost is convex only for margins up to 1. Where the push is
    constant, the curvature counts 1, not the true 0, so that Newton steps exist.

    Parameters
    ----------
    margin : float, default 1.0
        The gap δ up to which the spring pushes, 0 or more.
    """

    name: ClassVar[str] = "spring"

    @property
    def kinks(self) -> tuple[float, ...]:
        """0, where the push gives way to the spring, and the margin, where the spring goes slack."""
        return (0.0, self.margin)


PairLoss = Logistic | Hinge | Spring


@dataclass(frozen=True, slots=True)
class PairwiseObjective:
    """A pair loss, weighted by what swapping the pair would do to a metric.

    Without further switches this is the plain formula over every pair of judged documents of different labels. Where
    the dataset has preferences, they are the pairs.

    Parameters
    ----------
    pair_loss : Logistic, Hinge or Spring, default Logistic()
        The loss of the gap between two scores.
    delta : Delta, default constant
        What weighs a pair, such as `delta_named("ndcg@10")`; every pair counts alike by default.
    truncation : int, optional
        Only pairs with a document among this many top ranks count, 1 or more; all pairs by default. It makes long lists
        cheap.
    sampled_pairs : int, optional
        How many partners are drawn for each document in queries that have more, 1 or more; all by default. It cannot
        be combined with `truncation`.
    pair_equal_labels : bool, default False
        Whether documents of equal labels pair too, with target ½ (Burges et al. 2005, section 5.2); only with the
        constant delta.
    certainty : float, default inf
        The target of a pair is logistic(certainty · label difference), which is 1 by default; above 0.
    query_norm : bool, default False
        Whether a query's forces are scaled by log2(1 + S) / S, where S is the sum of their sizes, as in LightGBM.
    gap_norm : bool, default False
        Whether a pair's force is divided by 0.01 + its score gap, as in LightGBM.
    shuffle_ties : bool, default True
        Whether equal scores rank in random order; else they rank in row order.
    expected_ties : bool, default False
        Whether a pair's weight is its mean over all orders of documents with equal scores, instead of that in one
        order. It is exact, and known for NDCG, DCG, precision and recall.
    perturbations : int, default 0
        Over how many noisy orders a pair's weight is averaged; 0 takes the order of the scores. A pair's force follows
        the gap of the true scores all the same.
    noise : float, default 1.0
        How much noise makes a noisy order: so many times log(u / (1 - u)), with u uniform between 0 and 1, is added to
        each score. With 0 only documents with equal scores change places.
    neighbours : bool, default False
        Whether only documents that are next to each other in a noisy order form pairs, as in YetiRank.
    constant_share : float, default 0.0
        The share of a query's weight that its pairs get in equal parts, as RankNet's have, from 0 to 1; the rest is
        what swaps change.

    Attributes
    ----------
    name : str
        `ranknet`, `lambdarank:` or `yetirank:` and a metric, or the pair loss with a metric or without.
    has_cost : bool
        Whether the forces are the derivatives of a cost.
    """

    pair_loss: PairLoss = field(default_factory=Logistic)
    delta: Delta = field(default_factory=Constant)
    truncation: int | None = None
    sampled_pairs: int | None = None
    pair_equal_labels: bool = False
    certainty: float = inf
    query_norm: bool = False
    gap_norm: bool = False
    shuffle_ties: bool = True
    expected_ties: bool = False
    perturbations: int = 0
    noise: float = 1.0
    neighbours: bool = False
    constant_share: float = 0.0

    def __post_init__(self) -> None:
        for name in ("truncation", "sampled_pairs"):
            value = getattr(self, name)
            require(value is None or value >= 1, f"{name} must be 1 or more, or None for all, got {value}")
        told = "truncation and sampled_pairs are two ways to have fewer pairs; choose one and set the other to None"
        require(self.truncation is None or self.sampled_pairs is None, told)
        require(self.certainty > 0, f"certainty must be above 0, got {self.certainty}")
        told = f"equal labels pair only where every pair counts alike: swapping them never changes {self.delta.name}"
        require(not self.pair_equal_labels or isinstance(self.delta, Constant), told)
        require(self.perturbations >= 0, f"perturbations must be 0 or more, got {self.perturbations}")
        require(0 <= self.noise < inf, f"noise must be 0 or more, and finite, got {self.noise}")
        require(0 <= self.constant_share <= 1, f"constant_share must be from 0 to 1, got {self.constant_share}")
        self._check_weights()

    def _check_weights(self) -> None:
        """Refuse what contradicts itself among the settings of the pairs' weights."""
        if isinstance(self.delta, Constant):
            for name in ("perturbations", "expected_ties", "constant_share"):
                require(not getattr(self, name), f"{name} is for weights by a metric, but here every pair counts alike")
        told = "neighbours are those of noisy orders: set perturbations to how many, such as 10"
        require(not self.neighbours or self.perturbations > 0, told)
        told = "neighbours leaves only few pairs, so sampled_pairs and constant_share do not go with it"
        require(not self.neighbours or (self.sampled_pairs is None and self.constant_share == 0), told)
        told = "expected_ties and perturbations are two ways to average over orders; choose one"
        require(not self.expected_ties or self.perturbations == 0, told)
        require(
            not self.expected_ties or self.delta.kind == "discounted-gain",
            f"the mean over all orders of equal scores is not known for {self.delta.name}, only for ndcg, dcg, p, "
            "recall and wta; perturbations=8 with noise=0 averages over 8 random ones",
        )

    @property
    def name(self) -> str:
        """`ranknet`, `lambdarank:` or `yetirank:` and a metric, or the pair loss with a metric or without."""
        is_constant = isinstance(self.delta, Constant)
        family = self.pair_loss.name
        if isinstance(self.pair_loss, Logistic):
            weighed = "yetirank" if self.neighbours else "lambdarank"
            family = "ranknet" if is_constant else weighed
        return family if is_constant or isinstance(self.delta, Decay) else f"{family}:{self.delta.name}"

    @property
    def has_cost(self) -> bool:
        """Whether the forces are the derivatives of a cost, at least in queries that truncation leaves whole."""
        return isinstance(self.delta, Constant) and not self.query_norm and not self.gap_norm

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:
        """Return the λ-function of a dataset's pairs; see `Objective.bind`."""
        common = self._worths(dataset, threads) | {"groups": weighed_groups(dataset), "settings": self._settings()}
        if dataset.preferences is None:
            pairs = LabelledQueries(**common, **self._label_pairs(dataset))
            bound = BoundKernel(kernels.label_pair_lambdas, {"pairs": pairs}, dataset.groups, threads, dtype)
        else:
            given = common | self._given_pairs(dataset.preferences, dataset.groups)
            bound = BoundKernel(kernels.preference_lambdas, given, dataset.groups, threads, dtype)
        return replace(bound, has_cost=self.has_cost)

    def for_all_data(self, facts: DataFacts) -> PairwiseObjective:
        """Return the objective that gives a part of the data the forces that it would have among all data.

        Without a convention, ERR's chance to stop depends on the highest label.

        Parameters
        ----------
        facts : DataFacts
            What is known of all data.

        Returns
        -------
        PairwiseObjective
            The objective with the convention that fits all data.
        """
        if not isinstance(self.delta, MetricDelta) or self.delta.convention is not None:
            return self
        fitting = fitting_convention(np.array([facts.highest_label], np.float32))
        return replace(self, delta=replace(self.delta, convention=fitting))

    @property
    def kinks(self) -> tuple[float, ...]:
        """The gaps between two scores at which forces are not smooth, besides 0."""
        return self.pair_loss.kinks

    def _settings(self) -> PairSettings:
        return PairSettings(
            loss=self.pair_loss.name,
            shape=self.pair_loss.shape,
            delta=self.delta.kind,
            truncation=self.truncation or 0,
            sampled=self.sampled_pairs or 0,
            # Means over all orders of equal scores need no random one: so no bit depends on a key.
            shuffle_ties=self.shuffle_ties and not self.expected_ties,
            **{name: getattr(self, name) for name in _KERNEL_SWITCHES},
        )

    def _worths(self, dataset: Judged, threads: int) -> dict[str, Any]:
        if isinstance(self.delta, Constant):
            return {"worth": np.empty(0), "discount": np.empty(0)}
        labels = np.nan_to_num(judged_labels(dataset, f"aiming at {self.delta.name}"), nan=0.0)
        discount = self.delta.discount(int(dataset.groups.sizes.max(initial=0)))
        return {"worth": self.delta.worth(labels, dataset.groups, threads), "discount": discount}

    def _label_pairs(self, dataset: Judged) -> dict[str, Any]:
        labels = judged_labels(dataset, f"{self.name} without preferences")
        if isinstance(self.delta, Constant) or self.sampled_pairs is not None:
            # Each query's rows, highest label first, unjudged last.
            return {"labels": labels, "by_label": np.lexsort((-labels, dataset.groups.query_of_row))}
        return {"labels": labels, "by_label": np.empty(0, np.int64)}

    def _given_pairs(self, pairs: Preferences, groups: Groups) -> dict[str, Any]:
        if self.sampled_pairs is not None or self.pair_equal_labels or self.certainty != inf or self.neighbours:
            raise InputError(
                "sampled_pairs, pair_equal_labels, certainty and neighbours shape pairs made from labels, but this "
                "dataset has preferences, which are its pairs"
            )
        query = groups.query_of_row[pairs.better]
        order = np.argsort(query, kind="stable")
        counts = np.bincount(query, minlength=groups.n_queries)
        columns = {name: getattr(pairs, name)[order] for name in ("better", "worse", "probability", "weight")}
        return columns | {"first_pair": np.concatenate([[0], np.cumsum(counts)])}


# The settings that the kernel takes under the same name.
_KERNEL_SWITCHES = ("pair_equal_labels", "certainty", "query_norm", "gap_norm", "expected_ties", "perturbations",
                    "noise", "neighbours", "constant_share")  # fmt: skip
