"""Every query as a dot: one system against another, or one system alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankwright.report.specs.look import Spec, chart, quantity

OUTCOMES = {"better": "$s0", "worse": "$s1", "the same": "$others"}  # of the second system


def query_scatter(rows: Sequence[Mapping[str, Any]], metric: str, first: str, second: str) -> Spec:
    """A dot for each query, above the line where the second system is better.

    A row has the `query`, both values `first` and `second`, and the `outcome` for the second system.
    """
    told = [{"field": "query"}, quantity("first", first, format=".4f"), quantity("second", second, format=".4f")]
    ends = [float(row[name]) for row in rows for name in ("first", "second")] or [0.0, 1.0]
    low, high = min([0.0, *ends]), max(ends)
    x, y = quantity("first", f"{metric} of {first}"), quantity("second", f"{metric} of {second}")
    line: Spec = {
        "data": {"values": [{"first": low, "second": low}, {"first": high, "second": high}]},
        "mark": {"type": "line", "color": "$soft", "strokeWidth": 1, "strokeDash": [4, 4]},
        "encoding": {"x": x, "y": y},
    }
    scale = {"domain": list(OUTCOMES), "range": list(OUTCOMES.values())}
    dots: Spec = {
        "mark": {"type": "point", "filled": True, "size": 46, "opacity": 0.62, "cursor": "pointer"},
        "encoding": {
            "x": x,
            "y": y,
            "color": {"field": "outcome", "type": "nominal", "title": f"{second} is", "scale": scale},
            "tooltip": told,
        },
    }
    about = f"Each query as a dot: {metric} of {first} across, of {second} upwards. The table has every value."
    return chart(about, rows, height=380, layer=[line, dots])


def value_histogram(values: Sequence[float], metric: str) -> Spec:
    """How many queries have which value of the metric."""
    rows = [{"value": value} for value in values]
    encoding = {
        "x": {"field": "value", "type": "quantitative", "bin": {"maxbins": 20}, "title": metric},
        "y": {"aggregate": "count", "type": "quantitative", "title": "queries"},
    }
    mark = {"type": "bar", "color": "$s0", "cornerRadiusEnd": 2, "binSpacing": 2}
    return chart(f"How many queries have which {metric}.", rows, height=240, mark=mark, encoding=encoding)
