"""How small a model can be made and what that costs, as a picture and as a table."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.compression.criteria import Point
from rankwright.compression.curve import Compressed
from rankwright.errors import UnknownNameError
from rankwright.report.figure import figure
from rankwright.report.tables import write_json, write_rows
from rankwright.tables.colours import COLOURS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_compression(compressed: Compressed, path: str | os.PathLike[str]) -> None:
    """Draw quality on the validation part against size and against the time a document takes: .svg, .png or .pdf.

    Sizes are numbers of nodes, or bytes of the model file if there are nets among the models. A ring marks the chosen
    model.
    """
    with_nets = any(point.nodes is None for point in compressed.points)
    size_name = "bytes of the model file" if with_nets else "nodes"

    def size_of(point: Point) -> float:
        return point.bytes if with_nets or point.nodes is None else point.nodes

    with figure(path, size=(10.0, 4.5), columns=(1.0, 1.0)) as (size, speed):
        _draw(size, compressed, size_of, size_name, line="-")
        size.set(ylabel=f"{compressed.metric}, validation part", title="Quality against size")
        # Dots alone: times have noise, and a line through them would jump back and forth.
        _draw(speed, compressed, lambda point: point.microseconds, "microseconds to score a document", line="")
        speed.set_title("Quality against time")
        speed.legend(loc="lower right")


def _draw(axes: Axes, compressed: Compressed, measured: Callable[[Point], float], name: str, line: str) -> None:
    names = list(dict.fromkeys(point.means for point in compressed.points[1:]))
    for means, colour in zip(names, COLOURS, strict=False):
        found = sorted((measured(point), point.valid) for point in compressed.points if point.means == means)
        axes.plot(*zip(*found, strict=True), line, color=colour, marker="o", markersize=4, linewidth=1.2, label=means)
    original, chosen = compressed.original, compressed.chosen
    axes.plot(measured(original), original.valid, "s", color=INK, label="the given model")
    axes.axhline(original.valid, color=INK, linewidth=0.8)
    if compressed.goal.max_loss is not None:
        allowed = original.valid - compressed.sign * compressed.goal.max_loss
        axes.axhline(allowed, color=INK, linewidth=0.8, linestyle="--", label="what may be lost")
    ring: dict[str, Any] = {
        "markersize": 12,
        "markerfacecolor": "none",
        "markeredgecolor": COLOURS[1],
        "markeredgewidth": 2,
    }
    axes.plot(measured(chosen), chosen.valid, "o", label="chosen", **ring)
    axes.set_xscale("log")
    axes.set_xlabel(name)


def write_curve(compressed: Compressed, path: str | os.PathLike[str]) -> None:
    """Write a row for each model that was tried: .csv, or .json with the whole result."""
    kind = Path(path).suffix.lower().lstrip(".")
    if kind == "csv":
        write_rows(path, (point.to_dict() | {"chosen": int(point is compressed.chosen)} for point in compressed.points))
    elif kind == "json":
        write_json(path, compressed.to_dict())
    else:
        raise UnknownNameError("kind of table", kind, known=("csv", "json"))
