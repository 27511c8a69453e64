"""Small models on trial: the model they replace, their size and speed, and their quality on held-out queries."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankwright.compression.criteria import Point
from rankwright.compression.distillation import taught
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.metrics.evaluation import MetricResult, evaluate
from rankwright.metrics.metric_table import parse_metric
from rankwright.metrics.significance import standard_error
from rankwright.rankers.ranker import Ranker
from rankwright.trees.forests.forest import Forest

TIMED_DOCS = 2000
TIMED_REPEATS = 9


@dataclass(eq=False)
class ModelTrial:
    """The given model, and the parts of the data on which small models are compared with it."""

    model: Any  # a ranker made of trees: it has `forest_` and `with_forest`
    fit: RankingDataset
    valid: RankingDataset
    test: RankingDataset
    metric: str
    synthetic: int
    seed: int
    threads: int | None

    @cached_property
    def lesson(self) -> RankingDataset:
        """The documents to fit to, real and made up, with the given model's scores as labels."""
        return taught(self.model, self.fit, synthetic=self.synthetic, seed=self.seed)

    @cached_property
    def tree_lesson(self) -> RankingDataset:
        """The same documents as the model's trees see them: scaled where the model has a scaling."""
        return replace(self.lesson, features=self.model.trained_.seen_by_model(self.lesson, self.threads).features)

    @cached_property
    def _level(self) -> float:
        return float(np.mean(self.model.predict(self.fit)))

    def small(self, means: str, forest: Forest, *, same_level: bool = False) -> Any:
        """The model with another forest; scores are shifted to the same mean, unless `same_level` says they have it."""
        base_score = None
        if not same_level:
            said = forest.predict(self.tree_lesson.features[: self.fit.n_docs], threads=self.threads)
            base_score = self._level - float(np.mean(said))
        smaller = self.model.with_forest(forest, base_score)
        smaller.trained_ = replace(smaller.trained_, compressed_from=self.note(means))
        return smaller

    def note(self, means: str) -> dict[str, Any]:
        """The note in the file of a small model on the model that it replaces."""
        forest = self.model.forest_
        return {
            "ranker": self.model.name,
            "trees": forest.n_trees,
            "nodes": len(forest.feature),
            "training_data": self.model.data_digest_,
            "means": means,
        }

    def point(self, means: str, ranker: Ranker) -> Point:
        """The ranker's point on the curve."""
        forest: Forest | None = getattr(ranker, "forest_", None)
        valid = self._measured(ranker, self.valid)
        return Point(
            means=means,
            trees=None if forest is None else forest.n_trees,
            nodes=None if forest is None else len(forest.feature),
            weights=None if forest is not None else int(ranker.facts()["weights"]),
            bytes=ranker.file_size(),
            microseconds=self._microseconds(ranker),
            valid=valid.mean,
            test=self.tested(ranker).mean,
            loss=self._sign * (self._valid_before.mean - valid.mean),
            loss_error=standard_error(self._valid_before, valid),
        )

    def tested(self, ranker: Ranker) -> MetricResult:
        """The metric on the test part."""
        return self._measured(ranker, self.test)

    @cached_property
    def _sign(self) -> float:
        return 1.0 if parse_metric(self.metric).higher_is_better else -1.0

    @cached_property
    def _valid_before(self) -> MetricResult:
        return self._measured(self.model, self.valid)

    def _measured(self, ranker: Ranker, data: RankingDataset) -> MetricResult:
        measure = parse_metric(self.metric)
        scores = ranker.predict_from_start(data)
        return evaluate(scores, data, [measure], measure.convention, threads=self.threads)[measure.metric.name]

    def _microseconds(self, ranker: Ranker) -> float:
        """The time to score a document with one thread: the best of several repeats on a sample of documents."""
        alone = copy.copy(ranker)
        alone.threads = 1
        n_queries = (
            int(np.searchsorted(self.valid.groups.offsets[1:], TIMED_DOCS)) + 1
        )  # with so many documents or more
        documents = self.valid.take_queries(np.arange(min(n_queries, self.valid.n_queries)))
        seconds = []
        for _ in range(TIMED_REPEATS):
            start = time.perf_counter()
            alone.predict(documents)
            seconds.append(time.perf_counter() - start)
        return 1e6 * min(seconds) / max(documents.n_docs, 1)


def made_of_trees(model: Ranker) -> Any:
    """The model, after a check that it is made of trees that can be replaced by others."""
    if not hasattr(model, "with_forest") or not hasattr(model, "forest_"):
        what = getattr(model, "name", type(model).__name__)
        raise InputError(f"only a trained model made of trees can be compressed; this {what} has none")
    return model
