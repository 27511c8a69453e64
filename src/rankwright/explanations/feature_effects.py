"""What features do: to scores, where all documents get one value after another, and to a metric that lacks them.

In an ablation, rankers are trained without each group of features, and the difference is tested query by query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.feature_names import feature_columns
from rankwright.data.frames import PandasFrame, frame_of
from rankwright.errors import InputError, InputTypeError, SettingError, require, require_input, require_type
from rankwright.explanations.counterfactuals import observed_values
from rankwright.explanations.explanation import PrintedTable
from rankwright.metrics.confidence_intervals import bootstrap_interval
from rankwright.metrics.evaluation import MetricResult, evaluate
from rankwright.metrics.evaluation_inputs import ScoringSystem
from rankwright.metrics.metric_table import parse_metric
from rankwright.metrics.significance import PairedTest, paired_test
from rankwright.progress.stages import announce
from rankwright.tables.axes import COLOURS, FAINT, Axes, axes_or_new
from rankwright.tables.text import ShownTable, counted, short

RESAMPLES = 1000
MOST_DOCUMENTS = 20_000  # of queries that are drawn where there are more
DRAWN_CURVES = 50  # of queries in a picture


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dependence(PrintedTable):
    """How scores depend on one feature.

    Attributes
    ----------
    feature : str
        The feature.
    grid : array of float32
        The values that all documents were given.
    by_query : array of float64
        The mean score of each query's documents at each value, a row for each query: its curve of individual
        conditional expectation.
    mean, low, high : array of float64
        The partial dependence, the mean of the curves, and the ends of its 95 % interval over queries, each minus the
        mean over the grid.
    """

    feature: str
    grid: Float32Array
    by_query: Float64Array
    mean: Float64Array
    low: Float64Array
    high: Float64Array

    def to_frame(self) -> PandasFrame:
        """Return a frame with a row for each value.

        Returns
        -------
        pandas or polars DataFrame
            Columns value, mean, low and high.
        """
        return frame_of({"value": self.grid, "mean": self.mean, "low": self.low, "high": self.high})

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as a dictionary for JSON.

        Returns
        -------
        dict
            The feature, the number of queries, and the values with the mean and its interval.
        """
        points = [
            {"value": float(value), "mean": float(mean), "low": float(low), "high": float(high)}
            for value, mean, low, high in zip(self.grid, self.mean, self.low, self.high, strict=True)
        ]
        return {"feature": self.feature, "queries": len(self.by_query), "points": points}

    def table(self) -> ShownTable:
        """Make the table that is printed.

        Returns
        -------
        ShownTable
            The values, and what each does to scores.
        """
        rows = [
            [short(float(value)), f"{mean:+.4g}", f"{low:+.4g} to {high:+.4g}"]
            for value, mean, low, high in zip(self.grid, self.mean, self.low, self.high, strict=True)
        ]
        names = [self.feature, "score", "95 % interval"]
        title = f"What {self.feature} does to scores, over {counted(len(self.by_query), 'query')}"
        return ShownTable(title, names, rows, numbers=names, notes=["scores minus their mean over these values"])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the partial dependence with its interval, over the curves of queries.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.

        Returns
        -------
        matplotlib Axes
            What was drawn on.
        """
        axes = axes_or_new(ax)
        for curve in self.by_query[:DRAWN_CURVES] - self.by_query[:DRAWN_CURVES].mean(axis=1, keepdims=True):
            axes.plot(self.grid, curve, color=FAINT, linewidth=0.8, zorder=1)
        axes.fill_between(self.grid, self.low, self.high, color=COLOURS[0], alpha=0.25, zorder=2)
        axes.plot(self.grid, self.mean, color=COLOURS[0], zorder=3)
        axes.set(xlabel=self.feature, ylabel="score against its mean", title=f"What {self.feature} does")
        return axes


def partial_dependence(
    ranker: ScoringSystem,
    data: RankingDataset,
    feature: str | int,
    *,
    points: int = 20,
    seed: int = 0,
    threads: int | None = None,
) -> Dependence:
    """Tell what a feature does to scores: every document gets one value of it after another.

    Parameters
    ----------
    ranker : Ranker
        A trained ranker.
    data : RankingDataset
        Documents; where there are more than 20,000, queries are drawn that have about so many.
    feature : str or int
        The feature, by name or by number from 1.
    points : int, default 20
        How many values to try at most, evenly by rank among those that occur.
    seed : int, default 0
        The seed of the draw and of the bootstrap.
    threads : int, optional
        The number of threads of the bootstrap; every core unless given.

    Returns
    -------
    Dependence
        The curve of every query, and their mean with its interval.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=20, seed=0)
    >>> ranker = rw.LambdaMART(n_trees=5, threads=1).fit(data)
    >>> found = rw.partial_dependence(ranker, data, 1, points=5)
    >>> found.by_query.shape
    (20, 5)
    """
    if isinstance(ranker, type) or not hasattr(ranker, "predict"):
        raise InputTypeError(f"ranker must be a trained ranker, got {type(ranker).__name__}")
    require_type(data, RankingDataset, "data", "a RankingDataset")
    require_type(feature, (str, int, np.integer), "feature", "a name, or a number from 1")
    require_type(points, (int, np.integer), "points", "a whole number")
    require(points >= 2, f"points must be 2 or more, got {points}")
    names = data.feature_names or tuple(getattr(ranker, "feature_names_in_", ())) or data.names
    (number,) = feature_columns([feature], names)
    data = _drawn(data, seed)
    grid = observed_values(data.features[:, number], points)
    if len(grid) == 0:
        raise InputError(f"feature {names[number]} is missing in every document")
    changed = replace(data, features=data.features.copy(), source_rows=None)
    curves = np.empty((data.n_queries, len(grid)))
    for place, value in enumerate(grid):
        changed.features[:, number] = value
        scores = np.asarray(ranker.predict(changed))
        curves[:, place] = np.add.reduceat(scores, data.groups.offsets[:-1]) / data.groups.sizes
    is_flat = np.ptp(curves, axis=1, keepdims=True) == 0
    centred = np.where(is_flat, 0.0, curves - curves.mean(axis=1, keepdims=True))  # rounding does not make it rise
    ones, options = np.ones(len(curves)), {"resamples": RESAMPLES, "seed": seed, "threads": thread_count(threads)}
    ends = [bootstrap_interval(np.ascontiguousarray(column), ones, **options) for column in centred.T]
    low, high = (np.array(column) for column in zip(*ends, strict=True))
    return Dependence(str(names[number]), grid, curves, centred.mean(axis=0), low, high)


def _drawn(data: RankingDataset, seed: int) -> RankingDataset:
    """The data without empty queries, or queries of it that have about as many documents as are asked for."""
    queries = np.flatnonzero(data.groups.sizes > 0)
    require_input(len(queries) != 0, "there is no document")
    order = np.random.default_rng(seed).permutation(queries)
    enough = np.searchsorted(np.cumsum(data.groups.sizes[order]), MOST_DOCUMENTS) + 1
    return data.take_queries(np.sort(order[:enough]))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ablation(PrintedTable):
    """What a metric loses where groups of features are left out of training.

    Attributes
    ----------
    metric : str
        The metric.
    whole : float
        Its mean with all features.
    groups : mapping from str to tuple of str
        The features of each group.
    tests : mapping from str to PairedTest
        For each group, the ranker without it against the whole one: `difference` is below 0 where it is worse.
    """

    metric: str
    whole: float
    groups: Mapping[str, tuple[str, ...]]
    tests: Mapping[str, PairedTest]

    def ordered(self) -> list[str]:
        """Order the groups by what they are worth.

        Returns
        -------
        list of str
            The names of the groups, the one whose loss costs most first.
        """
        sign = 1 if parse_metric(self.metric).higher_is_better else -1
        return sorted(self.tests, key=lambda name: sign * self.tests[name].difference)

    def to_frame(self) -> PandasFrame:
        """Return a frame with a row for each group, the most valuable first.

        Returns
        -------
        pandas or polars DataFrame
            Columns group, features, difference, low, high, p_value, wins and losses.
        """
        names = self.ordered()
        tests = [self.tests[name].to_dict() for name in names]
        columns: dict[str, Any] = {"group": names, "features": [len(self.groups[name]) for name in names]}
        kinds = ("difference", "low", "high", "p_value", "wins", "losses")
        return frame_of(columns | {kind: [test[kind] for test in tests] for kind in kinds})

    def to_dict(self) -> dict[str, Any]:
        """Return the ablation as a dictionary for JSON.

        Returns
        -------
        dict
            The metric, its mean with all features, and the test of each group.
        """
        groups = [
            {"group": name, "features": list(self.groups[name])} | self.tests[name].to_dict() for name in self.ordered()
        ]
        return {"metric": self.metric, "whole": self.whole, "groups": groups}

    def table(self) -> ShownTable:
        """Make the table that is printed.

        Returns
        -------
        ShownTable
            The groups, the most valuable first.
        """
        rows = []
        for name in self.ordered():
            test = self.tests[name]
            interval = f"{test.interval.low:+.4f} to {test.interval.high:+.4f}"
            rows.append([name, str(len(self.groups[name])), f"{test.difference:+.4f}", interval, f"{test.p_value:.4f}"])
        names = ["left out", "features", "difference", "95 % interval", "p"]
        title = f"{self.metric} is {self.whole:.4f} with all features"
        return ShownTable(title, names, rows, numbers=names[1:])


def ablation(
    ranker: Any,
    train: RankingDataset,
    test: RankingDataset,
    groups: Mapping[str, Sequence[str | int]] | None = None,
    *,
    metric: str = "ndcg@10",
    valid: RankingDataset | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Ablation:
    """Train a ranker without each group of features, and test what that costs.

    Parameters
    ----------
    ranker : Ranker
        The settings to train with; it stays as it is.
    train, test : RankingDataset
        The documents to train on, and those to measure on.
    groups : mapping from str to features, optional
        Names of groups, and the features in each, by name or by number from 1; each feature alone unless given.
    metric : str, default "ndcg@10"
        The metric to measure, with or without a convention.
    valid : RankingDataset, optional
        What early stopping looks at in each training.
    seed : int, default 0
        The seed of the intervals and of the tests.
    threads : int, optional
        The number of threads to measure with; every core unless given.

    Returns
    -------
    Ablation
        For each group the difference in the metric, its interval, and a paired randomisation test.

    Examples
    --------
    >>> import rankwright as rw
    >>> train, test = rw.synthetic.web_search(n_queries=30, seed=0).split(valid=0.3)
    >>> first = train.names[:3]
    >>> found = rw.ablation(rw.LinearRegression(), train, test, {"first": first})
    >>> list(found.tests)
    ['first']
    """
    if isinstance(ranker, type) or not hasattr(ranker, "get_params"):
        raise InputTypeError(f"ranker must be a ranker such as LambdaMART(), got {type(ranker).__name__}")
    for name, data in {"train": train, "test": test, **({} if valid is None else {"valid": valid})}.items():
        require_type(data, RankingDataset, name, "a RankingDataset")
    require_type({} if groups is None else groups, Mapping, "groups", "a mapping of names to lists of features")
    for name, own in (groups or {}).items():
        require_type(own, (list, tuple), f"group {name!r}", "a list of names of features")
    given = groups or {name: (name,) for name in train.names}
    columns = {name: feature_columns(own, train.names) for name, own in given.items()}
    named = {name: tuple(train.names[column] for column in own) for name, own in columns.items()}
    measure = parse_metric(metric)
    every = np.arange(train.n_features)
    left = {name: np.setdiff1d(every, own) for name, own in columns.items()}
    empty = [name for name, kept in left.items() if len(kept) == 0]
    if empty:
        raise SettingError(f"without the group {empty[0]!r} there is no feature to train on")

    def measured(kept: IntArray) -> MetricResult:
        fresh = type(ranker)(**ranker.get_params(deep=False))
        parts = [None if data is None else _with_columns(data, kept) for data in (train, valid, test)]
        fresh.fit(parts[0], valid=parts[1])
        return evaluate(fresh.predict(parts[2]), test, [metric], threads=threads, seed=seed)[measure.metric.name]

    announce("training with all features", 0, len(named) + 1, unit="rankers")
    whole = measured(every)
    tests = {}
    for number, (name, kept) in enumerate(left.items(), start=1):
        announce(f"training without {name}", number, len(named) + 1, unit="rankers")
        tests[name] = paired_test(whole, measured(kept))
    return Ablation(whole.measure.name, whole.mean, named, tests)


def _with_columns(data: RankingDataset, kept: IntArray) -> RankingDataset:
    names = tuple(data.names[feature] for feature in kept.tolist())
    categories = {name: own for name, own in (data.categories or {}).items() if name in names} or None
    return data.with_features(np.ascontiguousarray(data.features[:, kept]), names, categories)
