"""What swapping two documents would do to a metric: the factor by which LambdaRank weighs a pair.

The metric itself gives the worth of each document and the discount of each rank. This module adds what only training
needs: metrics without the cutoff that a report would ask for, ERR on any scale of labels, and discounts beyond the
cutoff.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Protocol

import numpy as np

from rankwright.arrays import Float32Array, Float64Array
from rankwright.data.groups import Groups
from rankwright.errors import UnknownNameError, require
from rankwright.metrics.convention import CONVENTIONS, DEFAULT, LARGEST_GRADE, Convention, parse_convention
from rankwright.metrics.list_metrics import ERR, NDCG
from rankwright.metrics.metric import NO_CUTOFF, SwapMetric
from rankwright.metrics.metric_table import METRICS, Measure, parse_metric

# A swap divides by the chance to go on, which must not become 0, not even in float32.
SUREST_STOP = 1.0 - 2.0**-24

# The default cutoffs in training, for metrics that a report names only with a cutoff; the others get all ranks.
USUAL_CUTOFFS: Mapping[str, int] = {"p": 10, "recall": 10, "hit": 10}


class Delta(Protocol):
    """The change of a metric when two documents swap ranks, as the kernel computes it."""

    @property
    def kind(self) -> str:
        """How the kernel makes the change from worths and discounts."""

    @property
    def name(self) -> str:
        """The text that `delta_named` turns back into this delta, apart from its training switches."""

    def worth(self, labels: Float32Array, groups: Groups, threads: int) -> Float64Array:
        """The worth of each document, given its label (0 where unjudged) and those of its query."""

    def discount(self, n_ranks: int) -> Float64Array:
        """The share of a worth that is left at each of the first `n_ranks` ranks; shorter if the rest leave nothing."""


@dataclass(frozen=True, slots=True)
class Constant:
    """No metric: every pair counts alike, as in RankNet."""

    kind: ClassVar[str] = "constant"
    name: ClassVar[str] = "constant"

    def worth(self, labels: Float32Array, groups: Groups, threads: int) -> Float64Array:  # noqa: ARG002
        """Nothing: no label matters."""
        return np.empty(0)

    def discount(self, n_ranks: int) -> Float64Array:  # noqa: ARG002
        """Nothing: no rank matters."""
        return np.empty(0)


@dataclass(frozen=True, slots=True)
class Decay:
    """YetiRank's own weights: neighbours at rank r count the difference of their labels times persistence^r.

    It is the change of rank-biased precision with labels as gains, whose discount at rank r is persistence^r, up to the
    factor 1 - persistence.

    Parameters
    ----------
    persistence : float, default 0.85
        How much a rank counts of what the one above it counts, above 0 and below 1.
    """

    persistence: float = 0.85

    kind: ClassVar[str] = "discounted-gain"
    name: ClassVar[str] = "decay"

    def __post_init__(self) -> None:
        require(0 < self.persistence < 1, f"persistence must be above 0 and below 1, got {self.persistence}")

    def worth(self, labels: Float32Array, groups: Groups, threads: int) -> Float64Array:  # noqa: ARG002
        """Tell the worth of each document: its label.

        Parameters
        ----------
        labels, groups, threads
            As for any delta; only the labels count.

        Returns
        -------
        array of float64
            The labels.
        """
        return labels.astype(np.float64)

    def discount(self, n_ranks: int) -> Float64Array:
        """Tell how much each rank counts: powers of the persistence, scaled so that neighbours differ by a power.

        Parameters
        ----------
        n_ranks : int
            How many ranks there are.

        Returns
        -------
        array of float64
            One value per rank, from the top.
        """
        return np.asarray(self.persistence ** np.arange(n_ranks) / (1.0 - self.persistence), np.float64)


@dataclass(frozen=True, slots=True)
class MetricDelta:
    """The change of a metric under a convention when two documents swap ranks.

    It depends on the gain, the discount, which labels are relevant, what MAP and precision divide by, and ERR's chance
    to stop. It does not depend on the rules for ties, for unjudged documents (they hold their ranks), and for queries
    that are empty or shorter than the cutoff.

    Parameters
    ----------
    metric : SwapMetric
        The metric, such as `parse_metric("ndcg@10").metric`.
    convention : Convention, optional
        The rules to count it by. By default they are the standard ones, except that ERR's highest grade is the highest
        label of the dataset.
    tail : bool, default False
        Whether ranks beyond the cutoff of NDCG keep their discounts. Documents down there are then still told apart,
        and pulled up, while the worth stays a share of the best possible within the cutoff.
    """

    metric: SwapMetric
    convention: Convention | None = None
    tail: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.metric, SwapMetric):
            raise UnknownNameError("metric to aim at", self.metric.name, known=DELTAS)
        require(not self.tail or isinstance(self.metric, NDCG), f"only ndcg has a tail, not {self.metric.name}")

    @property
    def kind(self) -> str:
        """How the kernel makes the change from worths and discounts."""
        return self.metric.kind

    @property
    def name(self) -> str:
        """The metric's name and, where a convention is given, the convention's: `ndcg@10`, `ndcg@10:letor`."""
        metric = self.metric.name.removesuffix(f"@{NO_CUTOFF}")
        return metric if self.convention is None else f"{metric}:{self.convention.name}"

    def worth(self, labels: Float32Array, groups: Groups, threads: int) -> Float64Array:
        """Return the worth of each document.

        Parameters
        ----------
        labels : numpy.ndarray
            The label of each document, 0 where unjudged.
        groups : Groups
            The rows of each query.
        threads : int
            How many threads to use.

        Returns
        -------
        numpy.ndarray
            A worth for each document, given its label and those of its query.
        """
        convention = self.convention or fitting_convention(labels)
        worth = self.metric.worth(labels, groups, convention, threads)
        return np.minimum(worth, SUREST_STOP) if isinstance(self.metric, ERR) else worth

    def discount(self, n_ranks: int) -> Float64Array:
        """Return the share of a worth that is left at each rank.

        Parameters
        ----------
        n_ranks : int
            How many ranks to look at.

        Returns
        -------
        numpy.ndarray
            The discount of each rank within the cutoff, or of all ranks with `tail`.
        """
        metric = replace(self.metric, cutoff=None) if isinstance(self.metric, NDCG) and self.tail else self.metric
        return metric.discount(n_ranks, self.convention or CONVENTIONS[DEFAULT])


def fitting_convention(labels: Float32Array) -> Convention:
    """The standard convention, with the highest label as its highest grade."""
    standard, highest = CONVENTIONS[DEFAULT], float(labels.max(initial=0.0))
    return replace(standard, max_grade=min(highest, LARGEST_GRADE)) if highest > 0 else standard


def delta_named(text: str) -> Delta:
    """Return the delta of a metric.

    Parameters
    ----------
    text : str
        The name of a metric in `DELTAS`, with its cutoff and its convention where it has them: `map`, `ndcg@10`,
        `ndcg@10:letor`, `ndcg@10:standard(gain=linear)`. Without a cutoff `p`, `recall` and `hit` look at 10 ranks,
        the others at all.

    Returns
    -------
    Delta
        A value with `name`, `kind`, `worth` and `discount`.

    Examples
    --------
    >>> delta_named("map:mslr").name
    'map:mslr'
    """
    metric, colon, convention = text.partition(":")
    match = re.fullmatch(r"\s*([a-z-]+)(@[0-9]+)?\s*", metric)
    if match is None or match[1] not in DELTAS:
        raise UnknownNameError("metric to aim at", text, known=DELTAS)
    name, cutoff = match[1], match[2] or ""
    if name == Constant.name:
        require(text == name, f"{name} is no metric: it takes no cutoff and no convention, got {text!r}")
        return Constant()
    if METRICS[name].cutoff == "@k" and not cutoff:
        cutoff = f"@{USUAL_CUTOFFS.get(name, NO_CUTOFF)}"
    chosen = parse_metric(name + cutoff).metric
    assert isinstance(chosen, SwapMetric)
    return MetricDelta(chosen, parse_convention(convention) if colon else None)


def as_delta(metric: str | Measure | Delta) -> Delta:
    """The delta itself, that of a measure, or the one of that name."""
    if isinstance(metric, Measure):
        return MetricDelta(metric.metric, metric.convention)  # type: ignore[arg-type]  # it checks
    return delta_named(metric) if isinstance(metric, str) else metric


def _at(name: str, cutoff: int | None = None) -> Delta:
    return delta_named(name if cutoff is None else f"{name}@{cutoff}")


# What a ranker can aim at: no metric, or one for which it is known what a swap changes.
DELTAS: Mapping[str, Callable[..., Delta]] = {Constant.name: Constant} | {
    name: partial(_at, name) for name, family in METRICS.items() if family.has_swaps
}
