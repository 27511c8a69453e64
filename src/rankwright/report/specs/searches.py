"""Searches for settings: what the work bought, and what each value of a setting reaches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwright.report.specs.look import SERIES, Spec, chart, quantity, series
from rankwright.tables.text import short
from rankwright.tuning.setting_importance import Effect
from rankwright.tuning.studies.study_summary import SearchCurve


def best_so_far(curves: Mapping[str, SearchCurve], metric: str) -> Spec:
    """The best value so far against the steps taken, one line for each search."""
    names = list(curves)
    values = [
        {"search": name, "steps": float(steps), "best": float(best)}
        for name, curve in curves.items()
        for steps, best in zip(curve.steps, curve.best, strict=True)
        if steps > 0 and np.isfinite(best)
    ]
    last = [{"search": name, "steps": float(curve.steps[-1]), "best": float(curve.best[-1])}
            for name, curve in curves.items() if curve.steps[-1] > 0 and np.isfinite(curve.best[-1])]  # fmt: skip
    x = quantity("steps", "steps taken (trees, epochs or bags)", scale={"type": "log", "nice": False},
                 axis={"grid": False, "format": "~s"})  # fmt: skip
    y = quantity("best", f"best {metric} so far", scale={"zero": False})
    colour = series("search", names)
    told = [{"field": "search"}, quantity("steps", format=",d"), quantity("best", format=".4f")]
    lines: Spec = {"mark": {"type": "line", "interpolate": "step-after"},
                   "encoding": {"x": x, "y": y, "color": colour, "tooltip": told}}  # fmt: skip
    ends: Spec = {"data": {"values": last}, "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
                  "encoding": {"x": x, "y": y, "color": colour, "tooltip": told}}  # fmt: skip
    about = f"The best {metric} so far against the steps taken, for {', '.join(names)}."
    return chart(about, values, title="What the work bought", layer=[lines, ends])


def effect_of_setting(name: str, effect: Effect, metric: str, ends: tuple[float, float]) -> Spec:
    """What each value of a setting reaches on average over all others; `ends` are those of the metric's axis."""
    values: list[dict[str, Any]] = [
        {"value": short(value, 3), "mean": float(mean)} for value, mean in zip(effect.values, effect.means, strict=True)
    ]
    order = [row["value"] for row in values]
    encoding = {
        "x": {"field": "value", "type": "nominal", "sort": order, "title": name, "axis": {"labelAngle": -40}},
        "y": quantity("mean", f"mean {metric}", scale={"domain": list(ends), "zero": False}),
    }
    about = f"Mean {metric} by {name}."
    mark = {"type": "line", "point": True, "color": SERIES[0]}
    return chart(about, values, width=180, height=190, mark=mark, encoding=encoding)
