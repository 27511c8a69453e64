"""The settings of bags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar, Literal

from rankwright.settings.setting import about, changed, setting, settings_class
from rankwright.settings.shared import RankerSettings
from rankwright.settings.spaces import Choice, Real
from rankwright.trees.settings import ForestSettings, LambdaForestSettings, PointwiseForestSettings

OF_BAGS = ("n_bags", "bag_fraction", "bootstrap", "overfit")  # settings of the bags, not of what is in them


@settings_class
class BagSettings(RankerSettings):
    """What all bags share."""

    budget: ClassVar[str | None] = "n_bags"

    n_bags: int = setting(
        10, "How many bags: more make the mean steadier, and cost as much time each.", least=1, small=5
    )
    bag_fraction: float = setting(1.0, "How many queries each bag draws, as a share of all queries.", above=0, most=1)
    bootstrap: bool = setting(True, "Whether a bag draws queries with replacement.")
    overfit: bool = setting(
        False,
        "False keeps of each bag what its out-of-bag queries, or `valid`, choose; True keeps all it learned, since "
        "averaging takes overfitting away again.",
    )


@settings_class
class BLMARTSettings(BagSettings, LambdaForestSettings):
    """Settings of BL-MART."""

    name: ClassVar[str] = "bl-mart"
    summary: ClassVar[str] = (
        "The mean of LambdaMARTs, each on a sample of queries (Ganjisaffar, Caruana, Lopes 2011; slides 3)."
    )
    chance: ClassVar[Mapping[str, Any] | None] = ForestSettings.chance

    n_bags: int = changed(BagSettings, "n_bags", 20)
    n_trees: int = changed(ForestSettings, "n_trees", 300)
    query_fraction: float = changed(ForestSettings, "query_fraction", 0.5)
    feature_fraction: float = changed(ForestSettings, "feature_fraction", 0.5)


@settings_class
class BagBooSettings(BagSettings, PointwiseForestSettings):
    """Settings of BagBoo."""

    name: ClassVar[str] = "bagboo"
    summary: ClassVar[str] = (
        "The mean of many short runs of boosted regression trees (Pavlov, Gorodilov, Brunk 2010): pointwise."
    )
    chance: ClassVar[Mapping[str, Any] | None] = ForestSettings.chance

    n_bags: int = changed(BagSettings, "n_bags", 50)
    overfit: bool = changed(BagSettings, "overfit", True)
    n_trees: int = changed(ForestSettings, "n_trees", 30)
    feature_fraction: float = changed(ForestSettings, "feature_fraction", 0.5)


def stored_ranker(ranker: Any) -> dict[str, Any] | None:
    """The ranker to bag as files hold it: its name and its settings. One that comes from a file may be so already."""
    if ranker is None:
        return None
    if isinstance(ranker, dict):
        return ranker
    return {"ranker": ranker.name} | ranker.stored_settings()


@settings_class
class BaggingSettings(BagSettings):
    """Settings of bags of any ranker."""

    name: ClassVar[str] = "bagging"
    summary: ClassVar[str] = "The mean of copies of any ranker, each trained on its own sample of queries."

    ranker: Any = field(
        default=None,
        kw_only=False,
        metadata=about(
            text="The ranker to bag; None takes `LambdaMART()`, of which BL-MART makes one forest.",
            stored=stored_ranker,
        ),
    )
    bag_fraction: float = changed(BagSettings, "bag_fraction", search=Real(0.3, 1.0))
    combine: Literal["score", "rank"] | None = setting(
        None,
        "What is averaged: the `score`, or the `rank` in the query's list, which knows no scale. None takes the rank "
        "where copies score lists and not documents, as SortNet does, else the score.",
        search=Choice(("score", "rank")),
    )
    select: str | None = setting(None, "The metric that copies choose their steps by; None takes their own.")
