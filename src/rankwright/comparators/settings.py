"""The settings of SortNet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from rankwright.settings.setting import changed, setting, settings_class
from rankwright.settings.shared import RankerSettings, ScaledSettings, text_or
from rankwright.settings.spaces import Real, Whole

PairCost: TypeAlias = Literal["squared", "logistic"]


def layers_of(hidden: int | Sequence[int]) -> tuple[int, ...]:
    """The number of hidden neurons in each layer."""
    return tuple(hidden) if isinstance(hidden, Sequence) else (int(hidden),)


def stored_layers(hidden: int | Sequence[int]) -> Any:
    """The hidden neurons as files hold them: a number, or a list of several."""
    layers = layers_of(hidden)
    return layers[0] if len(layers) == 1 else list(layers)


@settings_class
class SortNetSettings(ScaledSettings, RankerSettings):
    """A learned comparator that sorts (Rigutini, Papini, Maggini, Scarselli 2008), trained by their Algorithm
    3.1.

    Parameters
    ----------
    hidden
        The number of hidden neurons, each with its dual beside it, or a number for each of several layers.
    max_iter
        The most times that a net is trained on all pairs that earlier nets compared wrongly while sorting.
    learning_rate
        The length of Adam's steps; it falls to 0 over the epochs.
    weight_decay
        How much weights are drawn to 0.
    epochs
        How many times a net goes through its pairs.
    batch_queries
        How many queries a step looks at.
    cost
        The error of a pair: `squared` is the paper's.
    select
        RankQuality: the metric on the validation documents that chooses among the nets of all iterations.
    restart
        Whether each iteration trains a new net, as the paper does; otherwise the last net is trained further.
    valid_fraction
        If `fit` is given no validation data, the share of the training queries that is held back for it, drawn by
        `seed`; with fewer than five queries, the training queries serve for both.
    scaling
        The name of a scaling of features. The default is the paper's Eq. 4, after the logarithm of features that hold
        counts; None takes features as they are.
    """

    name: ClassVar[str] = "sortnet"
    budget: ClassVar[str | None] = "max_iter"

    hidden: int | Sequence[int] = setting(20, least=1, search=Whole(5, 40, log=True), stored=stored_layers, small=6)
    max_iter: int = setting(20, least=1, small=3)
    learning_rate: float = setting(0.01, above=0, search=Real(0.001, 0.05, log=True), small=0.02)
    weight_decay: float = setting(0.01, least=0, search=Real(0.0001, 0.1, log=True))
    epochs: int = setting(30, least=1, search=Whole(10, 60, log=True), small=8)
    batch_queries: int = setting(16, least=1)
    cost: PairCost = setting("squared")
    select: str | Callable[..., Any] = setting("map", stored=text_or("map"))
    restart: bool = setting(True)
    valid_fraction: float = setting(0.2, above=0, below=1)
    scaling: str | None = changed(ScaledSettings, "scaling", "log-counts+sortnet")
