"""How much each feature matters to a ranker, by several counts, each with an interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import frame_of
from rankwright.data.groups import Groups
from rankwright.errors import InputError, UnknownNameError, require_type
from rankwright.explanations.contributions import Question
from rankwright.metrics.confidence_intervals import bootstrap_interval
from rankwright.rankers.explaining import names_of
from rankwright.rankers.permutation import permutation_importance
from rankwright.rankers.plots import draw_importances
from rankwright.rankers.ranker import Ranker
from rankwright.tables.axes import axes_or_new
from rankwright.tables.text import ShownTable

CONTRIBUTION, PERMUTATION = "contribution", "permutation"
RESAMPLES = 1000
DOCUMENTS_AT_A_TIME = 8192
HALF_WIDTH = 1.96  # standard errors to each side of a mean


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FeatureImportance:
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

    def to_frame(self) -> Any:
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

    def plot(self, ax: Any = None, *, top: int = 20) -> Any:
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

    def __repr__(self) -> str:
        return self.table().text(80)

    def _repr_html_(self) -> str:
        return self.table().html()


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
    if trained.model.needs_queries:
        raise InputError(f"{ranker.name} compares documents: count importance by permutation")
    data = ranker.trained_.aligned(data)
    question, parts = Question(cover, None, threads), []
    for queries in _batches(data.groups):
        some = data.take_queries(queries)
        values = trained.contributions(some, question).values
        parts.append(np.add.reduceat(np.abs(values - some.groups.means(values)), some.groups.offsets[:-1], axis=0)
                     / some.groups.sizes[:, None])  # fmt: skip
    by_query = np.concatenate(parts)
    ends = [
        bootstrap_interval(
            np.ascontiguousarray(by_query[:, feature]),
            np.ones(len(by_query)),
            resamples=RESAMPLES,
            seed=seed,
            threads=threads,
        )
        for feature in range(data.n_features)
    ]
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
    names = tuple(ranker.trained().feature_names) or tuple(f"f{number}" for number in range(len(values)))
    low = high = np.full(len(values), np.nan)
    by_tree = ranker.model_.importances_of_steps(kind)
    if by_tree is not None and len(by_tree) > 1:
        error = HALF_WIDTH * by_tree.std(axis=0, ddof=1) * np.sqrt(len(by_tree))
        low, high = np.maximum(values - error, 0), values + error
    return FeatureImportance(kind, f"What the {ranker.name} model tells of its features", names, values, low, high)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
