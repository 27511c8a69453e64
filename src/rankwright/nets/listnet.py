"""ListNet: the probability of each document to be the best of its list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from rankwright.arrays import Float64Array, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import tells_apart
from rankwright.debiasing.stage import debiasing_view, plot_bias, position_ratios_view
from rankwright.errors import require
from rankwright.features.missing import without_missing
from rankwright.linear.linear_ranker import JudgedRows, judged_rows
from rankwright.linear.model import LinearListNet, linear_scores, scaled
from rankwright.linear.newton import NewtonLearner
from rankwright.nets.gradient_net import DescentRecipe, GradientNet
from rankwright.nets.model import NetModel
from rankwright.nets.settings import ListNetSettings
from rankwright.objectives.objective import Objective
from rankwright.objectives.pairless import Softmax
from rankwright.rankers.model import Model
from rankwright.rankers.recipe import LessonRecipe, PreparedData, watched_lesson
from rankwright.rankers.stages import Stage
from rankwright.training.driver import Learned, Lesson

LINEAR_DECAY = 0.01


def top_one_forces(settings: ListNetSettings) -> Objective:  # noqa: ARG001
    """The pull of each document's probability to be the best of its list."""
    return Softmax()


def lists_to_learn(settings: ListNetSettings, data: RankingDataset) -> RankingDataset:
    """The lists to train on: those with different labels, or all if `flat_lists` or if there are no such lists."""
    if data.labels is None:
        return data
    labelled = replace(data, labels=data.labels * np.float32(settings.label_scale))
    differing = tells_apart(data.labels, data.groups)
    if settings.flat_lists or differing.all() or not differing.any():
        return labelled
    return labelled.take_queries(np.flatnonzero(differing))


class TopOneCost:
    """The linear model's cost: cross entropy between the top-one probabilities that labels and that scores give.

    It is the mean over queries.
    """

    def __init__(self, rows: JudgedRows, *, threads: int) -> None:
        self.groups = rows.groups
        judged = RankingDataset(
            features=np.empty((len(rows.labels), 0), np.float32),
            labels=rows.labels,
            groups=rows.groups,
            document_weights=rows.document_weights.astype(np.float32) if len(rows.document_weights) else None,
            query_weights=rows.query_weights.astype(np.float32),
        )
        self.lambda_fn = Softmax().bind(judged, threads=threads, dtype=np.float64)
        self.scale = 1.0 / max(1, rows.groups.n_queries)
        self.query_weights = np.repeat(rows.query_weights, rows.groups.sizes)
        # The probabilities that labels give: taken from the forces at equal scores, where scores have no effect.
        uniform = self.lambda_fn(np.zeros(len(rows.labels))).gradient
        self.shares = 1.0 / np.repeat(rows.groups.sizes, rows.groups.sizes) - self._per_weight(uniform)
        self._seen: tuple[Float64Array, Float64Array] | None = None  # scores, and their probabilities

    def _per_weight(self, forces: Float64Array) -> Float64Array:
        return np.divide(forces, self.query_weights, out=np.zeros_like(forces), where=self.query_weights > 0)

    def evaluate(self, scores: Float64Array) -> tuple[float, Float64Array]:
        """The cost and its derivatives."""
        lambdas = self.lambda_fn(scores)
        return self.scale * float(lambdas.cost.sum()), self.scale * lambdas.gradient

    def curve(self, scores: Float64Array, direction: Float64Array) -> Float64Array:
        """The product of the second derivatives with `direction`: weight · (p ∘ d - p · (p·d)) for each query."""
        if self._seen is None or self._seen[0] is not scores:
            # The gradient is weight · (probability - share).
            self._seen = scores, self._per_weight(self.lambda_fn(scores).gradient) + self.shares
        probability = self._seen[1]
        along = probability * direction
        total = np.bincount(self.groups.query_of_row, weights=along, minlength=self.groups.n_queries)
        return self.scale * self.query_weights * (along - probability * np.repeat(total, self.groups.sizes))


@dataclass(frozen=True, slots=True)
class ListNetRecipe(LessonRecipe):
    """A linear model by Newton's method where there are no hidden layers; otherwise a net."""

    net: DescentRecipe

    def first_stages(self, settings: Any) -> tuple[Stage, ...]:
        """The stages that come before the usual ones."""
        return self.net.first_stages(settings)

    def lesson(self, prepared: PreparedData, settings: Any) -> Lesson:
        """The lesson of the linear model, or of the net."""
        if len(settings.hidden):
            return self.net.lesson(prepared, settings)
        is_plain = settings.encoding in (None, "none") and settings.members in (None, 1)
        require(
            is_plain, "the linear ListNet takes features as they are: set hidden, or leave out encoding and members"
        )
        threads, scaling = thread_count(settings.threads), prepared.scaling
        rows = judged_rows(scaled(lists_to_learn(settings, prepared.data), scaling, threads), settings.name)
        cost = TopOneCost(rows, threads=threads)
        l2 = LINEAR_DECAY if settings.weight_decay is None else settings.weight_decay
        learner = NewtonLearner(rows.features, cost, l2=l2, threads=threads)
        watched = None if prepared.valid is None else without_missing(scaled(prepared.valid, scaling, threads))

        def current_scores() -> Float64Array:
            assert watched is not None
            return linear_scores(watched.features, learner.weights, threads=threads)

        def model_of(learned: Learned) -> LinearListNet:
            return LinearListNet(learned.model["weights"], learned.n_steps, scaling)

        return watched_lesson(settings, learner, model_of, prepared.data, watched, prepared.parts, current_scores)


class ListNet(GradientNet, ListNetSettings):
    """The softmax of the labels times `label_scale` gives each document's probability to be the best of its list; the
    softmax of the scores should match it.

    `hidden=()` is the linear model of the paper: its cost is convex and is minimised by Newton's method with conjugate
    gradients, `epochs` steps at most; they end where the gradient is 1e-4 of the first one. Other `hidden` make a net
    of such layers, trained as RankNet is; `activation`, `learning_rate`, `dropout` and `batch_queries` are the net's
    alone.

    Attributes
    ----------
    weights_ : array of float64 or None
        The weight of each feature of the linear model; None for a net.
    n_epochs_ : int
        How many epochs, or Newton steps, the model was trained for.
    """

    recipe = ListNetRecipe(DescentRecipe(top_one_forces, lists_to_learn, debiases=True))
    takes_positions: ClassVar[bool] = True
    debiasing_, position_ratios_, plot_bias = debiasing_view, position_ratios_view, plot_bias

    @property
    def model_kind(self) -> type[Model]:  # type: ignore[override]  # the same for all of other kinds
        """The kind of model: linear without hidden layers, else a net."""
        return NetModel if len(self.hidden) else LinearListNet

    @property
    def importance_kinds(self) -> tuple[str, ...]:
        """The kinds of importance that `importances` can be asked for."""
        return ("weight",)

    def importances(self, kind: str | None = None) -> Float64Array:
        """Tell the size of each feature's weight, 0 for all where the model is a net; see `Ranker.importances`."""
        if self.weights_ is None and kind in (None, "weight"):
            return np.zeros(self.trained_.n_features)
        return super().importances(kind)

    @property
    def weights_(self) -> Float64Array | None:
        """The weight of each feature of the linear model; None for a net."""
        return self.model_.weights if isinstance(self.model_, LinearListNet) else None
