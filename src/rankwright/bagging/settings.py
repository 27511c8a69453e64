"""The settings of bags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, ClassVar, Literal

from rankwright.mart.settings import ForestSettings, LambdaForestSettings, LambdaMARTSettings, PointwiseForestSettings
from rankwright.settings.setting import about, changed, setting, settings_class
from rankwright.settings.shared import RankerSettings, text_or
from rankwright.settings.spaces import Choice, Real
from rankwright.trees.params import Growth

BAGGED_BY_DEFAULT = LambdaMARTSettings.name  # where no ranker to bag is given
OF_BAGS = ("n_bags", "bag_fraction", "bootstrap", "overfit")  # settings of the bags, not of what is in them


@settings_class
class BagSettings(RankerSettings):
    """What all bags share.

    Parameters
    ----------
    n_bags
        How many bags: more bags make the mean steadier, and each costs as much time as the first.
    bag_fraction
        How many queries each bag draws, as a share of all queries.
    bootstrap
        Whether a bag draws queries with replacement.
    overfit
        False keeps as many trees of each bag as out-of-bag queries, or `valid`, choose; True keeps all of them, since
        averaging removes overfitting again.
    """

    budget: ClassVar[str | None] = "n_bags"

    n_bags: int = setting(10, least=1, small=5)
    bag_fraction: float = setting(1.0, above=0, most=1)
    bootstrap: bool = setting(True)
    overfit: bool = setting(False)


@settings_class
class BLMARTSettings(BagSettings, LambdaForestSettings):
    """The mean of LambdaMARTs, each on a sample of queries (Ganjisaffar, Caruana, Lopes 2011)."""

    name: ClassVar[str] = "bl-mart"
    chance: ClassVar[Mapping[str, Any] | None] = ForestSettings.chance

    n_bags: int = changed(BagSettings, "n_bags", 20)


@settings_class
class BagBooSettings(BagSettings, PointwiseForestSettings):
    """The mean of many short runs of boosted regression trees (Pavlov, Gorodilov, Brunk 2010): pointwise."""

    name: ClassVar[str] = "bagboo"
    chance: ClassVar[Mapping[str, Any] | None] = ForestSettings.chance

    n_bags: int = changed(BagSettings, "n_bags", 50)
    overfit: bool = changed(BagSettings, "overfit", True)
    n_trees: int | None = changed(ForestSettings, "n_trees", 30)
    max_leaves: int | None = changed(ForestSettings, "max_leaves", 31)
    min_docs_in_leaf: float | None = changed(ForestSettings, "min_docs_in_leaf", 20)
    learning_rate: float | None = changed(ForestSettings, "learning_rate", 0.1)
    query_fraction: float | None = changed(ForestSettings, "query_fraction", 1.0)
    feature_fraction: float | None = changed(ForestSettings, "feature_fraction", 0.5)
    growth: Growth | None = changed(ForestSettings, "growth", "best-first")


def stored_ranker(ranker: Any) -> dict[str, Any] | None:
    """The ranker to bag as files hold it: its name and its settings. One that comes from a file may be so already."""
    if ranker is None or isinstance(ranker, dict):
        return ranker
    stored: dict[str, Any] = {"ranker": ranker.name} | ranker.stored_settings()
    return stored


@settings_class
class BaggingSettings(BagSettings):
    """The mean of copies of any ranker, each trained on its own sample of queries.

    Parameters
    ----------
    ranker
        The ranker to bag; None takes `LambdaMART()`, whose bags BL-MART joins into one forest.
    combine
        What is averaged: the `score`, or the `rank` in the query's list, which does not depend on the scale of scores.
        None takes the rank if the ranker scores whole lists, as SortNet does, otherwise the score.
    select
        The metric by which each bag chooses its steps; None takes the ranker's own.
    """

    name: ClassVar[str] = "bagging"

    ranker: Any = field(default=None, kw_only=False, metadata=about(stored=stored_ranker))
    bag_fraction: float = changed(BagSettings, "bag_fraction", search=Real(0.3, 1.0))
    combine: Literal["score", "rank"] | None = setting(None, search=Choice(("score", "rank")))
    select: str | Callable[..., Any] | None = setting(None, stored=text_or(None))
