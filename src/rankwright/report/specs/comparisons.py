"""Systems on the same queries: means and differences with their intervals, and every query as a dot or in a bin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankwright.report.specs.theme import SERIES, Spec, chart, dot, layer, quantity, row_names, series

ROW_HEIGHT = 30
WHISKER: Spec = {"type": "rule", "strokeWidth": 3, "opacity": 0.45, "strokeCap": "round"}
OUTCOMES = {"better": "$s0", "worse": "$s1", "the same": "$others"}  # of the second system


def mean_intervals(rows: Sequence[Mapping[str, Any]], metric: str) -> Spec:
    """A line for each system, the first on top; a row has `system`, `mean`, `low` and `high`."""
    names = [row["system"] for row in rows]
    tooltip = [{"field": "system"}, *(quantity(name, format=".4f") for name in ("mean", "low", "high"))]
    shared = {"y": row_names("system", names), "color": series("system", names, legend=None), "tooltip": tooltip}
    low = quantity("low", metric, scale={"zero": False})
    layers = [layer(WHISKER, x=low, x2={"field": "high"}, **shared),
              layer(dot(110), x=quantity("mean", metric), **shared)]  # fmt: skip
    about = f"{metric} of {len(names)} systems with 95 % intervals; the tables give the numbers."
    return chart(about, rows, height={"step": ROW_HEIGHT}, layer=layers)


def slice_differences(rows: Sequence[Mapping[str, Any]], metric: str, best: str, order: Sequence[str]) -> Spec:
    """A line for each slice and system: how far the system is from the best one; a row names its `slice`.

    `order` has all systems as the other charts show them, so that each keeps its colour.
    """
    names = list(dict.fromkeys(row["slice"] for row in rows))
    systems = list(dict.fromkeys(row["system"] for row in rows))
    title = f"{metric}, difference from {best}"
    colours = [SERIES[list(order).index(name) % len(SERIES)] for name in systems]
    shared = {
        "y": row_names("slice", names),
        "yOffset": {"field": "system", "sort": systems},
        "color": series("system", systems) | {"scale": {"domain": systems, "range": colours}},
        "tooltip": [{"field": "slice"}, {"field": "system"}, quantity("difference", format="+.4f"),
                    quantity("queries")],
    }  # fmt: skip
    layers = [
        layer({"type": "rule", "strokeDash": [3, 3]}, [{"at": 0}], x=quantity("at", title)),
        layer(WHISKER, x=quantity("low", title), x2={"field": "high"}, **shared),
        layer(dot(80), x=quantity("difference", title), **shared),
    ]
    about = f"How far {', '.join(systems)} are from {best} in {metric} on slices of the queries."
    height = {"step": max(ROW_HEIGHT, 18 * len(systems) + 10), "for": "position"}
    return chart(about, rows, height=height, layer=layers)


def query_scatter(rows: Sequence[Mapping[str, Any]], metric: str, first: str, second: str) -> Spec:
    """A dot for each query, above the line where the second system is better.

    A row has the `query`, both values `first` and `second`, and the `outcome` for the second system.
    """
    tooltip = [{"field": "query"}, quantity("first", first, format=".4f"), quantity("second", second, format=".4f")]
    ends = [float(row[name]) for row in rows for name in ("first", "second")] or [0.0, 1.0]
    diagonal = [{"first": end, "second": end} for end in (min([0.0, *ends]), max(ends))]
    x, y = quantity("first", f"{metric} of {first}"), quantity("second", f"{metric} of {second}")
    scale = {"domain": list(OUTCOMES), "range": list(OUTCOMES.values())}
    colour = {"field": "outcome", "type": "nominal", "title": f"{second} is", "scale": scale}
    dashed = {"type": "line", "color": "$soft", "strokeWidth": 1, "strokeDash": [4, 4]}
    layers = [
        layer(dashed, diagonal, x=x, y=y),
        layer(dot(46, opacity=0.62, cursor="pointer"), x=x, y=y, color=colour, tooltip=tooltip),
    ]
    about = f"Each query as a dot: {metric} of {first} across, of {second} upwards. The table has every value."
    return chart(about, rows, height=380, layer=layers)


def value_histogram(values: Sequence[float], metric: str) -> Spec:
    """How many queries have which value of the metric."""
    rows = [{"value": value} for value in values]
    bars = layer(
        {"type": "bar", "color": "$s0", "cornerRadiusEnd": 2, "binSpacing": 2},
        x={"field": "value", "type": "quantitative", "bin": {"maxbins": 20}, "title": metric},
        y={"aggregate": "count", "type": "quantitative", "title": "queries"},
    )
    return chart(f"How many queries have which {metric}.", rows, height=240, **bars)
