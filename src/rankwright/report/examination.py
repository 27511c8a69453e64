"""How far down users look, as a picture: the examination curves of click models."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array
from rankwright.errors import require
from rankwright.report.figure import figure
from rankwright.tables.colours import COLOURS

MARKERS = "osD^vPX*"  # curves that lie on each other can be told apart without colours, too


def draw_examination(curves: Mapping[str, ArrayLike], path: str | os.PathLike[str], *, title: str = "") -> None:
    """Draw curves of examination, rank by rank relative to the first, and write the picture to `path`.

    `curves` are values for ranks 1, 2, … by name: those of `ClickModel.examination`, of propensities, or of clicks.
    """
    require(bool(curves), "a picture needs a curve")
    values: dict[str, Float64Array] = {name: np.asarray(curve, np.float64) for name, curve in curves.items()}
    for name, curve in values.items():
        require(curve.ndim == 1 and len(curve) > 0, f"the curve {name} must have a value for each rank")
        require(bool(np.isfinite(curve).all()), f"the curve {name} must have finite values")
    deepest = max(map(len, values.values()))
    with figure(path) as (axes,):
        for place, (name, curve) in enumerate(values.items()):
            axes.plot(
                np.arange(1, len(curve) + 1),
                curve,
                label=name,
                color=COLOURS[place % len(COLOURS)],
                linestyle="-" if place < len(COLOURS) else "--",
                marker=MARKERS[place % len(MARKERS)],
                markersize=5,
            )
        axes.set(xlabel="rank", ylabel="examined, relative to rank 1")
        axes.set_xticks(np.arange(1, deepest + 1, max(1, deepest // 10)))
        axes.set_ylim(bottom=0)
        axes.set_title(title or "How far down users look")
        axes.legend()
