"""Means with their intervals, and differences with theirs: a dot and a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankwright.report.specs.look import SERIES, Spec, chart, quantity, series

ROW_HEIGHT = 30


def mean_intervals(rows: Sequence[Mapping[str, Any]], metric: str) -> Spec:
    """A line for each system, the first on top; a row has `system`, `mean`, `low` and `high`."""
    names = [row["system"] for row in rows]
    y = {"field": "system", "type": "nominal", "sort": names, "title": None, "axis": {"domain": False, "ticks": False}}
    told = [{"field": "system"}, *(quantity(name, format=".4f") for name in ("mean", "low", "high"))]
    colour = series("system", names, legend=None)
    whisker: Spec = {
        "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.45, "strokeCap": "round"},
        "encoding": {"x": quantity("low", metric, scale={"zero": False}), "x2": {"field": "high"}, "y": y,
                     "color": colour, "tooltip": told},
    }  # fmt: skip
    dot: Spec = {"mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
                 "encoding": {"x": quantity("mean", metric), "y": y, "color": colour, "tooltip": told}}  # fmt: skip
    about = f"{metric} of {len(names)} systems with 95 % intervals; the tables give the numbers."
    return chart(about, rows, height={"step": ROW_HEIGHT}, layer=[whisker, dot])


def slice_differences(rows: Sequence[Mapping[str, Any]], metric: str, best: str, order: Sequence[str]) -> Spec:
    """A line for each slice and system: how far the system is from the best one; a row names its `slice`.

    `order` has all systems as the other charts show them, so that each keeps its colour.
    """
    names = list(dict.fromkeys(row["slice"] for row in rows))
    systems = list(dict.fromkeys(row["system"] for row in rows))
    y = {"field": "slice", "type": "nominal", "sort": names, "title": None, "axis": {"domain": False, "ticks": False}}
    title = f"{metric}, less {best}"
    told = [{"field": "slice"}, {"field": "system"}, quantity("difference", format="+.4f"), quantity("queries")]
    shift = {"field": "system", "sort": systems}
    colours = [SERIES[list(order).index(name) % len(SERIES)] for name in systems]
    colour = series("system", systems) | {"scale": {"domain": systems, "range": colours}}
    zero: Spec = {"data": {"values": [{"at": 0}]}, "mark": {"type": "rule", "strokeDash": [3, 3]},
                  "encoding": {"x": quantity("at", title)}}  # fmt: skip
    whisker: Spec = {
        "mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.45, "strokeCap": "round"},
        "encoding": {"x": quantity("low", title), "x2": {"field": "high"}, "y": y, "yOffset": shift, "color": colour,
                     "tooltip": told},
    }  # fmt: skip
    dot: Spec = {
        "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
        "encoding": {"x": quantity("difference", title), "y": y, "yOffset": shift, "color": colour, "tooltip": told},
    }
    about = f"How far {', '.join(systems)} are from {best} in {metric} on slices of the queries."
    height = {"step": max(ROW_HEIGHT, 18 * len(systems) + 10), "for": "position"}
    return chart(about, rows, height=height, layer=[zero, whisker, dot])
