"""What all charts share: colours, fonts and axes, and the pieces that specifications are put together from.

A specification names its colours by token, such as `$ink`. On a page a token becomes a CSS variable, so that a chart
follows the theme and the printer; in a picture it becomes a colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankwright.tables.axes import COLOURS, FAINT, INK

Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"  # names the version; nothing is loaded from it
SERIES = tuple(f"$s{number}" for number in range(len(COLOURS)))
_GREYS = {"ink": INK, "soft": "#57606a", "line": FAINT, "card": "#ffffff", "others": "#8b949e"}
IN_PICTURES: Mapping[str, str] = _GREYS | {f"s{number}": colour for number, colour in enumerate(COLOURS)}
ON_PAGES: Mapping[str, str] = {token: f"var(--{token})" for token in IN_PICTURES}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"
AXIS = {
    "labelColor": "$soft", "titleColor": "$soft", "domainColor": "$line", "tickColor": "$line", "gridColor": "$line",
    "gridOpacity": 0.7, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "titlePadding": 8,
    "labelPadding": 6, "labelLimit": 220,
}  # fmt: skip
CONFIG: Spec = {
    "background": None,
    "font": FONT,
    "view": {"stroke": None},
    "mark": {"color": SERIES[0]},
    "text": {"color": "$ink"},
    "rule": {"color": "$soft"},
    "axis": AXIS,
    "axisBand": {"grid": False},
    "axisQuantitative": {"tickCount": 6},
    "legend": {"labelColor": "$ink", "titleColor": "$soft", "labelFontSize": 12, "titleFontSize": 12, "orient": "top",
               "titleFontWeight": "normal", "labelLimit": 260, "columns": 3, "symbolStrokeWidth": 2.5},
    "title": {"color": "$ink", "anchor": "start", "fontSize": 14, "fontWeight": 600, "offset": 12},
    "header": {"labelColor": "$ink", "titleColor": "$soft", "labelFontSize": 12},
    "range": {"category": list(SERIES)},
}  # fmt: skip


def chart(about: str, values: Sequence[Mapping[str, Any]], **parts: Any) -> Spec:
    """A specification with the shared look; `about` is what a screen reader says of it."""
    return {"$schema": SCHEMA, "description": about, "data": {"values": list(values)}, "config": CONFIG} | parts


def layer(mark: Spec, values: Sequence[Mapping[str, Any]] | None = None, /, **encoding: Any) -> Spec:
    """One layer of a chart: a mark, how it shows the rows, and rows of its own unless it shows the chart's."""
    rows = {} if values is None else {"data": {"values": list(values)}}
    return rows | {"mark": mark, "encoding": encoding}


def dot(size: int, **more: Any) -> Spec:
    """A mark: a filled dot."""
    return {"type": "point", "filled": True, "size": size, "opacity": 1} | more


def side_by_side(charts: Sequence[Spec], about: str) -> Spec:
    """Charts next to each other, each with its own scales."""
    panels = [{name: part for name, part in one.items() if name not in ("$schema", "config")} for one in charts]
    resolve = {"scale": {"color": "independent", "y": "independent"}}
    shared = {"$schema": SCHEMA, "description": about, "config": CONFIG}
    return shared | {"spacing": 32, "resolve": resolve, "hconcat": panels}


# What every object of JavaScript has. Vega looks names up in objects and takes these for entries that it made itself:
# features, systems or documents of such a name would break their chart.
OF_EVERY_OBJECT = frozenset({
    "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__", "constructor",
    "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
})  # fmt: skip
UNSEEN = "\u2060"  # a character without width, which makes another name that looks the same


def with_colours(spec: Any, colours: Mapping[str, str], *, is_data: bool = False) -> Any:
    """The specification with colours in place of tokens, and with names that Vega can look up.

    Data keeps what looks like a token.
    """
    if isinstance(spec, dict):
        inside = {name: is_data or name in ("data", "datasets") for name in spec}
        return {name: with_colours(part, colours, is_data=inside[name]) for name, part in spec.items()}
    if isinstance(spec, list | tuple):
        return [with_colours(part, colours, is_data=is_data) for part in spec]
    if not isinstance(spec, str):
        return spec
    if spec in OF_EVERY_OBJECT:
        return spec + UNSEEN
    return colours.get(spec[1:], spec) if spec.startswith("$") and not is_data else spec


def quantity(field: str, title: str | None = None, **more: Any) -> Spec:
    """An encoding of numbers."""
    return {"field": field, "type": "quantitative", "title": title} | more


def row_names(field: str, names: Sequence[str]) -> Spec:
    """An encoding of names from top to bottom, in the order given, beside an axis without a line."""
    axis = {"domain": False, "ticks": False}
    return {"field": field, "type": "nominal", "sort": list(names), "title": None, "axis": axis}


def colours_of(n: int) -> list[str]:
    """The tokens of the first `n` series; they start again where there are more series than colours."""
    return [SERIES[place % len(SERIES)] for place in range(n)]


def series(field: str, names: Sequence[str], **more: Any) -> Spec:
    """An encoding of names by colour, in the order given; there is a legend only where there are several."""
    scale = {"domain": list(names), "range": colours_of(len(names))}
    legend = {"legend": None} if len(names) < 2 else {}
    return {"field": field, "type": "nominal", "title": None, "scale": scale} | legend | more
