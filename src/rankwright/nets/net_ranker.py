"""A net trained with any objective."""

from __future__ import annotations

from rankwright.nets.gradient_net import DescentRecipe, GradientNet
from rankwright.nets.settings import NetRankerSettings
from rankwright.objectives.families import objective_named
from rankwright.objectives.objective import Objective


def chosen_forces(settings: NetRankerSettings) -> Objective:
    """The forces of the objective that the settings name."""
    return objective_named(settings.objective) if isinstance(settings.objective, str) else settings.objective


class NetRanker(GradientNet, NetRankerSettings):
    """The settings beside `objective` and `module` are those of RankNet.

    Attributes
    ----------
    net_ : PlainNet or torch.nn.Module
        The trained net, with the weights of its `layers`; the trained copy of your module if there was one.
    n_epochs_ : int
        How many epochs it was trained for.
    """

    recipe = DescentRecipe(chosen_forces)
