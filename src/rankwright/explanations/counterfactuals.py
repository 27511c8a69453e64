"""The smallest change of one feature that puts one document above another: searched, and verified by scoring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray

MOST_VALUES = 64  # that are tried of a feature where no thresholds are known
MOST_ROWS = 2_000_000  # scored in one search
ROWS_AT_A_TIME = 4096  # looked at for what features can be
BISECTIONS = 30  # after which a change is as small as float32 can tell

Margin = Callable[[Float32Array], Float64Array]  # of versions of the changed document, its score less the other's


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A change of one feature of one document that swaps the two.

    Attributes
    ----------
    document : str or int
        The document that is changed.
    feature : str
        The feature that is changed.
    before, after : float
        Its value, and the value that swaps the documents; NaN is a missing value.
    size : float
        The change in units of the feature's deviation among the query's documents.
    margin : float
        By how much the document that was behind is ahead after the change, as scored.
    """

    document: Any
    feature: str
    before: float
    after: float
    size: float
    margin: float

    def to_dict(self) -> dict[str, Any]:
        """Return the change as a dictionary for JSON.

        Returns
        -------
        dict
            The fields by name; a missing value is None.
        """
        fields = asdict(self).items()
        return {name: None if isinstance(value, float) and np.isnan(value) else value for name, value in fields}


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A value of a feature that does what is wanted."""

    feature: int
    after: float
    size: float
    margin: float


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """What features can be, as documents show it: changes lead nowhere else."""

    low: Float32Array  # NaN where no document has a value
    high: Float32Array
    whole: BoolArray  # which features have whole numbers only

    @classmethod
    def of(cls, features: Float32Array) -> Observed:
        """What the features of these documents have been seen to be; infinite values do not count."""
        low, high = (np.full(features.shape[1], np.nan, np.float32) for _ in range(2))
        whole = np.ones(features.shape[1], np.bool_)
        for start in range(0, len(features), ROWS_AT_A_TIME):
            some = features[start : start + ROWS_AT_A_TIME]
            known = np.where(np.isfinite(some), some, np.float32(np.nan))
            low, high = np.fmin(low, np.fmin.reduce(known)), np.fmax(high, np.fmax.reduce(known))
            whole &= (np.isnan(known) | (np.floor(known) == known)).all(axis=0)
        return cls(low, high, whole)

    def within(self, feature: int, values: Float32Array) -> Float32Array:
        """The values, each moved to the nearest that the feature can have; of whole numbers, to those on both sides."""
        if np.isnan(self.low[feature]):
            return values[:0]
        if self.whole[feature]:
            below = np.floor(values)
            values = np.concatenate([below, below + 1])
        return np.unique(np.clip(values, self.low[feature], self.high[feature]))


def smallest_change(
    row: Float32Array,
    margin: Margin,
    values_of: Mapping[int, Float32Array],
    spreads: Float64Array,
    exact: BoolArray,
    whole: BoolArray,
) -> Change | None:
    """The smallest change of one feature of `row` for which `margin` is above 0, None where no value tried does it.

    `values_of` has the values to try of each feature. Where they are not `exact`, values between are tried as well,
    and only whole numbers where the feature has no others.
    """
    features, values = _candidates(row, values_of)
    if len(features) == 0:
        return None
    tried = np.repeat(row[None], len(features), axis=0)
    tried[np.arange(len(features)), features] = values
    margins = margin(tried)
    swaps = np.flatnonzero(margins > 0)
    sizes = _sizes(row[features], values, spreads[features])
    best: Change | None = None
    for place in _nearest_of_each(features[swaps], sizes[swaps], swaps):
        feature = int(features[place])
        if best is not None and exact[feature] and sizes[place] >= best.size:
            continue
        found = Change(feature, float(values[place]), float(sizes[place]), float(margins[place]))
        if not exact[feature] and np.isfinite(row[feature]):
            found = _bisected(row, margin, found, float(spreads[feature]), bool(whole[feature]))
        if best is None or found.size < best.size:
            best = found
    return best


def _candidates(row: Float32Array, values_of: Mapping[int, Float32Array]) -> tuple[IntArray, Float32Array]:
    kept = {feature: values[values != row[feature]] for feature, values in values_of.items()}
    features = np.repeat(np.array(list(kept), np.int64), [len(values) for values in kept.values()])
    return features, np.concatenate([np.empty(0, np.float32), *kept.values()]).astype(np.float32)


def _sizes(before: Float32Array, after: Float32Array, spreads: Float64Array) -> Float64Array:
    """How large changes are; one of a missing value counts as one deviation."""
    moved = np.abs(after.astype(np.float64) - before) / spreads
    return np.where(np.isnan(moved), 1.0, moved)


def _nearest_of_each(features: IntArray, sizes: Float64Array, places: IntArray) -> list[int]:
    """For each feature the place of its smallest change, the smallest of all first."""
    order = np.lexsort((features, sizes))
    _, first = np.unique(features[order], return_index=True)
    return [int(place) for place in places[order[np.sort(first)]]]


def _bisected(row: Float32Array, margin: Margin, found: Change, spread: float, whole: bool) -> Change:
    """The change brought nearer to the document's own value, as long as it still swaps."""
    short, far = np.float32(row[found.feature]), np.float32(found.after)
    best = found
    for _ in range(BISECTIONS):
        middle = np.float32((np.float64(short) + np.float64(far)) / 2)
        middle = np.floor(middle) if whole else middle
        if middle in (short, far):
            break
        tried = row[None].copy()
        tried[0, found.feature] = middle
        ahead = float(margin(tried)[0])
        if ahead > 0:
            far = middle
            size = abs(float(middle) - float(row[found.feature])) / spread
            best = Change(found.feature, float(middle), size, ahead)
        else:
            short = middle
    return best


def observed_values(column: Float32Array, most: int) -> Float32Array:
    """Different values of a feature among documents, at most so many, evenly by rank."""
    values = np.unique(column[np.isfinite(column)])
    return values[np.linspace(0, len(values) - 1, min(most, len(values))).astype(np.int64)]


def values_beside(thresholds: Float32Array) -> Float32Array:
    """The values on both sides of each threshold, which goes left itself, that are nearest to it."""
    finite = np.unique(thresholds[np.isfinite(thresholds)])
    return np.unique(np.concatenate([finite, np.nextafter(finite, np.float32(np.inf), dtype=np.float32)]))


def spreads_of(features: Float32Array) -> Float64Array:
    """The deviation of each feature among documents; 1 where it is constant."""
    with np.errstate(invalid="ignore"):
        known = np.where(np.isfinite(features), features, np.nan).astype(np.float64)
        has_some = (~np.isnan(known)).any(axis=0)
        spreads = np.ones(features.shape[1])
        spreads[has_some] = np.nanstd(known[:, has_some], axis=0)
    return np.where(spreads > 0, spreads, 1.0)
