"""How much a ranker relies on each feature: what a metric loses when the feature's values are shuffled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray, seed_number
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.tabular import Tabular
from rankwright.errors import InputError, require, require_type
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists
from rankwright.metrics.metric_table import Measure, parse_metric
from rankwright.progress.stages import announce
from rankwright.rankers.ranker import Ranker
from rankwright.tables.text import ShownTable

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
    if not isinstance(data, RankingDataset):
        raise InputError(f"data must be a RankingDataset, got {type(data).__name__}")
    require_type(ranker, Ranker, "ranker", "a trained ranker")
    measure = parse_metric(metric)
    ranker.warn_if_seen(data)
    shuffled = replace(data, features=data.features.copy())  # shares the copy, which is changed column by column
    baseline = _mean(measure, ranker, shuffled, threads)
    if np.isnan(baseline):
        raise InputError(f"no query of the data counts for {measure.name}")
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
