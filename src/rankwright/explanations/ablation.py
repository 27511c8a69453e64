"""What groups of features are worth: rankers trained without each, and the difference tested query by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import frame_of
from rankwright.errors import InputTypeError, SettingError, UnknownNameError, require_type
from rankwright.metrics.evaluation import MetricResult, evaluate
from rankwright.metrics.metric_table import parse_metric
from rankwright.metrics.significance import PairedTest, paired_test
from rankwright.progress.stages import announce
from rankwright.tables.text import ShownTable


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ablation:
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

    def to_frame(self) -> Any:
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

    def __repr__(self) -> str:
        return self.table().text(80)

    def _repr_html_(self) -> str:
        return self.table().html()


def ablation(
    ranker: Any,
    train: RankingDataset,
    test: RankingDataset,
    groups: Mapping[str, Sequence[str]] | None = None,
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
        Names of groups, and the names of the features in each; each feature alone unless given.
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
    named = {name: tuple(own) for name, own in (groups or {name: (name,) for name in train.names}).items()}
    measure = parse_metric(metric)
    every = np.arange(train.n_features)
    left = {name: np.setdiff1d(every, _numbers(own, train)) for name, own in named.items()}
    empty = [name for name, kept in left.items() if len(kept) == 0]
    if empty:
        raise SettingError(f"without the group {empty[0]!r} there is no feature to train on")

    def measured(kept: IntArray) -> MetricResult:
        fresh = type(ranker)(**ranker.get_params(deep=False))
        parts = [None if data is None else _with_columns(data, kept) for data in (train, valid, test)]
        fresh.fit(parts[0], valid=parts[1])
        result: MetricResult = evaluate(fresh.predict(parts[2]), test, [metric], threads=threads, seed=seed)[
            measure.metric.name
        ]
        return result

    announce("training with all features", 0, len(named) + 1, unit="rankers")
    whole = measured(every)
    tests = {}
    for number, (name, kept) in enumerate(left.items(), start=1):
        announce(f"training without {name}", number, len(named) + 1, unit="rankers")
        tests[name] = paired_test(whole, measured(kept))
    return Ablation(whole.measure.name, whole.mean, named, tests)


def _numbers(names: Sequence[str], data: RankingDataset) -> list[int]:
    for name in names:
        if name not in data.names:
            raise UnknownNameError("feature", name, known=data.names)
    return [data.names.index(name) for name in names]


def _with_columns(data: RankingDataset, kept: IntArray) -> RankingDataset:
    names = tuple(data.names[feature] for feature in kept.tolist())
    categories = {name: own for name, own in (data.categories or {}).items() if name in names} or None
    return data.with_features(np.ascontiguousarray(data.features[:, kept]), names, categories)
