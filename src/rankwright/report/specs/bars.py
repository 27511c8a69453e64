"""Numbers by name as bars: importances of features, what puts a document above another, shares of settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankwright.report.specs.look import SERIES, Spec, chart, quantity

BAR_HEIGHT = 24


def named_bars(rows: Sequence[Mapping[str, Any]], quantity_name: str, about: str, *, format: str = ".4~g") -> Spec:
    """A bar for each row, the first on top; a row has `name` and `value`, and may have the interval `low`, `high`."""
    names = [row["name"] for row in rows]
    y = {"field": "name", "type": "nominal", "sort": names, "title": None, "axis": {"domain": False, "ticks": False}}
    told = [{"field": "name"}, quantity("value", quantity_name, format=format)]
    bars: Spec = {
        "mark": {"type": "bar", "color": SERIES[0], "cornerRadiusEnd": 2, "height": {"band": 0.62}},
        "encoding": {"x": quantity("value", quantity_name), "y": y, "tooltip": told},
    }
    layers = [bars]
    if any(row.get("low") is not None for row in rows):
        ends = {"x": quantity("low", quantity_name), "x2": {"field": "high"}, "y": y}
        layers.append({"mark": {"type": "rule", "color": "$ink", "strokeWidth": 1.5}, "encoding": ends})
    return chart(about, rows, height={"step": BAR_HEIGHT}, layer=layers)


def pair_bars(rows: Sequence[Mapping[str, Any]], above: str, below: str) -> Spec:
    """A bar for each feature, to the right where it helps the document above; a row has `name` and `value`."""
    names = [row["name"] for row in rows]
    y = {"field": "name", "type": "nominal", "sort": names, "title": None, "axis": {"domain": False, "ticks": False}}
    told = [{"field": "name"}, quantity("value", "puts it above by", format="+.4~g")]
    colour = {"condition": {"test": "datum.value >= 0", "value": SERIES[0]}, "value": SERIES[1]}
    bars: Spec = {
        "mark": {"type": "bar", "cornerRadiusEnd": 2, "height": {"band": 0.62}},
        "encoding": {"x": quantity("value", "puts it above by"), "y": y, "color": colour, "tooltip": told},
    }
    about = f"What each feature does to put {above} above {below}."
    return chart(about, rows, height={"step": BAR_HEIGHT}, layer=[bars, zero_line("puts it above by")])


def stacked_bars(rows: Sequence[Mapping[str, Any]], features: Sequence[str], about: str) -> Spec:
    """A bar for each document, stacked of what features add and take away.

    A row has `document`, `feature` and `value`; the last of `features` is what all others do together.
    """
    names, title = list(dict.fromkeys(row["document"] for row in rows)), "score against the query's mean"
    y = {"field": "document", "type": "nominal", "sort": names, "title": None,
         "axis": {"domain": False, "ticks": False}}  # fmt: skip
    colours = [*(SERIES[place % len(SERIES)] for place in range(len(features) - 1)), "$others"]
    colour = {"field": "feature", "type": "nominal", "title": None, "sort": list(features),
              "scale": {"domain": list(features), "range": colours}}  # fmt: skip
    told = [{"field": "document"}, {"field": "feature"}, quantity("value", "adds", format="+.4~g")]
    bars: Spec = {
        "mark": {"type": "bar", "height": {"band": 0.66}},
        "encoding": {"x": quantity("value", title), "y": y, "color": colour,
                     "tooltip": told},
    }  # fmt: skip
    together: Spec = {
        "mark": {"type": "point", "filled": True, "color": "$ink", "size": 40, "opacity": 1},
        "encoding": {"x": quantity("value", title, aggregate="sum"), "y": y},
    }
    return chart(about, rows, height={"step": BAR_HEIGHT + 4}, layer=[bars, zero_line(title), together])


def zero_line(title: str) -> Spec:
    """A line where nothing is added and nothing taken away."""
    return {
        "data": {"values": [{"at": 0}]},
        "mark": {"type": "rule", "color": "$soft"},
        "encoding": {"x": quantity("at", title)},
    }
