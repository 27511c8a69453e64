"""What rankers share that climb a metric with a weighted sum of features: the lists it is measured on, and a recipe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray, thread_count
from rankwright.boosters.model import WeightedSumModel
from rankwright.boosters.settings import ClimbingSettings
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.preferences import tells_apart
from rankwright.errors import InputError, require
from rankwright.features.missing import without_missing
from rankwright.metrics.metric_table import Measure, parse_metric
from rankwright.rankers.model import Model
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.recipe import LessonRecipe, PreparedData, watched_lesson
from rankwright.rankers.trained import TrainedRanker
from rankwright.rankers.views import View
from rankwright.ranking.order import Ranking, Ties, rank_checked
from rankwright.training.driver import NEEDS_VALIDATION, Learned, Learner, Lesson


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredLists:
    """The judged documents of the queries in which order matters, and the metric that measures orders.

    Values lie from 0 to 1 and more is better; for a metric where less is better, they are 1 minus the metric. Documents
    with equal scores count as if in random order, whatever the convention says: data may come sorted by labels, and a
    constant column must not look like a good one.
    """

    measure: Measure
    rows: IntArray  # of the dataset; other arrays here follow this order
    labels: Float32Array
    groups: Groups
    weights: Float64Array  # one for each query, 1 on average
    queries: IntArray  # of the dataset

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return self.groups.n_queries

    def of_scores(self, scores: Float64Array, *, threads: int = 1) -> Float64Array:
        """The value of each query, given a score for each of `rows`."""
        ranking = replace(rank_checked(scores, self.groups, None, threads), ties=Ties.AVERAGED)
        return self.of_ranking(ranking, self.labels, threads=threads)

    def of_ranking(self, ranking: Ranking, labels: Float32Array, *, threads: int = 1) -> Float64Array:
        """The value of each list of a ranking, averaged over the orders of ties; its documents have these labels."""
        values = self.measure.metric.per_query(ranking, labels, self.measure.convention, threads)
        values = np.nan_to_num(values, nan=0.0)  # NaN: queries that the convention leaves out
        return values if self.measure.higher_is_better else 1.0 - values


def measured_lists(data: RankingDataset, metric: str, *, name: str) -> MeasuredLists:
    """The lists of `data` that the ranker of that name climbs `metric` on.

    Unjudged documents are left out, and then queries whose documents all have the same label. Metrics weigh queries,
    not documents: a query counts its own weight times the mean weight of its documents.
    """
    if data.labels is None or data.preferences is not None:
        raise InputError(f"{name} climbs {metric}, which needs labels: give y, and no preferences")
    measure = parse_metric(metric)
    require(not measure.metric.name.startswith("dcg"), f"{name} needs a metric between 0 and 1, got {metric}: use ndcg")
    measure = Measure(measure.metric, replace(measure.convention, ties=Ties.AVERAGED))
    judged = np.flatnonzero(~np.isnan(data.labels))
    query_of_row = data.groups.query_of_row
    weights = np.ones(data.n_queries) if data.query_weights is None else data.query_weights.astype(np.float64)
    if data.document_weights is not None:
        sums = np.bincount(query_of_row, data.document_weights.astype(np.float64), data.n_queries)
        weights = weights * sums / np.maximum(data.groups.sizes, 1)
    queries = np.flatnonzero(tells_apart(data.labels, data.groups) & (weights > 0))
    rows = judged[np.isin(query_of_row[judged], queries)]
    kept = weights[queries]
    return MeasuredLists(
        measure=measure,
        rows=rows,
        labels=data.labels[rows],
        groups=Groups.of_sizes(np.bincount(query_of_row[rows], minlength=data.n_queries)[queries]),
        weights=kept / kept.mean() if len(kept) else kept,
        queries=queries,
    )


@dataclass(frozen=True, slots=True)
class ClimbingRecipe(LessonRecipe):
    """Weights found round after round by a metric: `learner(features, lists, settings, threads)`, nothing missing."""

    learner: Callable[[Float32Array, MeasuredLists, Any, int], Learner]

    def lesson(self, prepared: PreparedData, settings: Any) -> Lesson:
        """The lesson that climbs; training documents are watched where there are no others."""
        data, valid, threads = prepared.data, prepared.valid, thread_count(settings.threads)
        require(valid is not None or getattr(settings, "early_stopping", None) is None, NEEDS_VALIDATION)
        known = without_missing(data)
        lists = measured_lists(data, settings.metric, name=settings.name)
        learner = self.learner(known.features, lists, settings, threads)
        watched = known if valid is None else without_missing(valid)

        def model_of(weights: Float64Array, n_rounds: int) -> WeightedSumModel:
            model: WeightedSumModel = settings.model_kind.of_weights(weights, n_rounds, data.n_features, settings)
            return model

        def current_scores() -> Float64Array:
            return model_of(learner.model()["weights"], 0).scores(watched, threads=threads)

        def learned_model(learned: Learned) -> WeightedSumModel:
            return model_of(learned.model["weights"], learned.n_steps)

        return watched_lesson(settings, learner, learned_model, data, watched, prepared.parts, current_scores)


def _weights_of(trained: TrainedRanker) -> Float64Array:
    assert isinstance(trained.model, WeightedSumModel)
    return trained.model.weights


class WeightedSumRanker(Ranker, ClimbingSettings):
    """A ranker whose model has a weight for each feature, and maybe others.

    `weights_` are those after the best round, by validation documents or, where there are none, by training ones. A
    missing value adds nothing to a score: with the scaling `zscore` it counts as the mean.
    """

    model_kind: ClassVar[type[Model]] = WeightedSumModel
    takes_propensities: ClassVar[bool] = False
    weights_ = View[Float64Array](_weights_of, "The weight of each feature, then those of units if there are any.")
    n_rounds_ = View[int](lambda trained: trained.model.n_steps, "How many rounds the model has seen.")
