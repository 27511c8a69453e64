"""ListNet: the probability of each document to be the best of its list."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from rankwright.arrays import Float64Array, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.judged import tells_apart
from rankwright.features.missing import without_missing
from rankwright.linear.model import LinearListNet, scaled
from rankwright.linear.newton import NewtonLearner
from rankwright.linear.rows import judged_rows
from rankwright.linear.scorers import linear_scores
from rankwright.linear.top_one import TopOneCost
from rankwright.nets.gradient_net import GradientNet
from rankwright.nets.settings import ListNetSettings
from rankwright.objectives.listwise import Softmax
from rankwright.objectives.objective import Objective
from rankwright.rankers.model import Model
from rankwright.training.digest import digests_of
from rankwright.training.driver import Learned, Lesson
from rankwright.trees.debiased import DebiasedRanker


class ListNet(DebiasedRanker, GradientNet, ListNetSettings):
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

    @property
    def model_kind(self) -> type[Model]:
        """The kind of model: linear without hidden layers, else a net."""
        return super().model_kind if len(self.hidden) else LinearListNet

    @property
    def importance_kinds(self) -> tuple[str, ...]:
        """The kinds of importance that `importances` can be asked for."""
        return ("weight",)

    def importances(self, kind: str | None = None) -> Float64Array:
        """Tell the size of each feature's weight, 0 for all where the model is a net; see `Ranker.importances`."""
        if self.weights_ is None and kind in (None, "weight"):
            return np.zeros(self.n_features_in_)
        return super().importances(kind)

    @property
    def weights_(self) -> Float64Array | None:
        """The weight of each feature of the linear model; None for a net."""
        return self.model_.weights if isinstance(self.model_, LinearListNet) else None

    def _objective(self) -> Objective:
        return Softmax()

    def _training_data(self, data: RankingDataset) -> RankingDataset:
        """The lists to train on: those with different labels, or all if `flat_lists` or if there are no such lists."""
        if data.labels is None:
            return data
        labelled = replace(data, labels=data.labels * np.float32(self.label_scale))
        differing = tells_apart(data.labels, data.groups)
        if self.flat_lists or differing.all() or not differing.any():
            return labelled
        return labelled.take_queries(np.flatnonzero(differing))

    def _lesson(self, data: RankingDataset, valid: RankingDataset | None) -> Lesson:
        return super()._lesson(data, valid) if len(self.hidden) else self._linear_lesson(data, valid)

    def _linear_lesson(self, data: RankingDataset, valid: RankingDataset | None) -> Lesson:
        threads = thread_count(self.threads)
        rows = judged_rows(scaled(self._training_data(data), self.scaling_, threads), self.name)
        learner = NewtonLearner(rows.features, TopOneCost(rows, threads=threads), l2=self.weight_decay, threads=threads)
        watched = None if valid is None else without_missing(scaled(valid, self.scaling_, threads))

        def current_scores() -> Float64Array:
            assert watched is not None
            return linear_scores(watched.features, learner.weights, threads=threads)

        def model_of(learned: Learned) -> LinearListNet:
            return LinearListNet(learned.model["weights"], learned.n_steps, self.scaling_)

        return Lesson(
            learner=learner,
            model=model_of,
            watch=self._watch(watched, current_scores),
            digests=partial(digests_of, data, watched),
        )

    def _scores(self, data: RankingDataset) -> Float64Array:
        if isinstance(self.model_, LinearListNet):
            return self.model_.scores(data, threads=thread_count(self.threads))
        return super()._scores(data)
