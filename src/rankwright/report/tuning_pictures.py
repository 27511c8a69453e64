"""What searches reached with how much work, and which settings mattered, as pictures."""

from __future__ import annotations

import os
from collections.abc import Mapping

from rankwright.report.picture import write_picture
from rankwright.report.specs.bars import named_bars
from rankwright.report.specs.curves import ends_of
from rankwright.report.specs.look import Spec, beside
from rankwright.report.specs.searches import best_so_far, effect_of_setting
from rankwright.tuning.setting_importance import Importance
from rankwright.tuning.studies.study_summary import SearchCurve

MOST_PAIRS = 6
SHARE = "% of the variance between configurations"


def draw_searches(curves: Mapping[str, SearchCurve], path: str | os.PathLike[str], *, metric: str) -> None:
    """Draw the best value so far against the steps taken, one line per search: .svg, .png or .pdf."""
    write_picture(best_so_far(curves, metric), path)


def draw_importance(importance: Importance, path: str | os.PathLike[str]) -> None:
    """Draw the share of the variance that each setting accounts for, and the largest interactions."""
    panels = [settings_bars(importance) | {"width": 300}, interactions_bars(importance) | {"width": 300}]
    write_picture(beside(panels, "Which settings matter, and which pairs of them."), path)


def draw_effects(importance: Importance, path: str | os.PathLike[str], *, metric: str) -> None:
    """Draw what each value of each setting reaches on average over all others, the most important setting first."""
    write_picture(beside(effects(importance, metric), f"What each value of a setting reaches in {metric}."), path)


def settings_bars(importance: Importance) -> Spec:
    """The share of the variance that each setting accounts for."""
    rows = [{"name": name, "value": 100 * share} for name, share in importance.settings.items()]
    return named_bars(rows, SHARE, "Which settings matter.", format=".1f") | {"title": "Settings"}


def interactions_bars(importance: Importance) -> Spec:
    """The share of the variance that pairs of settings account for together."""
    pairs = list(importance.pairs.items())[:MOST_PAIRS]
    rows = [{"name": " × ".join(pair), "value": 100 * share} for pair, share in pairs]
    return named_bars(rows, SHARE, "Which settings act together.", format=".1f") | {"title": "Interactions"}


def effects(importance: Importance, metric: str) -> list[Spec]:
    """What the values of each setting reach, the most important setting first, on one scale."""
    ends = ends_of([effect.means for effect in importance.effects.values()])
    return [effect_of_setting(name, importance.effects[name], metric, ends) for name in importance.settings]
