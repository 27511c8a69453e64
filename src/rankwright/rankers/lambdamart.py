"""LambdaMART: boosted trees that follow λ-gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from rankwright.errors import require
from rankwright.objectives.objective import Objective
from rankwright.objectives.pair_losses import Logistic
from rankwright.objectives.registry import lambdarank, objective_named, paper_lambdarank
from rankwright.rankers.forest_ranker import ForestRanker
from rankwright.trees.params import SplitGain

MODES = ("default", "paper")


class LambdaMART(ForestRanker):
    """Boosted trees whose steps are LambdaRank's forces (Burges 2010; slides 3).

    `metric` is what the forces aim at, `select` what early stopping and the choice of trees look at (default: the
    same). `objective` gives other forces to follow: a name (`rankwright.objectives.OBJECTIVES`) or an objective, such
    as one that `objectives.from_function` made from λs of your own. `mode="paper"` is the slides' formula and nothing
    else: every pair, σ = 1, least-squares splits; what is set explicitly beside it holds. `min_docs_in_leaf` is a
    count, or a fraction of the training rows. `early_stopping` is the number of trees without a better value after
    which to stop. `monotone` maps features, by number from 0 or by name, to +1 or -1; `categorical` lists features
    whose values are categories. `scaling` names a scaling of features: trees see nothing of one that keeps the order
    of all documents' values, but much of a per-query one.
    """

    name: ClassVar[str] = "lambdamart"

    def __init__(
        self,
        *,
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
        objective: str | Objective | None = None,
        select: str | None = None,
        truncation: int | None = None,
        sigma: float | None = None,
        split_gain: SplitGain | None = None,
        mode: Literal["default", "paper"] = "default",
        early_stopping: int | None = None,
        monotone: Mapping[int | str, int] | Sequence[tuple[int | str, int]] | None = None,
        categorical: Sequence[int | str] | None = None,
        scaling: str | None = None,
        unjudged: float | None = None,
        warm_start: bool = False,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
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
        self.objective = objective
        self.select = select
        self.truncation = truncation
        self.sigma = sigma
        self.split_gain = split_gain
        self.mode = mode
        self.early_stopping = early_stopping
        self.monotone = monotone
        self.categorical = categorical
        self.scaling = scaling
        self.unjudged = unjudged
        self.warm_start = warm_start
        self.seed = seed
        self.threads = threads

    def _objective(self) -> Objective:
        require(self.mode in MODES, f"mode must be one of {', '.join(MODES)}, got {self.mode!r}")
        if self.objective is not None:
            require(
                (self.truncation, self.sigma, self.mode) == (None, None, "default"),
                "truncation, sigma and mode shape LambdaRank's forces; an objective of your own has its own settings",
            )
            return objective_named(self.objective) if isinstance(self.objective, str) else self.objective
        objective = paper_lambdarank(self.metric) if self.mode == "paper" else lambdarank(self.metric)
        changes: dict[str, Any] = {"truncation": self.truncation, "pair_loss": self.sigma and Logistic(self.sigma)}
        return replace(objective, **{name: value for name, value in changes.items() if value is not None})

    def _storable_settings(self) -> dict[str, Any]:
        # A file holds the objective's name: enough to score with, and to train again where the name is one of ours.
        name = self.objective if self.objective is None or isinstance(self.objective, str) else self.objective.name
        return super()._storable_settings() | {"objective": name}

    def _split_gain(self) -> SplitGain:
        return self.split_gain or ("least-squares" if self.mode == "paper" else "newton")
