"""Small models on trial: their size, speed and quality against the model they replace, and which of them is chosen."""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankwright.compression.distillation import taught
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, SettingError, require
from rankwright.metrics.evaluation import MetricResult, evaluate
from rankwright.metrics.metric_table import parse_metric
from rankwright.metrics.significance import standard_error
from rankwright.rankers.ranker import Ranker
from rankwright.trees.forests.forest import Forest

DEFAULT_MAX_LOSS = 0.002
DEFAULT_MARGIN = 1.0  # standard errors


@dataclass(frozen=True, slots=True)
class Point:
    """A model on the curve: how large and how fast it is, and how good on queries it was not fitted to."""

    means: str  # how it was made; "none" is the given model
    trees: int | None  # None: it is a net
    nodes: int | None
    weights: int | None  # of a net
    bytes: int  # of the model file
    microseconds: float  # to score a document, with one thread
    valid: float  # the metric on the validation part
    test: float  # the metric on the test part, which no choice uses
    loss: float  # by how much it is worse than the given model on the validation part, in units of the metric
    loss_error: float = 0.0  # the standard error of the loss, over queries

    def to_dict(self) -> dict[str, Any]:
        """The point as it is written to JSON and CSV."""
        return asdict(self)

    def cells(self) -> list[str]:
        """The point as a row of a table that people read."""
        return [
            self.means,
            *("-" if count is None else f"{count:,}" for count in (self.trees, self.bytes)),
            f"{self.microseconds:.2f}",
            f"{self.valid:.4f}",
            f"{self.loss:+.4f} ± {self.loss_error:.4f}",
            f"{self.test:.4f}",
        ]


@dataclass(frozen=True, slots=True)
class Goal:
    """How good or how small a model must be; only one of the three is given. Without any, the loss may be 0.002.

    With `max_loss`, the smallest file is taken whose loss on the validation part plus `margin` standard errors is at
    most `max_loss`: where queries are few, a model must be safer. With a target, the model taken is the best one on the
    validation part within the target.
    """

    max_loss: float | None = None
    target_trees: int | None = None
    target_bytes: int | None = None
    margin: float = DEFAULT_MARGIN

    def __post_init__(self) -> None:
        given = [value for value in (self.max_loss, self.target_trees, self.target_bytes) if value is not None]
        require(len(given) <= 1, "max_loss, target_trees and target_bytes are three goals: give one")
        if not given:
            object.__setattr__(self, "max_loss", DEFAULT_MAX_LOSS)
        require(self.max_loss is None or self.max_loss >= 0, f"max_loss must be 0 or more, got {self.max_loss}")
        require(self.margin >= 0, f"margin must be 0 or more, got {self.margin}")
        for name in ("target_trees", "target_bytes"):
            value = getattr(self, name)
            require(value is None or value >= 1, f"{name} must be 1 or more, got {value}")

    def allows(self, point: Point) -> bool:
        """Whether the model is as small, or as good, as the goal asks."""
        if self.max_loss is not None:
            return point.loss + self.margin * point.loss_error <= self.max_loss
        if self.target_trees is not None:
            return point.trees is not None and point.trees <= self.target_trees
        return self.target_bytes is not None and point.bytes <= self.target_bytes

    def is_reached(self, point: Point) -> bool:
        """Whether models larger than this one need not be tried."""
        if self.max_loss is not None:
            return self.allows(point)
        if self.target_trees is not None:
            return point.trees is not None and point.trees >= self.target_trees
        return self.target_bytes is not None and point.bytes >= self.target_bytes

    def chosen(self, points: Sequence[Point]) -> int:
        """The index of the model to take; among equals the first."""
        allowed = [place for place, point in enumerate(points) if self.allows(point)]
        if not allowed:
            raise SettingError(f"{self.name} cannot be met: {self._nearest(points)}")
        if self.max_loss is not None:
            return min(allowed, key=lambda place: points[place].bytes)
        return min(allowed, key=lambda place: (points[place].loss, points[place].bytes))

    @property
    def name(self) -> str:
        """The goal in words."""
        if self.max_loss is not None:
            return f"a loss of at most {self.max_loss:g}"
        return f"at most {self.target_trees} trees" if self.target_bytes is None else f"{self.target_bytes} bytes"

    def _nearest(self, points: Sequence[Point]) -> str:
        if self.target_trees is not None:
            fewest = min(point.trees for point in points if point.trees is not None)
            return f"the smallest model found has {fewest} trees"
        return f"the smallest model found takes {min(point.bytes for point in points)} bytes"


TIMED_DOCS = 2000
TIMED_REPEATS = 9


@dataclass(eq=False)
class ModelTrial:
    """The given model, and the parts of the data on which small models are compared with it."""

    model: Any  # a ranker made of trees, which has `forest_` and `with_forest`, or a blend, which has the latter
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
        known = smaller.trained_.with_texts_of(self.model.trained_)
        smaller.trained_ = replace(known, compressed_from=self.note(means))
        return smaller

    def note(self, means: str) -> dict[str, Any]:
        """The note in the file of a small model on the model that it replaces."""
        forest: Forest | None = getattr(self.model, "forest_", None)
        return {
            "ranker": self.model.name,
            "trees": None if forest is None else forest.n_trees,
            "nodes": None if forest is None else len(forest.feature),
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
            weights=None if forest is not None else ranker.facts().get("weights"),
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
        # The first queries that have so many documents or more together.
        n_queries = int(np.searchsorted(self.valid.groups.offsets[1:], TIMED_DOCS)) + 1
        documents = self.valid.take_queries(np.arange(min(n_queries, self.valid.n_queries)))
        seconds = []
        for _ in range(TIMED_REPEATS):
            start = time.perf_counter()
            alone.predict(documents)
            seconds.append(time.perf_counter() - start)
        return 1e6 * min(seconds) / max(documents.n_docs, 1)


def made_of_trees(model: Ranker) -> Any:
    """The model, after a check that it is made of trees that can be replaced by others, or a blend."""
    if not hasattr(model, "with_forest") or not hasattr(model, "trained_"):
        what = getattr(model, "name", type(model).__name__)
        raise InputError(f"only a trained model made of trees, or a blend, can be compressed; this {what} is neither")
    return model
