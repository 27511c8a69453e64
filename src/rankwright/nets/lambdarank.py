"""LambdaRank: a net that follows λ-gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rankwright.nets.gradient_net import GradientNet
from rankwright.nets.settings import LambdaRankSettings
from rankwright.objectives.families import lambdarank, paper_lambdarank
from rankwright.objectives.objective import Objective
from rankwright.objectives.pair_losses import Logistic, PairLoss, Spring
from rankwright.trees.debiased import DebiasedRanker


class LambdaRank(DebiasedRanker, GradientNet, LambdaRankSettings):
    """`metric` is any that training can aim at (`rankwright.objectives.DELTAS`). The force is logistic, or a spring's.
    The paper's mode uses the plain formula on every pair, and trains as RankNet's paper does.

    Attributes
    ----------
    net_ : PlainNet or torch.nn.Module
        The trained net, with the weights of its `layers`; the trained copy of your module if there was one.
    n_epochs_ : int
        How many epochs it was trained for.
    """

    def _objective(self) -> Objective:
        objective = paper_lambdarank(self.metric) if self.mode == "paper" else lambdarank(self.metric)
        loss: PairLoss = Logistic(self.sigma) if self.spring is None else Spring(self.spring)
        changes: dict[str, Any] = {"pair_loss": loss} | self.pair_weights()
        if self.truncation is not None:
            changes["truncation"] = self.truncation
        return self._weighed_by_position(replace(objective, **changes))
