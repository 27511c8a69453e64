"""LambdaRank: a net that follows λ-gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from rankwright.debiasing.stage import debiasing_view, plot_bias, position_ratios_view
from rankwright.nets.gradient_net import DescentRecipe, GradientNet
from rankwright.nets.settings import LambdaRankSettings
from rankwright.objectives.families import lambdarank, paper_lambdarank
from rankwright.objectives.objective import Objective
from rankwright.objectives.pair_losses import Logistic, PairLoss, Spring


def lambda_forces(settings: LambdaRankSettings) -> Objective:
    """LambdaRank's forces, as the settings shape them."""
    objective = paper_lambdarank(settings.metric) if settings.mode == "paper" else lambdarank(settings.metric)
    loss: PairLoss = Logistic(settings.sigma) if settings.spring is None else Spring(settings.spring)
    changes: dict[str, Any] = {"pair_loss": loss} | settings.pair_weights()
    if settings.truncation is not None:
        changes["truncation"] = settings.truncation
    return replace(objective, **changes)


class LambdaRank(GradientNet, LambdaRankSettings):
    """`metric` is any that training can aim at (`rankwright.objectives.DELTAS`). The force is logistic, or a spring's.
    The paper's mode uses the plain formula on every pair, and trains as RankNet's paper does.

    Attributes
    ----------
    net_ : PlainNet or torch.nn.Module
        The trained net, with the weights of its `layers`; the trained copy of your module if there was one.
    n_epochs_ : int
        How many epochs it was trained for.
    """

    recipe = DescentRecipe(lambda_forces, debiases=True)
    takes_positions: ClassVar[bool] = True
    debiasing_, position_ratios_, plot_bias = debiasing_view, position_ratios_view, plot_bias
