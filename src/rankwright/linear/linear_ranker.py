"""What linear rankers share: the judged documents they learn from, a recipe for models of arrays, and their views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float32Array, Float64Array, IntArray, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError
from rankwright.features.missing import filled, without_missing
from rankwright.linear.model import ArraysModel
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.recipe import LessonRecipe, PreparedData, watched_lesson
from rankwright.rankers.trained import TrainedRanker, TrainingFindings
from rankwright.rankers.views import View
from rankwright.training.driver import Learned, Learner, Lesson

Levels = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRows:
    """Judged documents. Weights are float64, as sums of their products are; empty document weights are all 1."""

    features: Float32Array
    labels: Float32Array
    groups: Groups
    document_weights: Float64Array
    query_weights: Float64Array

    @property
    def weights(self) -> Float64Array:
        """The weight of each document times that of its query; empty where all are 1."""
        if len(self.document_weights) == 0 and (self.query_weights == 1).all():
            return self.document_weights
        of_query = np.repeat(self.query_weights, self.groups.sizes)
        return of_query * self.document_weights if len(self.document_weights) else of_query

    def by_label(self) -> IntArray:
        """Each query's rows one after another, the lowest label first."""
        return np.lexsort((self.labels, self.groups.query_of_row))

    def levels_in_query(self) -> Levels:
        """For each document, how many different labels of its query are below its own."""
        order = self.by_label()
        labels, query = self.labels[order], self.groups.query_of_row[order]
        new_query = np.concatenate([[True], query[1:] != query[:-1]])[: len(order)]
        rises = np.concatenate([[False], labels[1:] != labels[:-1]])[: len(order)] & ~new_query
        total = np.cumsum(rises)
        starts = np.maximum.accumulate(np.where(new_query, total, 0)) if len(order) else total
        levels = np.empty(len(order), np.int32)
        levels[order] = total - starts
        return levels


def judged_rows(data: RankingDataset, learner: str) -> JudgedRows:
    """The judged documents of `data`; missing features count 0, which after standardising is the mean."""
    if data.labels is None or data.preferences is not None:
        raise InputError(
            f"{learner} learns from labels, and this dataset has preferences: ranknet, lambdarank, lambdamart, "
            f"bl-mart and ranksvm learn from those"
        )
    judged = ~np.isnan(data.labels)
    weights = None if data.document_weights is None else data.document_weights.astype(np.float64)
    of_queries = np.ones(data.n_queries) if data.query_weights is None else data.query_weights.astype(np.float64)
    if weights is not None and (weights == 1).all():
        weights = None
    if judged.all():
        features, labels, groups = data.features, data.labels, data.groups
    else:
        features, labels, groups = (
            data.features[judged],
            data.labels[judged],
            Groups(np.concatenate([[0], np.cumsum(judged)])[data.groups.offsets]),
        )
        weights = None if weights is None else weights[judged]
    return JudgedRows(filled(features), labels, groups, np.empty(0) if weights is None else weights, of_queries)


def ordinal_levels(labels: Float32Array, most: int) -> tuple[Levels, Float32Array]:
    """A level from 0 for each label, and the lowest label of each level.

    Every label that occurs is a level; if there are more than `most`, neighbours share one, so that all levels have
    about the same number of documents.
    """
    values, level_of = np.unique(labels, return_inverse=True)
    if len(values) > most:
        shares = (np.cumsum(np.bincount(level_of)) - 1) / len(labels)
        cut = np.minimum((shares * most).astype(np.int64), most - 1)
        _, first, merged = np.unique(cut, return_index=True, return_inverse=True)
        values, level_of = values[first], merged[level_of]
    return level_of.astype(np.int32), values


@dataclass(frozen=True, slots=True)
class LinearRecipe(LessonRecipe):
    """Arrays that a learner finds step by step: `learner(settings, rows, threads)`.

    `on_preferences(settings, data, threads)` takes its place where the data has preferences, if there is such a way.
    """

    learner: Callable[[Any, JudgedRows, int], Learner]
    on_preferences: Callable[[Any, RankingDataset, int], Learner] | None = None
    alone: bool = False  # whether it learns from each label by itself

    def learns_alone(self, ranker: Any, found: TrainingFindings) -> bool:  # noqa: ARG002
        """Whether it learns from each label by itself; otherwise a query's documents must differ in label."""
        return self.alone

    def lesson(self, prepared: PreparedData, settings: Any) -> Lesson:
        """The lesson that finds the arrays."""
        threads, data, kind = thread_count(settings.threads), prepared.data, settings.model_kind
        if data.preferences is not None and self.on_preferences is not None:
            learner = self.on_preferences(settings, data, threads)
        else:
            learner = self.learner(settings, judged_rows(data, settings.name), threads)
        watched = None if prepared.valid is None else without_missing(prepared.valid)

        def current_scores() -> Float64Array:
            assert watched is not None
            scores: Float64Array = kind.scorer_of(settings, learner.model()).scores(watched.features, threads=threads)
            return scores

        def model_of(learned: Learned) -> ArraysModel:
            scorer = kind.scorer_of(settings, learned.model)
            model: ArraysModel = kind(scorer, learned.model, learned.n_steps, data.n_features)
            return model

        return watched_lesson(settings, learner, model_of, data, watched, prepared.parts, current_scores)


def _arrays_model(trained: TrainedRanker) -> ArraysModel:
    assert isinstance(trained.model, ArraysModel)
    return trained.model


def _weights_of(trained: TrainedRanker) -> Float64Array:
    coefficients = _arrays_model(trained).coefficients
    if coefficients is None:
        raise AttributeError(f"this {trained.ranker} is no weighted sum of features: it has no coef_")
    return coefficients


class LinearRanker(Ranker):
    """A ranker whose model is some arrays."""

    model_kind = ArraysModel
    coef_ = View[Float64Array](_weights_of, "The weight of each scaled feature; only linear models have such weights.")
    arrays_ = View[Arrays](lambda trained: _arrays_model(trained).arrays, "The arrays of the model, by name.")
    n_epochs_ = View[int](lambda trained: trained.model.n_steps, "How many steps the model was trained for.")
