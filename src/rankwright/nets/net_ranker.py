"""A net trained with any objective."""

from __future__ import annotations

from rankwright.nets.gradient_net import GradientNet
from rankwright.nets.settings import NetRankerSettings
from rankwright.objectives.families import objective_named
from rankwright.objectives.objective import Objective


class NetRanker(GradientNet, NetRankerSettings):
    """The settings beside `objective` and `module` are those of RankNet.

    Attributes
    ----------
    net_ : PlainNet or torch.nn.Module
        The trained net, with the weights of its `layers`; the trained copy of your module if there was one.
    n_epochs_ : int
        How many epochs it was trained for.
    """

    def _objective(self) -> Objective:
        return objective_named(self.objective) if isinstance(self.objective, str) else self.objective
