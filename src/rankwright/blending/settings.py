"""The settings of blends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, ClassVar, Literal

from rankwright.bagging.settings import BLMARTSettings
from rankwright.nets.settings import RankNetSettings
from rankwright.settings.setting import about, setting, settings_class
from rankwright.settings.shared import AimedSettings, RankerSettings
from rankwright.settings.spaces import Real

BY_DEFAULT = (BLMARTSettings.name, RankNetSettings.name)  # the rankers that are blended where none are given
Combine = Literal["mean", "rrf", "combsum", "combmnz", "borda"]
Comparable = Literal["z-score", "rank", "calibrated", "min-max"]


def stored_rankers(rankers: Any) -> list[dict[str, Any]] | None:
    """The rankers to blend as files hold them: name and settings. Those that come from a file may be so already."""
    if rankers is None:
        return None
    return [one if isinstance(one, dict) else {"name": one.name, "settings": one.stored_settings()} for one in rankers]


@settings_class
class BlendSettings(AimedSettings, RankerSettings):
    """Several rankers as one: the weighted mean of their scores, or another fusion of them.

    Parameters
    ----------
    rankers
        The rankers to blend, two or more of any kinds; imported ones are taken as they are, others are trained. None
        takes `BLMART()` and `RankNet()`.
    combine
        How scores become one: the `mean` of comparable scores, or a method of fusion: `rrf` and `borda` look at ranks,
        `combsum` and `combmnz` at scores. None takes the mean.
    scores
        What makes scores of different rankers comparable. For `mean`: `z-score` takes from a score its mean over the
        query's list, and divides by the deviation there; `rank` takes the share of the list that is not above the
        document; `calibrated` multiplies each ranker's scores by what a point of them is worth in labels, so that a
        score does not depend on the list. For `combsum` and `combmnz`: `min-max` or `z-score`. None takes `z-score` for
        the mean and `min-max` for the others.
    weights
        How much each ranker counts: numbers of 0 or more. None learns them: those that `metric` prefers on queries that
        the rankers were not trained on.
    folds
        How many folds the queries are cut into to learn weights: each ranker is trained once without each of them.
    shrinkage
        How far learned weights are drawn towards equal ones: as if so many further queries preferred those.
    """

    name: ClassVar[str] = "blend"

    rankers: Any = field(default=None, kw_only=False, metadata=about(stored=stored_rankers))
    combine: Combine | None = setting(None)
    scores: Comparable | None = setting(None)
    weights: Sequence[float] | None = setting(None, least=0)
    folds: int = setting(3, least=2)
    shrinkage: float = setting(100.0, least=0, search=Real(10.0, 1000.0, log=True))
