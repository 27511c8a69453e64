"""What another policy would get, estimated from the log of one, with intervals and how much evidence there is.

A weight is how much more likely the other policy shows a document at a place than the one that made the log did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array, IntArray, as_vector, real_number, share
from rankwright.clicks.logs.click_log import ClickLog, check_log
from rankwright.data.frames import Tabular
from rankwright.errors import InputError, UnknownNameError, require, require_input
from rankwright.tables.text import ShownTable, counted

LEAST_SUPPORT = 30.0  # effective clicks or lists below which an interval would promise too much
LEAST_SHOWN = 0.9  # the share of the examination that must fall on documents of the log
SYMMETRIC = 1e-6
KINDS = ("ips", "clipped", "self-normalised")


class NoSupportError(InputError):
    """The log holds too little of what the other policy would show."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OfflineEstimate(Tabular):
    """What a policy would get, by the log of another. Print it for a table.

    Attributes
    ----------
    value : float
        The estimate: the mean reward of a shown document, or of a list.
    low, high : float
        Its interval.
    level : float
        How likely such intervals hold the true value.
    effective_size : float
        How many observations of the policy itself would tell as much: (Σ w)² / Σ w².
    n_observed : int
        How many observations there are.
    clipped_share : float
        The share of the weights that were cut to the largest allowed.
    kind : str
        How it was estimated.
    at_position : dict from int to float
        The same estimate for each position, from 1, where positions are known.
    """

    value: float
    low: float
    high: float
    level: float
    effective_size: float
    n_observed: int
    clipped_share: float
    kind: str
    at_position: Mapping[int, float]

    def shown(self) -> ShownTable:
        """Return the estimate as people read it; see `Tabular.shown`."""
        interval = f"{100 * self.level:g} % interval {self.low:.4g} to {self.high:.4g}"
        clipped = f", {self.clipped_share:.1%} of the weights clipped" if self.clipped_share else ""
        evidence = f"{counted(self.n_observed, 'observation')}, worth {self.effective_size:,.1f} of the policy's own"
        rows = [["all", f"{self.value:.4g}"], *([f"{at}", f"{one:.4g}"] for at, one in self.at_position.items())]
        title = f"What another policy would get ({self.kind}): {self.value:.4g}"
        return ShownTable(title, ["position", "estimate"], rows, ["estimate"], [interval, f"{evidence}{clipped}"])

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the estimate as one row, without those of positions; see `Tabular.columns`."""
        names = ("kind", "value", "low", "high", "level", "effective_size", "n_observed", "clipped_share")
        return {name: [getattr(self, name)] for name in names}


def estimate(
    rewards: ArrayLike,
    logged: ArrayLike,
    target: ArrayLike,
    *,
    positions: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    kind: str = "self-normalised",
    clip: float | None = None,
    level: float = 0.95,
    least_support: float = LEAST_SUPPORT,
) -> OfflineEstimate:
    """Estimate the mean reward of a policy from what another policy logged.

    Parameters
    ----------
    rewards : array of numbers
        What each observation brought: 1 for a click, or any number.
    logged : array of numbers
        How likely the policy that made the log was to show what it showed, above 0.
    target : array of numbers
        How likely the other policy would be to show the same there, 0 or more.
    positions : array of whole numbers, optional
        The position, from 1, of each observation: estimates are also given for each.
    clusters : array, optional
        What observations belong together, such as lists or queries: they are not taken as independent.
    kind : {"ips", "clipped", "self-normalised"}, default "self-normalised"
        `ips` is unbiased and may vary a lot; `clipped` cuts large weights, which biases it towards the log;
        `self-normalised` divides by the sum of the weights, which costs a little bias and saves much variance.
    clip : float, optional
        The largest weight; by default, for `clipped`, the square root of the number of observations.
    level : float, default 0.95
        How likely the interval holds the true value.
    least_support : float, default 30
        The smallest effective number of observations that an answer may rest on.

    Returns
    -------
    OfflineEstimate
        The estimate and its interval.

    Raises
    ------
    NoSupportError
        Where the log has too little of what the other policy would show.

    Examples
    --------
    >>> import rankwright as rw
    >>> same = [0.5] * 100
    >>> found = rw.clicks.estimate([1, 0, 0, 0] * 25, same, same)
    >>> found.value, found.effective_size
    (0.25, 100.0)
    """
    if kind not in KINDS:
        raise UnknownNameError("kind of estimate", kind, known=KINDS)
    level, least_support = share(level, "level"), real_number(least_support, "least_support")
    require(clip is None or real_number(clip, "clip") > 0, f"clip must be above 0, got {clip}")
    values = as_vector(rewards, name="rewards", dtype=np.float64)
    shown = as_vector(logged, name="logged", dtype=np.float64, length=len(values))
    wanted = as_vector(target, name="target", dtype=np.float64, length=len(values))
    if not ((shown > 0) & np.isfinite(shown)).all() or not ((wanted >= 0) & np.isfinite(wanted)).all():
        raise InputError("logged propensities must be above 0 and target ones 0 or more, and finite")
    require_input(np.isfinite(values).all(), "rewards must be finite numbers")
    weights = wanted / shown
    if kind == "clipped" and clip is None:
        clip = float(np.sqrt(max(len(values), 1)))
    clipped_share = 0.0 if clip is None else float((weights > clip).mean())
    weights = weights if clip is None else np.minimum(weights, clip)
    size = effective_size(weights)
    if size < least_support:
        raise NoSupportError(
            f"the log does not support an estimate: {len(values)} observations count as {size:.1f} of the other "
            f"policy's, and {least_support:g} are needed"
        )
    groups = np.arange(len(values)) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    value, low, high = _with_interval(values, weights, groups.ravel(), kind == "self-normalised", level)
    at_position = {}
    if positions is not None:
        places = as_vector(positions, name="positions", dtype=np.int64, length=len(values))
        for place in np.unique(places).tolist():
            own = places == place
            divisor = weights[own].sum() if kind == "self-normalised" else own.sum()
            at_position[place] = float((weights * values)[own].sum() / max(divisor, 1e-300))
    return OfflineEstimate(value, low, high, level, size, len(values), clipped_share, kind, at_position)


def effective_size(weights: Float64Array) -> float:
    """How many observations with equal weights would tell as much as these: (Σ w)² / Σ w²."""
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def _with_interval(
    values: Float64Array, weights: Float64Array, groups: IntArray, normalised: bool, level: float
) -> tuple[float, float, float]:
    """The estimate with an interval from the spread and the skewness of groups, by Student's distribution.

    The deviation of a ratio is that of its linear part: weights times the differences of values from their mean.
    """
    from scipy.stats import t

    n_groups = int(groups.max(initial=-1)) + 1
    require(n_groups > 1, "an interval needs more than one observation")
    total = float(weights.sum()) if normalised else float(len(values))
    value = float((weights * values).sum() / total)
    parts = np.bincount(groups, weights=weights * (values - value) if normalised else weights * values - value)
    deviation = np.sqrt(n_groups / (n_groups - 1) * float((parts**2).sum())) / total
    reach = float(t.ppf((1 + level) / 2, n_groups - 1))
    skewness = _skewness(parts.astype(np.float64)) / np.sqrt(n_groups)
    low, high = (_unskewed(bound, skewness) for bound in (reach, -reach))
    return value, value - low * deviation, value - high * deviation


def _skewness(parts: Float64Array) -> float:
    """The skewness of the groups' sums: rare clicks with large weights have much of it."""
    centred = parts - parts.mean()
    spread = float((centred**2).mean())
    return float((centred**3).mean()) / spread**1.5 if spread > 0 else 0.0


def _unskewed(bound: float, skewness: float) -> float:
    """Student's bound for the mean of skewed values (Hall's transformation, 1992); `skewness` is that of the mean."""
    if abs(skewness) < SYMMETRIC:
        return bound
    return float(3 / skewness * (np.cbrt(1 + skewness * (bound - skewness / 6)) - 1))


def expected_clicks(
    log: ClickLog,
    new_ranks: ArrayLike,
    examination: ArrayLike,
    *,
    kind: str = "ips",
    clip: float | None = None,
    level: float = 0.95,
) -> OfflineEstimate:
    """Estimate the clicks that each list would get if its documents were shown in another order.

    By the position-based model, a document that moves is examined as its new position is: a click then counts as
    examination of the new position over that of the old one.

    Parameters
    ----------
    log : ClickLog
        The log.
    new_ranks : array of whole numbers
        The rank, from 0, that the new ranker gives each shown document (`log.documents`); -1 for not shown.
    examination : array of numbers
        The examination of each rank, by a click model or by `from_interventions`.
    kind : {"ips", "clipped"}, default "ips"
        As for `estimate`; weights are ratios of examination. They are no ratios of chances, which have a mean of 1, so
        nothing can be divided by their sum.
    clip, level
        As for `estimate`.

    Returns
    -------
    OfflineEstimate
        Mean clicks of a shown document, with lists as clusters.

    Raises
    ------
    NoSupportError
        Where the log has too little of what the new ranker would show at the top.
    """
    check_log(log)
    require(kind != "self-normalised", "weights of examination have no mean of 1: take ips or clipped")
    curve = as_vector(examination, name="examination", dtype=np.float64)
    require(bool((curve > 0).all()), "examination must be above 0 at every rank")
    places = as_vector(new_ranks, name="new_ranks", dtype=np.int64, length=len(log.documents))
    old = curve[np.minimum(log.ranks, len(curve) - 1)]
    new = np.where(places < 0, 0.0, curve[np.clip(places, 0, len(curve) - 1)])
    times = np.repeat(log.list_counts, np.diff(log.offsets))
    shown = float((new * times).sum() / (old * times).sum()) if len(old) else 0.0
    if shown < LEAST_SHOWN:
        raise NoSupportError(
            f"the log does not support an estimate: its documents get {shown:.0%} of the examination in the new order, "
            f"and {LEAST_SHOWN:.0%} is needed; the rest goes to documents that the log did not show"
        )
    rows = np.repeat(np.arange(len(log.documents)), times)
    # A list that was seen several times is as many clusters.
    copies = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)
    clusters = (np.cumsum(log.list_counts) - log.list_counts)[log.list_of_row[rows]] + copies
    observed = log.clicked[rows].astype(np.float64), old[rows], new[rows]
    return estimate(*observed, positions=places[rows] + 1, clusters=clusters, kind=kind, clip=clip, level=level)
