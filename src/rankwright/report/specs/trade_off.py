"""What a smaller model costs: quality against size, and against time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankwright.compression.candidates import Point
from rankwright.compression.curve import Compressed
from rankwright.report.specs.theme import SERIES, Spec, chart, colours_of, dot, layer, quantity


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
    x = quantity("at", name, scale={"type": "log", "nice": False}, axis={"grid": False, "tickCount": 5})
    y = quantity("valid", f"{compressed.metric}, validation part", scale={"zero": False})
    scale = {"domain": [*made, given], "range": [*colours_of(len(made)), "$ink"]}
    colour = {"field": "means", "type": "nominal", "title": None, "scale": scale}
    tooltip = [{"field": "means"}, quantity("at", name, format=".4~g"),
               quantity("valid", compressed.metric, format=".4f")]  # fmt: skip
    rules: list[dict[str, Any]] = [{"valid": original.valid, "text": "as good as the given model"}]
    if compressed.goal.max_loss is not None:
        rules.append({"valid": original.valid - compressed.sign * compressed.goal.max_loss, "text": "what may be lost"})
    text = {"type": "text", "align": "left", "baseline": "bottom", "dx": 4, "dy": -3, "color": "$soft"}
    layers = [
        layer({"type": "rule", "strokeDash": [4, 4]}, rules, y=y),
        layer(text, rules, y=y, x={"value": 0}, text={"field": "text"}),
    ]
    if has_line:
        line = layer({"type": "line", "strokeWidth": 1.5}, x=x, y=y, color=colour)
        layers.append({"transform": [{"filter": {"field": "means", "oneOf": made}}]} | line)
    ring = [{"at": measured(chosen), "valid": chosen.valid, "text": "chosen"}]
    layers += [
        layer(dot(60), x=x, y=y, color=colour, tooltip=tooltip),
        layer({"type": "point", "size": 260, "strokeWidth": 2.5, "color": SERIES[1]}, ring, x=x, y=y),
        layer({"type": "text", "dy": 20, "fontWeight": 600}, ring, x=x, y=y, text={"field": "text"}),
    ]
    about = f"{compressed.metric} on validation documents against {name}, a dot for each model that was tried."
    return chart(about, points, title=title, layer=layers)
