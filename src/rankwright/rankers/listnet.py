"""ListNet: the probability of each document to be the best of its list."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rankwright.arrays import Float64Array, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.judged import tells_apart
from rankwright.errors import require
from rankwright.features.missing import filled, without_missing
from rankwright.linear.models import linear_scores
from rankwright.linear.newton import NewtonLearner
from rankwright.linear.rows import judged_rows
from rankwright.linear.top_one import TopOneCost
from rankwright.objectives.listwise import Softmax
from rankwright.objectives.objective import Objective
from rankwright.rankers.gradient_net import GradientNet
from rankwright.rankers.steps import learn_by_steps
from rankwright.training.digest import data_digest
from rankwright.training.loop import Listener
from rankwright.training.spaces import Choice, Real, Space


class ListNet(GradientNet):
    """A ranker trained by the cross entropy of top-one probabilities (Cao, Qin, Liu, Tsai, Li 2007).

    The probability of a document to be the best of its list is the softmax of the labels, times `label_scale`, and
    should be that of the scores. Lists whose documents all have one label ask for equal scores, not for an order: they
    take part only with `flat_lists`, which is the paper's rule.

    `hidden=()` is the linear model of the paper: its mean cost a query plus ½ · `weight_decay` · |w|² is convex and is
    minimised by Newton's method with conjugate gradients, `epochs` steps at most; they end where the gradient is 1e-4
    of the first one. Other `hidden` make a net of such layers, trained as RankNet is, where `epochs`, `weight_decay`
    (AdamW's) and the settings that the linear model has no use for, `activation`, `learning_rate`, `dropout` and
    `batch_queries`, mean what they mean there. `metric` is what early stopping and the choice of the step look at,
    unless `select` names another.
    """

    name: ClassVar[str] = "listnet"
    importance_kinds: ClassVar[tuple[str, ...]] = ("weight",)
    space: ClassVar[Space] = {"weight_decay": Real(1e-3, 1.0, log=True), "label_scale": Choice((1.0, 2.0, 4.0))}
    module = None
    mode = "default"
    optimizer = None
    device = "cpu"

    weights_: Float64Array | None  # of the linear model

    def __init__(
        self,
        *,
        hidden: Sequence[int] = (),
        label_scale: float = 1.0,
        flat_lists: bool = False,
        activation: str | None = None,
        epochs: int = 50,
        learning_rate: float | None = None,
        weight_decay: float = 0.01,
        dropout: float | None = None,
        batch_queries: int | None = None,
        early_stopping: int | None = None,
        metric: str = "ndcg@10",
        select: str | None = None,
        scaling: str | None = None,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.hidden = hidden
        self.label_scale = label_scale
        self.flat_lists = flat_lists
        self.activation = activation
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.batch_queries = batch_queries
        self.early_stopping = early_stopping
        self.metric = metric
        self.select = select
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _objective(self) -> Objective:
        return Softmax()

    def _is_linear(self) -> bool:
        return not tuple(self.hidden)

    def _learn(
        self,
        data: RankingDataset,
        valid: RankingDataset | None,
        listeners: Sequence[Listener],
        checkpoint: str | os.PathLike[str] | None,
    ) -> None:
        require(0 < self.label_scale < np.inf, f"label_scale must be above 0, got {self.label_scale}")
        lists = self._lists_of(data)
        if not self._is_linear():
            self.weights_ = None
            super()._learn(lists, valid, listeners, checkpoint)
            self.data_digest_ = data_digest(data)
            return
        require(self.weight_decay >= 0, f"weight_decay must be 0 or more, got {self.weight_decay}")
        threads = thread_count(self.threads)
        rows = judged_rows(self._linear_inputs(lists), self.name)
        learner = NewtonLearner(rows.features, TopOneCost(rows, threads=threads), l2=self.weight_decay, threads=threads)
        learned = learn_by_steps(
            self,
            learner,
            data,
            None if valid is None else without_missing(self._linear_inputs(valid)),
            lambda watched: linear_scores(watched.features, learner.weights, threads=threads),
            listeners,
            checkpoint,
        )
        self.weights_, self.n_epochs_ = learned.model["weights"], learned.n_steps

    def _lists_of(self, data: RankingDataset) -> RankingDataset:
        """What is learned from: the lists that may take part, all of them where none tells documents apart."""
        if data.labels is None:
            return data
        scaled = replace(data, labels=data.labels * np.float32(self.label_scale))
        taught = tells_apart(data.labels, data.groups)
        if self.flat_lists or taught.all() or not taught.any():
            return scaled
        return scaled.take_queries(np.flatnonzero(taught))

    def _linear_inputs(self, data: RankingDataset) -> RankingDataset:
        return data if self.scaling_ is None else self.scaling_.apply(data, threads=self.threads)

    def _scores(self, data: RankingDataset) -> Float64Array:
        if self.weights_ is None:
            return super()._scores(data)
        features = filled(self._linear_inputs(data).features)
        return linear_scores(features, self.weights_, threads=thread_count(self.threads))

    def _importances(self, kind: str) -> Float64Array:  # noqa: ARG002
        """The size of each feature's weight; 0 for all where the model is a net."""
        return np.zeros(self.n_features_in_) if self.weights_ is None else np.abs(self.weights_)

    def facts(self) -> dict[str, Any]:
        """Up to which step the model was trained, and how many weights it has."""
        check_is_fitted(self)
        if self.weights_ is None:
            return super().facts()
        return {"epochs": self.n_epochs_, "weights": len(self.weights_)}

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        if self.weights_ is None:
            return super()._state()
        return {"n_epochs": self.n_epochs_}, {"weights": self.weights_}

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        if not self._is_linear():
            self.weights_ = None
            super()._restore(header, arrays)
            return
        self.n_epochs_ = int(header["n_epochs"])
        self.weights_ = arrays["weights"]
