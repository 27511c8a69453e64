"""Scoring while it is watched: how long each model takes, for how many documents, and how far these have moved."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from rankwright.arrays import Float32Array, Float64Array
from rankwright.serve.drift_watch import DriftWatch
from rankwright.serve.models import ModelShelf, ServedModel
from rankwright.web.metrics import MetricBoard


class WatchedScoring:
    """Scores of the models of a shelf, with metrics by model."""

    def __init__(self, shelf: ModelShelf, board: MetricBoard) -> None:
        self.drift, self._board = DriftWatch(shelf, board), board
        labels = {model.name: (("model", model.name),) for model in shelf}
        self._seconds = {
            name: board.histogram("rankwright_scoring_seconds", "Time that a model took for a request.", label)
            for name, label in labels.items()
        }
        self._documents = {
            name: board.counter("rankwright_scored_documents_total", "Documents that a model scored.", label)
            for name, label in labels.items()
        }

    def scores(self, model: ServedModel, features: Float32Array) -> Float64Array:
        """A score for each document of one query, of which there may be none."""
        if not len(features):
            return np.empty(0)
        scores = self.timed(model, len(features), lambda: model.scores(features))
        self.drift.scored(model, features, scores)
        return scores

    def timed(self, model: ServedModel, n_documents: int, scored: Callable[[], Float64Array]) -> Float64Array:
        """What a call gives that scores documents for a model."""
        started = perf_counter()
        scores = scored()
        self._seconds[model.name].observe(perf_counter() - started)
        self._board.add(self._documents[model.name], n_documents)
        return scores
