"""How a net is made and trained, once its settings are checked and completed by a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

ACTIVATIONS = ("relu", "tanh", "sigmoid", "gelu")
OPTIMIZERS = ("adam", "sgd")
INITIALISATIONS = ("even", "paper")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetShape:
    """The layers of a plain net. `hidden` has the width of each hidden layer; none makes a linear net."""

    hidden: tuple[int, ...] = ()
    activation: str = "relu"
    dropout: float = 0.0  # share of hidden units left out at each step
    initialisation: str = "even"  # or RankNet's: first layer 0, the others from [-0.1, 0.1], no thresholds
    output_bias: bool = False  # an objective of score differences alone cannot teach one


@dataclass(frozen=True, slots=True, kw_only=True)
class DescentParams:
    """How weights follow the forces. A step's gradient is the mean over its queries."""

    learning_rate: float = 0.001
    optimizer: str = "adam"
    weight_decay: float = 0.0
    batch_queries: int = 32
    penalty: float = 0.0  # adds penalty · |weights|² to the sum of all queries' costs
    halve_on_rise: bool = False  # the learning rate, when an epoch's mean error is above that of the one before
    stop_at_zero_error: bool = False  # when every pair of the training data is in the right order
    seed: int = 0

    @property
    def looks_at_error(self) -> bool:
        """Whether training depends on the share of wrong training pairs."""
        return self.halve_on_rise or self.stop_at_zero_error


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a mode stands for: the values of settings that are None."""

    hidden: tuple[int, ...]
    activation: str
    dropout: float
    learning_rate: float
    optimizer: str
    batch_queries: int
    scaling: str | None
    initialisation: str
    halve_on_rise: bool
    stop_at_zero_error: bool


RECIPES: Mapping[str, Recipe] = {
    # Chosen by validation MAP on LETOR's folds; docs/nets.md has the figures and how close they are.
    "default": Recipe(
        hidden=(32,),
        activation="relu",
        dropout=0.3,
        learning_rate=0.003,
        optimizer="adam",
        batch_queries=64,
        scaling="log-counts+zscore",
        initialisation="even",
        halve_on_rise=False,
        stop_at_zero_error=False,
    ),
    # Paper 1, section 5.1; updates are those of a query's pairs together, not of one pair after another.
    "paper": Recipe(
        hidden=(10,),
        activation="tanh",
        dropout=0.0,
        learning_rate=0.001,
        optimizer="sgd",
        batch_queries=1,
        scaling=None,
        initialisation="paper",
        halve_on_rise=True,
        stop_at_zero_error=True,
    ),
}


def recipe_of(settings: Any) -> Recipe:
    """The recipe that the settings of a net name."""
    return RECIPES[getattr(settings, "mode", "default")]


def net_shape(settings: Any) -> NetShape:
    """The layers that the settings of a net ask for, the recipe's where they are None."""
    recipe = recipe_of(settings)
    hidden, activation, dropout = _chosen(settings, recipe, "hidden", "activation", "dropout")
    return NetShape(
        hidden=tuple(hidden),
        activation=activation,
        dropout=dropout,
        initialisation=recipe.initialisation,
        output_bias=settings.output_bias,
    )


def descent_params(settings: Any, penalty: float) -> DescentParams:
    """How weights are to follow the forces, as the settings of a net or else its recipe say."""
    recipe = recipe_of(settings)
    learning_rate, optimizer, batch_queries = _chosen(settings, recipe, "learning_rate", "optimizer", "batch_queries")
    return DescentParams(
        learning_rate=learning_rate,
        optimizer=optimizer,
        batch_queries=batch_queries,
        weight_decay=settings.weight_decay,
        penalty=penalty,
        halve_on_rise=recipe.halve_on_rise,
        stop_at_zero_error=recipe.stop_at_zero_error,
        seed=settings.seed,
    )


def _chosen(settings: Any, recipe: Recipe, *names: str) -> list[Any]:
    """The settings of those names; the recipe's where one is None or absent."""
    given = {name: getattr(settings, name, None) for name in names}
    return [getattr(recipe, name) if value is None else value for name, value in given.items()]
