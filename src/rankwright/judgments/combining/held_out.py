"""How well each way to combine grades foretells grades that it has not seen, and how far the model is to be believed.

Some grades are held out, at most one of each pair. Each rule makes a label of the others, and foretells the grade that
was held out: the model by what it learned of that rater, the simple rules by how far that rater's grades lie from
theirs on average. The model's share in the labels is then the one that foretells best, drawn to 1 a little; where the
model does not help, labels are the mean. So they are where raters share nothing, from which no model can be learned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, IntArray
from rankwright.judgments.combining.rater_model import fit_raters, learned_from
from rankwright.judgments.combining.simple_labels import SIMPLE_LABELS
from rankwright.judgments.ratings import Ratings

EVERY = 4  # of so many pairs with several grades, one has a grade held out
FEWEST = 10  # grades held out, below which nothing can be told
SHARE_WIDTH = 0.5  # how far the model's share may be from 1 beforehand: a standard deviation
IMAGINED_OFFSETS = 2.0  # grades of each rater without an offset, for simple rules


@dataclass(frozen=True, slots=True)
class HeldOutComparison:
    """The root of the mean squared error in foretelling held-out grades, by rule, and the share of the model."""

    n_grades: int
    errors: Mapping[str, float]
    share: float

    def to_dict(self) -> dict[str, Any]:
        """The figures in types JSON can hold."""
        return {"grades": self.n_grades, "error": dict(self.errors), "share": self.share}


def compare_held_out(ratings: Ratings, *, model: str, trusted: IntArray | None = None) -> HeldOutComparison:
    """How the model compares with simple rules; its share is small where too little overlaps to tell."""
    ratings = learned_from(ratings)
    held = _held_out_rows(ratings, trusted)
    if held.sum() < FEWEST:
        n_measured = int(np.isin(np.unique(ratings.estimates.pairs), ratings.pairs).sum())
        return HeldOutComparison(int(held.sum()), {}, min(1.0, (int(held.sum()) + n_measured) / FEWEST))
    seen, unseen = ratings.take(~held), ratings.take(held)
    truth = ratings.scale[unseen.levels]
    fitted = fit_raters(seen, model=model, trusted=trusted)
    expected_grade = fitted.confusion @ ratings.scale  # by rater and true level
    chances = fitted.chances(seen)[unseen.pairs]
    foretold = {"model": (chances * expected_grade[unseen.raters]).sum(axis=1)}
    counts = seen.counts()
    for name, rule in SIMPLE_LABELS.items():
        labels = rule(counts, ratings.scale)
        foretold[name] = labels[unseen.pairs] + _offsets(seen, labels)[unseen.raters]
    errors = {name: float(np.sqrt(np.mean((truth - one) ** 2))) for name, one in foretold.items()}
    return HeldOutComparison(len(truth), errors, _share(truth, foretold["model"], foretold["mean"]))


def _held_out_rows(ratings: Ratings, trusted: IntArray | None) -> BoolArray:
    """One grade of every few pairs that have several; only grades of trusted raters, if they have enough of them."""
    sizes = ratings.sizes
    starts = np.cumsum(sizes) - sizes
    several = np.flatnonzero(sizes >= 2)
    chosen = several[::EVERY]
    held = np.zeros(len(ratings.pairs), np.bool_)
    held[starts[chosen] + np.arange(len(chosen)) % sizes[chosen]] = True
    if trusted is not None and len(trusted):
        by_trusted = np.isin(ratings.raters, trusted) & (sizes[ratings.pairs] >= 2)
        first = np.unique(ratings.pairs[by_trusted], return_index=True)[1][::EVERY]
        if len(first) >= FEWEST:
            held[:] = False
            held[np.flatnonzero(by_trusted)[first]] = True
    return held


def _offsets(seen: Ratings, labels: Float64Array) -> Float64Array:
    """How far the grades of each rater lie from the labels on average, drawn to 0."""
    apart = seen.scale[seen.levels] - labels[seen.pairs]
    sums = np.bincount(seen.raters, weights=apart, minlength=seen.n_raters)
    counts = np.bincount(seen.raters, minlength=seen.n_raters)
    return np.asarray(sums / (counts + IMAGINED_OFFSETS), np.float64)


def _share(truth: Float64Array, by_model: Float64Array, by_mean: Float64Array) -> float:
    """The share of the model that foretells best, between 0 and 1."""
    apart, missed = by_model - by_mean, truth - by_mean
    pull = float(np.mean((truth - by_model) ** 2)) / SHARE_WIDTH**2
    share = (float(apart @ missed) + pull) / (float(apart @ apart) + pull) if pull > 0 else 1.0
    return float(np.clip(share, 0.0, 1.0))
