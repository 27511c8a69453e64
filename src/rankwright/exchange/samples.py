"""Documents that prove an export: some of the user's, and made-up ones at every place where a forest could go wrong.

Each threshold of the forest has three documents: with that value, with the next float above, and with the one below;
each feature has documents with NaN, ±0, ±∞ and odd categories. The other values of such a document are thresholds too,
drawn by a seed, so that documents reach deep nodes.
"""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.exchange.subject import ForestSubject, NetSubject, Subject
from rankwright.exchange.tree_formats import category_nodes, inner_nodes

ODD_VALUES = (np.nan, 0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, 1e-40, -1e-40)
ODD_CATEGORIES = (-0.5, -1.0, 0.5, 2.5, 1e9, 3e9)
MOST_THRESHOLDS = 20_000  # more are not tested one by one


def made_up(subject: Subject, *, missing: bool = True, seed: int = 0) -> Float32Array:
    """The documents."""
    rng = np.random.default_rng(seed)
    rows = _of_net(subject, rng) if isinstance(subject, NetSubject) else _of_forest(subject, rng)
    return rows if missing else rows[~np.isnan(rows).any(axis=1)]


def _of_net(subject: NetSubject, rng: np.random.Generator) -> Float32Array:
    rows = rng.normal(size=(64, subject.n_features)).astype(np.float32) * np.float32(2)
    if subject.steps:
        last = subject.steps[-1].learned
        if "mean" in last and len(subject.steps) == 1:
            rows = (rows * last["deviation"] + last["mean"]).astype(np.float32)
        else:
            rows = np.abs(rows)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    rows[:8] = 0
    return np.asarray(rows, np.float32)


def _of_forest(subject: ForestSubject, rng: np.random.Generator) -> Float32Array:
    forest = subject.forest
    numbers = inner_nodes(forest) & ~np.isnan(forest.threshold)
    feature, threshold = forest.feature[numbers], forest.threshold[numbers]
    keys = np.unique(np.stack([feature.astype(np.float64), threshold.astype(np.float64)]), axis=1)
    if keys.shape[1] > MOST_THRESHOLDS:
        keys = keys[:, np.sort(rng.choice(keys.shape[1], MOST_THRESHOLDS, replace=False))]
    feature, threshold = keys[0].astype(np.int64), keys[1].astype(np.float32)
    n_cuts = len(feature)
    rows = _background(subject, feature, threshold, 3 * n_cuts, rng)
    with np.errstate(over="ignore"):
        for place, values in enumerate((threshold, np.nextafter(threshold, np.float32(np.inf)),
                                        np.nextafter(threshold, np.float32(-np.inf)))):  # fmt: skip
            rows[np.arange(place * n_cuts, (place + 1) * n_cuts), feature] = values
    parts = [rows]
    used = np.unique(forest.feature[inner_nodes(forest)])
    by_category = np.unique(forest.feature[category_nodes(forest)]).tolist()
    for own in used.tolist():
        odd = [*ODD_VALUES, *((*ODD_CATEGORIES, *forest.categories_of(own).tolist()) if own in by_category else ())]
        some = _background(subject, feature, threshold, len(odd), rng)
        some[:, own] = np.array(odd, np.float32)
        parts.append(some)
    every = np.array([np.nan, 0.0, -0.0], np.float32)
    parts.append(np.repeat(every[:, None], subject.n_features, axis=1))
    return np.concatenate(parts)


def _background(
    subject: ForestSubject, feature: np.ndarray, threshold: Float32Array, n_rows: int, rng: np.random.Generator
) -> Float32Array:
    """Rows whose values lie on, or a float beside, thresholds of their features; some are missing."""
    rows = rng.normal(size=(n_rows, subject.n_features)).astype(np.float32)
    for own in np.unique(feature).tolist():
        cuts = threshold[feature == own]
        cuts = cuts[np.isfinite(cuts)]
        if len(cuts):
            drawn = rng.choice(cuts, n_rows)
            with np.errstate(over="ignore"):
                rows[:, own] = np.where(rng.random(n_rows) < 0.5, drawn, np.nextafter(drawn, np.float32(np.inf)))
    for own in np.flatnonzero(np.diff(subject.forest.category_offsets)).tolist():
        rows[:, own] = rng.choice(subject.forest.categories_of(own), n_rows)
    rows[rng.random(rows.shape) < 0.05] = np.nan
    return rows
