"""How much each feature matters to a ranker, by several counts, each with an interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray, seed_number, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.feature_names import numbered_names
from rankwright.data.frames import PandasFrame, Tabular, frame_of
from rankwright.data.groups import Groups
from rankwright.errors import InputError, UnknownNameError, require, require_input, require_type
from rankwright.explanations.contributions import Question, centred
from rankwright.explanations.explanation import PrintedTable
from rankwright.metrics.confidence_intervals import bootstrap_interval
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists
from rankwright.metrics.metric_table import Measure, parse_metric
from rankwright.progress.stages import announce
from rankwright.rankers.explaining import names_of
from rankwright.rankers.plots import draw_importances
from rankwright.rankers.ranker import Ranker
from rankwright.tables.axes import Axes, axes_or_new
from rankwright.tables.text import ShownTable

CONTRIBUTION, PERMUTATION = "contribution", "permutation"
RESAMPLES = 1000
DOCUMENTS_AT_A_TIME = 8192
HALF_WIDTH = 1.96  # standard errors to each side of a mean


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FeatureImportance(PrintedTable):
    """How much each feature matters, by one count.

    Attributes
    ----------
    kind : str
        What was counted.
    meaning : str
        A sentence about it.
    features : tuple of str
        What the features are called.
    values, low, high : array of float64
        The importance of each feature and the ends of its 95 % interval, which are NaN where the model alone tells it.
    """

    kind: str
    meaning: str
    features: tuple[str, ...]
    values: Float64Array
    low: Float64Array
    high: Float64Array

    def ordered(self) -> IntArray:
        """Order the features by importance.

        Returns
        -------
        array of int64
            Their numbers from 0, the most important first.
        """
        return np.argsort(-self.values, kind="stable")

    def to_frame(self) -> PandasFrame:
        """Return a frame with a row for each feature, the most important first.

        Returns
        -------
        pandas or polars DataFrame
            Columns feature, importance, low and high.
        """
        order = self.ordered()
        columns: dict[str, Any] = {"feature": [self.features[feature] for feature in order.tolist()]}
        return frame_of(columns | {"importance": self.values[order], "low": self.low[order], "high": self.high[order]})

    def to_dict(self) -> dict[str, Any]:
        """Return the importances as a dictionary for JSON.

        Returns
        -------
        dict
            The kind, its meaning, and the features, the most important first.
        """
        features = [
            {
                "feature": self.features[feature],
                "importance": float(self.values[feature]),
                "low": _number(self.low[feature]),
                "high": _number(self.high[feature]),
            }
            for feature in self.ordered().tolist()
        ]
        return {"kind": self.kind, "meaning": self.meaning, "features": features}

    def table(self, top: int = 20) -> ShownTable:
        """Make the table that is printed.

        Parameters
        ----------
        top : int, default 20
            How many features to show.

        Returns
        -------
        ShownTable
            The features, the most important first.
        """
        chosen = [feature for feature in self.ordered().tolist() if self.values[feature] != 0][:top]
        told = not np.isnan(self.low[chosen]).all()
        rows = [
            [self.features[feature], f"{self.values[feature]:.4g}",
             *([f"{self.low[feature]:.4g} to {self.high[feature]:.4g}"] if told else [])]
            for feature in chosen
        ]  # fmt: skip
        names = ["feature", self.kind, *(["95 % interval"] if told else [])]
        left = int(np.count_nonzero(self.values)) - len(rows)
        notes = [f"… and {left} more features"] if left > 0 else []
        return ShownTable(self.meaning, names, rows, numbers=names[1:], notes=notes)

    def plot(self, ax: Axes | None = None, *, top: int = 20) -> Axes:
        """Draw the most important features as bars.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.
        top : int, default 20
            How many features to draw.

        Returns
        -------
        matplotlib Axes
            What was drawn on.
        """
        axes = axes_or_new(ax)
        draw_importances(axes, self.features, self.values, self.kind, top)
        return axes


def feature_importance(
    ranker: Ranker,
    data: RankingDataset | None = None,
    kind: str = CONTRIBUTION,
    *,
    metric: str = "ndcg@10",
    cover: str | None = None,
    repeats: int = 5,
    seed: int = 0,
    threads: int | None = None,
) -> FeatureImportance:
    """Tell how much each feature matters, with intervals.

    Parameters
    ----------
    ranker : Ranker
        A trained ranker.
    data : RankingDataset, optional
        Documents to count on; `contribution` and `permutation` need them, the latter with labels.
    kind : str, default "contribution"
        `contribution` is the mean size of what the feature adds to scores, less its mean over each query: how far it
        moves documents past each other. `permutation` is what a metric loses when the feature is shuffled. The model's
        own kinds, such as `gain` and `count` of forests and `weight` of weighted sums, need no documents.
    metric : str, default "ndcg@10"
        The metric of `permutation`.
    cover : str, optional
        As for `Ranker.explain`.
    repeats : int, default 5
        How many times `permutation` shuffles each feature.
    seed : int, default 0
        The seed of shuffles and of the bootstrap.
    threads : int, optional
        The number of threads; every core unless given.

    Returns
    -------
    FeatureImportance
        Intervals are over queries for `contribution`, over shuffles for `permutation` and over trees for `gain` and
        `count`.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=20, seed=0)
    >>> ranker = rw.LambdaMART(n_trees=5, threads=1).fit(data)
    >>> found = rw.feature_importance(ranker, data)
    >>> found.kind, len(found.values) == data.n_features
    ('contribution', True)
    """
    require_type(ranker, Ranker, "ranker", "a trained ranker")
    require_type(kind, str, "kind", "a text")
    kinds = (CONTRIBUTION, PERMUTATION, *ranker.importance_kinds)
    if kind not in kinds:
        raise UnknownNameError(f"importance of {ranker.name}", kind, known=kinds)
    if kind in ranker.importance_kinds:
        return _of_model(ranker, kind)
    if data is None:
        raise InputError(f"importance by {kind} is counted on documents: give data")
    require_type(data, RankingDataset, "data", "a RankingDataset")
    if kind == CONTRIBUTION:
        return _by_contribution(ranker, data, cover, seed, thread_count(threads))
    found = permutation_importance(ranker, data, metric, repeats=repeats, seed=seed, threads=threads)
    error = HALF_WIDTH * found.drops.std(axis=1, ddof=1) / np.sqrt(repeats) if repeats > 1 else np.nan
    meaning = f"What {found.metric} loses when a feature is shuffled (it is {found.baseline:.4f})"
    return FeatureImportance(kind, meaning, found.feature_names, found.mean, found.mean - error, found.mean + error)


def _by_contribution(
    ranker: Ranker, data: RankingDataset, cover: str | None, seed: int, threads: int
) -> FeatureImportance:
    trained = ranker.trained()
    require_input(not trained.model.needs_queries, f"{ranker.name} compares documents: count importance by permutation")
    data = ranker.trained_.aligned(data)
    question, parts = Question(cover, None, threads), []
    for queries in _batches(data.groups):
        some = data.take_queries(queries)
        values = trained.contributions(some, question).values
        moves = np.abs(centred(values, some.groups))
        parts.append(np.add.reduceat(moves, some.groups.offsets[:-1], axis=0) / some.groups.sizes[:, None])
    by_query = np.concatenate(parts)
    weights, drawn = np.ones(len(by_query)), {"resamples": RESAMPLES, "seed": seed, "threads": threads}
    ends = [bootstrap_interval(values, weights, **drawn) for values in np.ascontiguousarray(by_query.T)]
    meaning = f"How far features move the documents of a query past each other, over {len(by_query)} queries"
    low, high = (np.array(column) for column in zip(*ends, strict=True))
    return FeatureImportance(CONTRIBUTION, meaning, names_of(trained, data), by_query.mean(axis=0), low, high)


def _batches(groups: Groups) -> Iterator[IntArray]:
    """Runs of neighbouring queries, each with about as many documents as are explained at a time."""
    batch = groups.offsets[:-1] // DOCUMENTS_AT_A_TIME
    for number in np.unique(batch[groups.sizes > 0]):
        yield np.flatnonzero((batch == number) & (groups.sizes > 0))


def _of_model(ranker: Ranker, kind: str) -> FeatureImportance:
    values = ranker.importances(kind)
    names = tuple(ranker.trained().feature_names) or numbered_names(len(values))
    low = high = np.full(len(values), np.nan)
    by_tree = ranker.model_.importances_of_steps(kind)
    if by_tree is not None and len(by_tree) > 1:
        error = HALF_WIDTH * by_tree.std(axis=0, ddof=1) * np.sqrt(len(by_tree))
        low, high = np.maximum(values - error, 0), values + error
    return FeatureImportance(kind, f"What the {ranker.name} model tells of its features", names, values, low, high)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


SHOWN = 20  # features, the most important ones


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PermutationImportance(Tabular):
    """By how much a metric got worse with each feature shuffled; below 0 where it got better.

    Attributes
    ----------
    metric : str
        The metric that was measured.
    baseline : float
        Its mean with nothing shuffled.
    drops : array of float64
        What it lost, with one row per feature and one column per repeat.
    feature_names : tuple of str
        What the features are called.
    """

    metric: str
    baseline: float
    drops: Float64Array
    feature_names: tuple[str, ...]

    @property
    def mean(self) -> Float64Array:
        """The mean drop of each feature."""
        return np.asarray(self.drops.mean(axis=1))

    @property
    def spread(self) -> Float64Array:
        """The standard deviation of each feature's drops over the repeats."""
        return np.asarray(self.drops.std(axis=1))

    def ordered(self) -> IntArray:
        """Order the features by importance.

        Returns
        -------
        array of int64
            Their numbers from 0, the most important first.
        """
        return np.argsort(-self.mean, kind="stable")

    def shown(self) -> ShownTable:
        """Return the importances as a table that people read.

        Returns
        -------
        ShownTable
            The most important features, with the mean drop of each and its spread.
        """
        found = self.columns()
        rows = [
            [feature, f"{mean:+.4f}", f"{spread:.4f}"]
            for feature, mean, spread in list(zip(*found.values(), strict=True))[:SHOWN]
        ]
        more = len(self.feature_names) - len(rows)
        title = f"{self.metric} {self.baseline:.4f}; what it loses with a feature shuffled"
        return ShownTable(title, list(found), rows, ["mean", "spread"], [f"and {more} more"] if more else [])

    def columns(self) -> dict[str, list[Any]]:
        """Return the importances as columns, the most important feature first.

        Returns
        -------
        dict
            The features, and the mean and the spread of what the metric loses.
        """
        features = self.to_dict()["features"]
        return {name: [one[name] for one in features] for name in ("feature", "mean", "spread")}

    def to_dict(self) -> dict[str, Any]:
        """Return the importances as a dictionary for JSON.

        Returns
        -------
        dict
            The metric, its baseline, and the features, the most important first.
        """
        mean, spread = self.mean.tolist(), self.spread.tolist()
        features = [
            {"feature": self.feature_names[number], "mean": mean[number], "spread": spread[number]}
            for number in self.ordered().tolist()
        ]
        return {"metric": self.metric, "baseline": self.baseline, "repeats": self.drops.shape[1], "features": features}


def permutation_importance(
    ranker: Ranker,
    data: RankingDataset,
    metric: str = "ndcg@10",
    *,
    repeats: int = 5,
    within_queries: bool = False,
    seed: int = 0,
    threads: int | None = None,
) -> PermutationImportance:
    """Measure how much a ranker relies on each feature: what a metric loses when the feature's values change places.

    Shuffles depend on the seed, the feature and the repeat alone. A feature the ranker does not look at costs no time:
    its drop is 0.

    Parameters
    ----------
    ranker : Ranker
        A trained ranker.
    data : RankingDataset
        Judged documents, preferably of queries that the ranker was not trained on.
    metric : str, default "ndcg@10"
        The metric to look at, with or without a convention.
    repeats : int, default 5
        How many times each feature is shuffled; more make the mean steadier.
    within_queries : bool, default False
        False moves values among all documents, so that what a feature tells about a whole query is lost as well; True
        keeps them in their query, and only what tells its documents apart is lost.
    seed : int, default 0
        The seed of the shuffles.
    threads : int, optional
        How many threads to measure with; every core unless given.

    Returns
    -------
    PermutationImportance
        The drop of each feature in each repeat.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=30, seed=0)
    >>> train, test = data.split(valid=0.5)
    >>> ranker = rw.LambdaMART(n_trees=5, max_leaves=4).fit(train)
    >>> found = rw.permutation_importance(ranker, test, repeats=2)
    >>> bool(found.mean[found.ordered()[0]] > 0)
    True
    """
    require(repeats >= 1, f"repeats must be 1 or more, got {repeats}")
    require_type(data, RankingDataset, "data", "a RankingDataset")
    require_type(ranker, Ranker, "ranker", "a trained ranker")
    measure = parse_metric(metric)
    ranker.warn_if_seen(data)
    shuffled = replace(data, features=data.features.copy())  # shares the copy, which is changed column by column
    baseline = _mean(measure, ranker, shuffled, threads)
    require_input(not np.isnan(baseline), f"no query of the data counts for {measure.name}")
    sign = 1 if measure.higher_is_better else -1
    drops = np.zeros((data.n_features, repeats))
    used = np.flatnonzero(ranker.used_features()).tolist()
    for place, feature in enumerate(used):
        announce("shuffling features", place, len(used), unit="features")
        column = data.features[:, feature]
        for repeat in range(repeats):
            rng = np.random.default_rng([seed_number(seed), feature, repeat])
            shuffled.features[:, feature] = column[_shuffle(rng, data.groups, within_queries)]
            drops[feature, repeat] = sign * (baseline - _mean(measure, ranker, shuffled, threads))
        shuffled.features[:, feature] = column
    names = tuple(getattr(ranker, "feature_names_in_", data.names))
    return PermutationImportance(measure.name, baseline, drops, names)


def _shuffle(rng: np.random.Generator, groups: Groups, within_queries: bool) -> IntArray:
    if not within_queries:
        return rng.permutation(groups.n_docs)
    query_of_row = np.repeat(np.arange(groups.n_queries), groups.sizes)
    return np.lexsort((rng.random(groups.n_docs), query_of_row))


def _mean(measure: Measure, ranker: Ranker, data: RankingDataset, threads: int | None) -> float:
    lists = ScoredLists.of_dataset(ranker.predict_from_start(data), data)
    evaluation = evaluate_lists(lists, [measure], measure.convention, threads=threads)
    return evaluation[measure.metric.name].mean
