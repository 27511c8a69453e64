"""What a smaller model costs: quality against size, and against time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankwright.compression.criteria import Point
from rankwright.compression.curve import Compressed
from rankwright.report.specs.look import SERIES, Spec, chart, quantity


def quality_by_size(compressed: Compressed) -> Spec:
    """Quality on the validation part against nodes, or against bytes of the file if there are nets among the models."""
    with_nets = any(point.nodes is None for point in compressed.points)
    name = "bytes of the model file" if with_nets else "nodes"

    def size_of(point: Point) -> float:
        return point.bytes if with_nets or point.nodes is None else point.nodes

    return _trade_off(compressed, size_of, name, "Quality against size", has_line=True)


def quality_by_time(compressed: Compressed) -> Spec:
    """Quality on the validation part against the time that a document takes.

    There are dots alone: times have noise, and a line through them would jump back and forth.
    """
    name = "microseconds to score a document"
    return _trade_off(compressed, lambda point: point.microseconds, name, "Quality against time", has_line=False)


def _trade_off(
    compressed: Compressed, measured: Callable[[Point], float], name: str, title: str, *, has_line: bool
) -> Spec:
    original, chosen = compressed.original, compressed.chosen
    given = "the given model"
    points = [
        {"at": measured(point), "valid": point.valid, "means": given if point is original else point.means,
         "trees": point.trees}
        for point in compressed.points
    ]  # fmt: skip
    made = list(dict.fromkeys(point.means for point in compressed.points[1:]))
    colours = [*(SERIES[place % len(SERIES)] for place in range(len(made))), "$ink"]
    x = quantity("at", name, scale={"type": "log", "nice": False}, axis={"grid": False, "tickCount": 5})
    y = quantity("valid", f"{compressed.metric}, validation part", scale={"zero": False})
    colour = {"field": "means", "type": "nominal", "title": None, "scale": {"domain": [*made, given], "range": colours}}
    told = [{"field": "means"}, quantity("at", name, format=".4~g"), quantity("valid", compressed.metric, format=".4f")]
    dots: Spec = {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                  "encoding": {"x": x, "y": y, "color": colour, "tooltip": told}}  # fmt: skip
    lines: Spec = {
        "transform": [{"filter": {"field": "means", "oneOf": made}}],
        "mark": {"type": "line", "strokeWidth": 1.5},
        "encoding": {"x": x, "y": y, "color": colour},
    }
    rules: list[dict[str, Any]] = [{"valid": original.valid, "text": "as good as the given model"}]
    if compressed.goal.max_loss is not None:
        rules.append({"valid": original.valid - compressed.sign * compressed.goal.max_loss, "text": "what may be lost"})
    levels: Spec = {"data": {"values": rules}, "mark": {"type": "rule", "strokeDash": [4, 4]}, "encoding": {"y": y}}
    texts: Spec = {
        "data": {"values": rules},
        "mark": {"type": "text", "align": "left", "baseline": "bottom", "dx": 4, "dy": -3, "color": "$soft"},
        "encoding": {"y": y, "x": {"value": 0}, "text": {"field": "text"}},
    }
    ring: Spec = {
        "data": {"values": [{"at": measured(chosen), "valid": chosen.valid, "text": "chosen"}]},
        "layer": [
            {"mark": {"type": "point", "size": 260, "strokeWidth": 2.5, "color": SERIES[1]}},
            {"mark": {"type": "text", "dy": 20, "fontWeight": 600}, "encoding": {"text": {"field": "text"}}},
        ],
        "encoding": {"x": x, "y": y},
    }
    layers = [levels, texts, *([lines] if has_line else []), dots, ring]
    about = f"{compressed.metric} on validation documents against {name}, a dot for each model that was tried."
    return chart(about, points, title=title, layer=layers)
