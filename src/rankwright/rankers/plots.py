"""Pictures of a trained ranker on the axes of a caller: how training went, which features matter.

The plotting library is loaded when a picture is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.tables.colours import COLOURS, INK
from rankwright.training.loop import History

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKED = 50  # steps up to which each has a dot


def draw_history(axes: Axes, history: History, step: str, first: int = 1) -> None:
    """Draw the watched values, one per step from number `first`, with a mark at the best."""
    steps = np.arange(first, first + len(history.values))
    axes.plot(steps, history.values, color=COLOURS[0], marker="o" if len(steps) <= MARKED else None, markersize=4)
    best = history.best_step or 0
    axes.plot(steps[best], history.values[best], "o", color=COLOURS[1], markersize=9, zorder=3)
    axes.annotate(
        f"{history.values[best]:.4f}",
        (steps[best], history.values[best]),
        (6, 6),
        textcoords="offset points",
        color=INK,
    )
    axes.set(xlabel=step, ylabel=str(history.watched), title="Validation quality")
    axes.locator_params(axis="x", integer=True)
    axes.margins(y=0.12)


def draw_importances(axes: Axes, names: Sequence[str], values: Float64Array, kind: str, top: int) -> None:
    """Draw the largest importances as bars, the largest at the top."""
    order = np.argsort(-values, kind="stable")[:top][::-1]
    axes.barh([str(names[number]) for number in order.tolist()], values[order], color=COLOURS[0])
    axes.set(xlabel=kind, title="What the model looks at")
