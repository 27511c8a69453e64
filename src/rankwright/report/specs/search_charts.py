"""Searches for settings: what the work bought, which settings matter, and what each value of a setting reaches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwright.report.specs.explanation_charts import named_bars
from rankwright.report.specs.theme import SERIES, Spec, chart, dot, layer, quantity, series
from rankwright.tables.text import short
from rankwright.tuning.setting_importance import Effect, Importance
from rankwright.tuning.studies.study_summary import SearchCurve

MOST_PAIRS = 6
SHARE = "% of the variance between configurations"


def best_so_far(curves: Mapping[str, SearchCurve], metric: str) -> Spec:
    """The best value so far against the steps taken, one line for each search."""
    names = list(curves)
    values = [
        {"search": name, "steps": float(steps), "best": float(best)}
        for name, curve in curves.items()
        for steps, best in zip(curve.steps, curve.best, strict=True)
        if steps > 0 and np.isfinite(best)
    ]
    last = list({row["search"]: row for row in values}.values())
    shared = {
        "x": quantity("steps", "steps taken (trees, epochs or bags)", scale={"type": "log", "nice": False},
                      axis={"grid": False, "format": "~s"}),
        "y": quantity("best", f"best {metric} so far", scale={"zero": False}),
        "color": series("search", names),
        "tooltip": [{"field": "search"}, quantity("steps", format=",d"), quantity("best", format=".4f")],
    }  # fmt: skip
    layers = [layer({"type": "line", "interpolate": "step-after"}, **shared), layer(dot(70), last, **shared)]
    about = f"The best {metric} so far against the steps taken, for {', '.join(names)}."
    return chart(about, values, title="What the work bought", layer=layers)


def settings_bars(importance: Importance) -> Spec:
    """The share of the variance that each setting accounts for."""
    rows = [{"name": name, "value": 100 * share} for name, share in importance.settings.items()]
    return named_bars(rows, SHARE, "Which settings matter.", format=".1f") | {"title": "Settings"}


def interactions_bars(importance: Importance) -> Spec:
    """The share of the variance that pairs of settings account for together."""
    pairs = list(importance.pairs.items())[:MOST_PAIRS]
    rows = [{"name": " × ".join(pair), "value": 100 * share} for pair, share in pairs]
    return named_bars(rows, SHARE, "Which settings act together.", format=".1f") | {"title": "Interactions"}


def effects_of_settings(importance: Importance, metric: str) -> list[Spec]:
    """What the values of each setting reach, the most important setting first, on one scale."""
    means = np.concatenate([effect.means for effect in importance.effects.values()])
    low, high = float(means.min()), float(means.max())
    room = 0.08 * (high - low) or 1e-3
    ends = [round(low - room, 6), round(high + room, 6)]
    return [_effect(name, importance.effects[name], metric, ends) for name in importance.settings]


def _effect(name: str, effect: Effect, metric: str, ends: list[float]) -> Spec:
    """What each value of a setting reaches on average over all others; `ends` are those of the metric's axis."""
    values: list[dict[str, Any]] = [
        {"value": short(value, 3), "mean": float(mean)} for value, mean in zip(effect.values, effect.means, strict=True)
    ]
    order = [row["value"] for row in values]
    line = layer(
        {"type": "line", "point": True, "color": SERIES[0]},
        x={"field": "value", "type": "nominal", "sort": order, "title": name, "axis": {"labelAngle": -40}},
        y=quantity("mean", f"mean {metric}", scale={"domain": ends, "zero": False}),
    )
    return chart(f"Mean {metric} by {name}.", values, width=180, height=190, **line)
