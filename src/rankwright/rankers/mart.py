"""MART: boosted trees that fit each document's label by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np

from rankwright.errors import UnknownNameError
from rankwright.objectives.objective import Objective
from rankwright.objectives.pointwise import LogisticError, SquaredError
from rankwright.rankers.forest_ranker import ForestRanker
from rankwright.trees.binned import BinnedDataset
from rankwright.trees.params import SplitGain

LOSSES: Mapping[str, type[SquaredError] | type[LogisticError]] = {"squared": SquaredError, "logistic": LogisticError}


class MART(ForestRanker):
    """Boosted regression trees (Friedman 2001): pointwise, LambdaMART's plain relative.

    `loss="squared"` regresses labels; `loss="logistic"` is the slides' loss for binary labels, relevant where above 0.
    `metric` is what early stopping and the choice of trees look at, unless `select` names another. The other settings
    are those of LambdaMART.
    """

    name: ClassVar[str] = "mart"

    def __init__(
        self,
        *,
        loss: Literal["squared", "logistic"] = "squared",
        n_trees: int = 500,
        max_leaves: int = 31,
        max_depth: int | None = None,
        min_docs_in_leaf: float = 20,
        learning_rate: float = 0.1,
        query_fraction: float = 1.0,
        feature_fraction: float = 1.0,
        max_bins: int = 255,
        l2: float = 0.0,
        metric: str = "ndcg@10",
        select: str | None = None,
        split_gain: SplitGain = "newton",
        early_stopping: int | None = None,
        monotone: Mapping[int | str, int] | Sequence[tuple[int | str, int]] | None = None,
        categorical: Sequence[int | str] | None = None,
        scaling: str | None = None,
        unjudged: float | None = None,
        warm_start: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.loss = loss
        self.n_trees = n_trees
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.min_docs_in_leaf = min_docs_in_leaf
        self.learning_rate = learning_rate
        self.query_fraction = query_fraction
        self.feature_fraction = feature_fraction
        self.max_bins = max_bins
        self.l2 = l2
        self.metric = metric
        self.select = select
        self.split_gain = split_gain
        self.early_stopping = early_stopping
        self.monotone = monotone
        self.categorical = categorical
        self.scaling = scaling
        self.unjudged = unjudged
        self.warm_start = warm_start
        self.seed = seed
        self.threads = threads

    def _objective(self) -> Objective:
        if self.loss not in LOSSES:
            raise UnknownNameError("loss", self.loss, known=LOSSES)
        return LOSSES[self.loss]()

    def _split_gain(self) -> SplitGain:
        return self.split_gain

    def _base_score(self, data: BinnedDataset) -> float:
        """The best constant: the mean of the judged labels, or for the logistic loss the log-odds of relevance."""
        if data.labels is None:
            return 0.0
        weights = np.ones(data.n_docs) if data.document_weights is None else data.document_weights.astype(np.float64)
        if data.query_weights is not None:
            weights = weights * np.repeat(data.query_weights, data.groups.sizes)
        counts = ~np.isnan(data.labels) & (weights > 0)
        if not counts.any():
            return 0.0
        judged, weights = data.labels[counts].astype(np.float64), weights[counts]
        if self.loss == "squared":
            return float(np.average(judged, weights=weights))
        share = float(np.average(judged > 0, weights=weights))
        return float(np.log(share / (1 - share))) if 0 < share < 1 else 0.0
