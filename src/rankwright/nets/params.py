"""How a net is made and trained, once its settings are checked and completed by a recipe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

ACTIVATIONS = ("relu", "tanh", "sigmoid", "gelu")
OPTIMIZERS = ("adam", "sgd")
MOST_BATCH_QUERIES = 64  # in a step, where the number of queries decides
SETTINGS_OF_RECIPES = (
    "hidden", "activation", "dropout", "learning_rate", "optimizer", "weight_decay", "batch_queries", "encoding",
    "pieces", "members",
)  # fmt: skip
MOST_MEMBERS = 256
START_SEEDS_APART = 1_000_003  # so that starts of one seed are not those of the next


@dataclass(frozen=True, slots=True, kw_only=True)
class NetShape:
    """The layers of a plain net. `hidden` has the width of each hidden layer; none makes a linear net."""

    hidden: tuple[int, ...] = ()
    activation: str = "relu"
    dropout: float = 0.0  # share of hidden units left out at each step
    initialisation: str = "even"  # or as in RankNet's paper: first layer 0, the others from [-0.1, 0.1], no thresholds
    members: int = 1  # nets that share the hidden layers, but for scales and thresholds
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
    averages: bool = False  # whether the model is a mean of the weights after the last epochs
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NetRecipe:
    """The values for settings that are None; where `batch_queries` is None here too, the number of queries decides."""

    hidden: tuple[int, ...]
    activation: str
    dropout: float
    learning_rate: float
    optimizer: str
    scaling: str | None
    weight_decay: float = 0.0  # with another learning rate, weights shrink as much in a step
    batch_queries: int | None = None
    least_steps: int = 1  # in an epoch, where the number of queries decides
    epochs: int = 100  # where the settings do not say how many
    averages: bool = False  # whether the net is a mean of its weights after the last epochs
    encoding: str = "none"
    pieces: int = 8
    members: int = 1
    initialisation: str = "even"
    halve_on_rise: bool = False
    stop_at_zero_error: bool = False
    starts: int = 1  # how many are tried, where the data decides between recipes

    def completed(self, settings: Any, n_queries: int) -> NetRecipe:
        """The recipe with the values that are set instead of its own, for so many queries."""
        given = {name: getattr(settings, name, None) for name in SETTINGS_OF_RECIPES}
        whole = replace(self, **{name: value for name, value in given.items() if value is not None})
        members = whole.members if len(whole.hidden) else 1  # the mean of linear nets is one
        if given["weight_decay"] is None:
            whole = replace(whole, weight_decay=self.weight_decay * self.learning_rate / whole.learning_rate)
        by_size = min(MOST_BATCH_QUERIES, max(1, n_queries // self.least_steps))
        batch_queries = by_size if whole.batch_queries is None else whole.batch_queries
        return replace(whole, hidden=tuple(whole.hidden), batch_queries=batch_queries, members=members)

    def facts(self) -> dict[str, Any]:
        """The values that were used, by the names of settings; what only some nets have where this one has it."""
        left_out = {"encoding", "pieces"} if self.encoding == "none" else set()
        left_out |= {"members"} if self.members == 1 else set()
        told = {name: getattr(self, name) for name in SETTINGS_OF_RECIPES if name not in left_out}
        return told | {"hidden": list(self.hidden)}


# What docs/nets.md calls the second recipe: features as they are. It is the only one of linear nets, kernel machines
# and modules of the user's own.
PLAIN = NetRecipe(
    hidden=(32,),
    activation="relu",
    dropout=0.3,
    learning_rate=0.003,
    optimizer="adam",
    batch_queries=MOST_BATCH_QUERIES,
    epochs=100,
    scaling="log-counts+zscore",
)
# The first recipe and the third: weights held small, or free. `gradient_net.py` tries out on held-out queries which of
# the three the data wants.
HELD = replace(
    PLAIN,
    encoding="piecewise",
    learning_rate=0.001,
    weight_decay=5.0,
    batch_queries=None,
    least_steps=12,
    epochs=40,
    averages=True,
)
FREE = replace(
    PLAIN, activation="tanh", dropout=0.0, batch_queries=None, least_steps=50, initialisation="paper", starts=4
)
# Burges et al. 2005, section 5.1; updates are those of a query's pairs together, not of one pair after another.
PAPER = NetRecipe(
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
)


def recipes_of(settings: Any) -> tuple[NetRecipe, ...]:
    """The recipes that a net's settings offer, the one to prefer first; their scaling is the same."""
    if getattr(settings, "mode", "default") == "paper":
        return (PAPER,)
    is_linear = settings.hidden is not None and not len(settings.hidden)
    return (PLAIN,) if is_linear or getattr(settings, "module", None) is not None else (HELD, PLAIN, FREE)


def net_shape(recipe: NetRecipe, output_bias: bool) -> NetShape:
    """The layers that a completed recipe asks for."""
    return NetShape(
        hidden=recipe.hidden,
        activation=recipe.activation,
        dropout=recipe.dropout,
        initialisation=recipe.initialisation,
        members=recipe.members,
        output_bias=output_bias,
    )


def descent_params(recipe: NetRecipe, start: int, settings: Any, penalty: float) -> DescentParams:
    """How weights are to follow the forces, by a completed recipe, a start's number and the settings of a net."""
    assert recipe.batch_queries is not None
    return DescentParams(
        learning_rate=recipe.learning_rate,
        optimizer=recipe.optimizer,
        batch_queries=recipe.batch_queries,
        weight_decay=recipe.weight_decay,
        penalty=penalty,
        halve_on_rise=recipe.halve_on_rise,
        stop_at_zero_error=recipe.stop_at_zero_error,
        averages=recipe.averages,
        seed=settings.seed + start * START_SEEDS_APART,
    )
