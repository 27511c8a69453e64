"""LambdaRank: a net that follows λ-gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from rankwright.errors import require
from rankwright.objectives.objective import Objective
from rankwright.objectives.pair_losses import Logistic, PairLoss, Spring
from rankwright.objectives.registry import lambdarank, paper_lambdarank
from rankwright.rankers.gradient_net import GradientNet


class LambdaRank(GradientNet):
    """A net whose forces on pairs are weighed by what swapping them would do to `metric` (Burges 2005, paper 2).

    `metric` is any that has a delta (`rankwright.objectives.DELTAS`), `select` what early stopping and the choice of
    the epoch look at (default: the same). The force is logistic with steepness `sigma` or, where `spring` is given,
    paper 2's own with that margin δ (Eq. 4-6). `truncation` leaves out pairs with no document among so many top ranks.
    `mode="paper"` takes the plain formula, every pair, and trains as RankNet's paper does. The other settings are those
    of RankNet; `ties` is among them only to say that swapping equal labels never changes a metric: leave it None.
    """

    name: ClassVar[str] = "lambdarank"

    def __init__(
        self,
        *,
        module: Any = None,
        hidden: Sequence[int] | None = None,
        activation: str | None = None,
        epochs: int = 100,
        learning_rate: float | None = None,
        optimizer: str | None = None,
        weight_decay: float = 0.0,
        dropout: float | None = None,
        batch_queries: int | None = None,
        scaling: str | None = None,
        metric: str = "ndcg@10",
        select: str | None = None,
        mode: Literal["default", "paper"] = "default",
        early_stopping: int | None = None,
        sigma: float = 1.0,
        spring: float | None = None,
        truncation: int | None = None,
        ties: None = None,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.module = module
        self.hidden = hidden
        self.activation = activation
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.batch_queries = batch_queries
        self.scaling = scaling
        self.metric = metric
        self.select = select
        self.mode = mode
        self.early_stopping = early_stopping
        self.sigma = sigma
        self.spring = spring
        self.truncation = truncation
        self.ties = ties
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads
        self.device = device

    def _objective(self) -> Objective:
        require(self.ties is None, f"swapping documents of equal labels never changes {self.metric}: ties must be None")
        objective = paper_lambdarank(self.metric) if self.mode == "paper" else lambdarank(self.metric)
        loss: PairLoss = Logistic(self.sigma) if self.spring is None else Spring(self.spring)
        changes: dict[str, Any] = {"pair_loss": loss}
        if self.truncation is not None:
            changes["truncation"] = self.truncation
        return replace(objective, **changes)
