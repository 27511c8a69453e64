"""Proof that a target scores as we do: documents, how far scores may lie apart, and the verdict.

Two things are looked at. Leaves: the forest is written once more with whole numbers in its leaves, so small that any
sum of them is exact in float32; the target must then give our sums exactly, or some document went to a wrong leaf.
Scores: with the real leaves, no score may lie further from ours than the rounding of sums allows.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array
from rankwright.container.checks import as_one_line
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, MissingExtraError, RankwrightError
from rankwright.exchange.subject import BlendSubject, ForestSubject, NetSubject, Subject
from rankwright.exchange.target import ExportOptions, NotRunError, Runner, Target, TargetRun, Written
from rankwright.exchange.tree_formats import category_nodes, inner_nodes
from rankwright.features.scaling import mean_and_factor
from rankwright.nets.encoding import piece_table
from rankwright.rankers.exported import Verdict

EXACT = 2**24  # whole numbers below it are exact in float32
ODD_VALUES = (np.nan, 0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, 1e-40, -1e-40)
ODD_CATEGORIES = (-0.5, -1.0, 0.5, 2.5, 1e9, 3e9)
LONGEST_LIST = 500  # documents that a blend is tried on
MOST_THRESHOLDS = 20_000  # more are not tested one by one
UNIT = 2.0**-24  # half a step of float32 at 1
STEEPEST = 1.2  # slope of any activation


# --- documents: some of the user's, and made-up ones at every place where a forest could go wrong ---
# Each threshold of the forest has three documents: with that value, with the next float above, and with the one below;
# each feature has documents with NaN, ±0, ±∞ and odd categories. The other values of such a document are thresholds
# too, drawn by a seed, so that documents reach deep nodes.


def made_up(subject: Subject, *, missing: bool = True, seed: int = 0) -> Float32Array:
    """The documents."""
    rng = np.random.default_rng(seed)
    if isinstance(subject, BlendSubject):
        rows = np.concatenate([made_up(part, seed=seed) for part in subject.parts])
        rows = rows[np.sort(rng.permutation(len(rows))[:LONGEST_LIST])]
    else:
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
        beside = [np.nextafter(threshold, np.float32(end)) for end in (np.inf, -np.inf)]
    rows[np.arange(3 * n_cuts), np.tile(feature, 3)] = np.concatenate([threshold, *beside])
    parts = [rows]
    used = np.unique(forest.feature[inner_nodes(forest)])
    by_category = np.unique(forest.feature[category_nodes(forest)]).tolist()
    for own in used.tolist():
        odd = [*ODD_VALUES, *((*ODD_CATEGORIES, *forest.categories_of(own).tolist()) if own in by_category else ())]
        some = _background(subject, feature, threshold, len(odd), rng)
        some[:, own] = np.array(odd, np.float32)
        parts.append(some)
    every = np.array([[np.nan], [0.0], [-0.0]], np.float32)
    return np.concatenate([*parts, np.repeat(every, subject.n_features, axis=1)])


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


# --- bounds: what rounding in float32 allows, and no more ---
# A sum of n numbers taken one after another in float32 is off by at most (n - 1) roundings of a partial sum, and no
# partial sum is larger than the sizes of all numbers together.


def bound_of(subject: Subject, features: Float32Array, sums: str) -> Float64Array:
    """The most that scores of these documents may differ by."""
    if isinstance(subject, BlendSubject):
        return _blend_bound(subject, features, sums)
    return _net_bound(subject, features) if isinstance(subject, NetSubject) else _forest_bound(subject, features, sums)


def _forest_bound(subject: ForestSubject, features: Float32Array, sums: str) -> Float64Array:
    """The bound for trees: leaves are float32 already, only sums and the base score are rounded."""
    forest = subject.forest
    sizes = np.full(len(features), abs(subject.base_score))
    for start in range(0, len(features), 4096):
        rows = slice(start, start + 4096)
        sizes[rows] += np.abs(forest.value[forest.apply(features[rows], threads=1)].astype(np.float64)).sum(axis=1)
    n_sums = forest.n_trees + 2
    if sums == "float64":
        return 2 * n_sums * 2.0**-53 * sizes + UNIT * abs(subject.base_score)
    return n_sums * UNIT * sizes * (1 + n_sums * UNIT) + UNIT * abs(subject.base_score)


def _net_bound(subject: NetSubject, features: Float32Array) -> Float64Array:
    """The bound for sums of products, carried from layer to layer; ours and theirs may both be in float32."""
    values = features.astype(np.float64)
    with np.errstate(invalid="ignore"):
        for step in subject.steps:
            known = np.nan_to_num(values, nan=0.0, posinf=0, neginf=0).astype(np.float32)
            values = step.transform(known).astype(np.float64)
    values = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    errors = 4 * UNIT * _size_before(subject, features, values)
    if subject.pieces is not None:
        table = piece_table(subject.pieces)
        data = RankingDataset.from_arrays(features, group=[len(features)])
        values = subject.trained.model.inputs.matrix(data, threads=1).astype(np.float64)  # type: ignore[attr-defined]
        is_number = ~(table.of_category | table.of_missing)
        slopes = np.where(is_number, subject.pieces.height, 0.0) / (table.high.astype(np.float64) - table.low)
        of_pieces = np.minimum(errors[:, table.feature] * slopes + 8 * UNIT, subject.pieces.height)
        errors = np.concatenate([errors, of_pieces], axis=1)
    for layer in subject.layers:
        weights = np.abs(layer.weights)
        roundings = (layer.weights.shape[1] + 4) * UNIT
        errors = errors @ weights.T + 2 * roundings * ((np.abs(values) + errors) @ weights.T + np.abs(layer.bias))
        values = values @ layer.weights.T + layer.bias
        if layer.activation != "identity":
            values = _activated(layer.activation, values)
            errors = STEEPEST * errors + 4 * UNIT * (1 + np.abs(values))
    found: Float64Array = errors[:, 0]
    return found


def _blend_bound(subject: BlendSubject, features: Float32Array, sums: str) -> Float64Array:
    """The bound for sums of scores, or of z-scores: what mean, deviation and score may be off by, in deviations."""
    total, n = np.zeros(len(features)), len(features)
    for weight, part in zip(np.abs(subject.weights).tolist(), subject.parts, strict=True):
        errors, scores = bound_of(part, features, sums), part.scores(features)
        sizes = np.abs(scores)
        errors = errors + 4 * UNIT * sizes
        if subject.is_of_lists:
            deviation = float(scores.std())
            in_means = (n + 4) * UNIT * float(sizes.mean()) + float(errors.mean())
            in_deviation = float(np.sqrt((errors**2).mean())) + in_means + (n + 4) * UNIT * deviation
            size = np.abs(scores - scores.mean())
            spread = max(deviation, 1e-300)
            errors = (errors + in_means) / spread + size * in_deviation / spread**2
            sizes = size / spread
        total += weight * (errors + 8 * UNIT * sizes)
    return 2 * total


def _size_before(subject: NetSubject, features: Float32Array, values: Float64Array) -> Float64Array:
    """How large numbers were while features were scaled: x and its mean, times the factor."""
    size = np.abs(values) + 1e-30
    if subject.steps and subject.steps[-1].scaling.name == "zscore":
        mean, factor = mean_and_factor(subject.steps[-1].learned)
        size = size + 2 * (np.abs(values) + 2 * np.abs(mean) * factor)
        if len(subject.steps) == 1:
            size = size + np.abs(np.nan_to_num(features, nan=0, posinf=0, neginf=0)) * factor
    return size


def _activated(activation: str, values: Float64Array) -> Float64Array:
    if activation == "tanh":
        return np.tanh(values)
    if activation == "sigmoid":
        return 1 / (1 + np.exp(-values))
    return np.maximum(values, 0)  # relu, and gelu is close enough to it for a bound


# --- verdicts ---


def verify(
    target: Target, subject: Subject, options: ExportOptions, written: Written, rows: Float32Array
) -> tuple[list[Verdict], list[str]]:
    """The verdicts of all runners that are at hand, and what was said by those that are not."""
    verdicts, absent = [], []
    for runner in target.runners:
        try:
            verdicts.append(_judged(runner, target, subject, options, written, rows))
        except (MissingExtraError, NotRunError) as error:
            absent.append(str(error))
    return verdicts, absent


def beyond_limits(written: Written, rows: Float32Array) -> BoolArray:
    """Which documents the target cannot score as we do."""
    found: BoolArray = np.logical_or.reduce(
        [np.zeros(len(rows), np.bool_), *(own.rows(rows) for own in written.limits)]
    )
    return found


def _judged(
    runner: Runner, target: Target, subject: Subject, options: ExportOptions, written: Written, given: Float32Array
) -> Verdict:
    rows = np.ascontiguousarray(given[~beyond_limits(written, given)])
    run = _scored(runner, target, options, written, rows, subject)
    ours = subject.scores(rows) + written.offset
    theirs = np.asarray(run.scores, np.float64)
    difference = np.abs(theirs - ours)
    # The target's scores are rounded without the offset.
    bound = bound_of(subject, rows, target.sums) + 4 * UNIT * abs(written.offset)
    wrong = None
    if isinstance(subject, ForestSubject):
        marked = _marked(subject)
        probe = _scored(runner, target, options, target.write(marked, options), rows, marked)
        wrong = int((np.asarray(probe.scores, np.float64) != marked.scores(rows)).sum())
    order = np.argsort(ours, kind="stable")
    return Verdict(
        by=run.by,
        documents=len(rows),
        left_out=len(given) - len(rows),
        wrong_leaves=wrong,
        beyond_bound=int((~(difference <= bound)).sum()),
        largest_difference=float(difference.max(initial=0.0)),
        bound=float(bound.max(initial=0.0)),
        swapped=int(((np.diff(theirs[order]) < 0) & (np.diff(ours[order]) > 0)).sum()),
    )


def _scored(
    runner: Runner, target: Target, options: ExportOptions, written: Written, rows: Float32Array, subject: Subject
) -> TargetRun:
    with TemporaryDirectory() as folder:
        for ending, content in written.files.items():
            Path(folder, options.name + (ending or target.suffix)).write_bytes(content)
        try:
            return runner(Path(folder, options.name + target.suffix), rows, subject.names)
        except RankwrightError:
            raise
        except Exception as error:  # of another library, whose messages may be as long as the model
            raise InputError(f"what runs {target.name} refuses the file: {as_one_line(str(error))}") from error


def _marked(subject: ForestSubject) -> ForestSubject:
    """The same splits with whole numbers in the leaves, drawn so that two leaves of a tree rarely have the same."""
    forest = subject.forest
    largest = max(EXACT // max(forest.n_trees, 1) - 1, 1)
    marks = np.random.default_rng(0).integers(0, largest, size=len(forest.feature), endpoint=True)
    value: Float64Array = np.where(forest.feature < 0, marks, 0)
    return replace(subject, forest=replace(forest, value=value.astype(np.float32)), base_score=0.0)
