"""Pictures of a trained ranker on the axes of a caller: how training went, which features matter, position bias.

The plotting library is loaded when a picture is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.clicks.bias import Debiasing
from rankwright.tables.axes import COLOURS, INK
from rankwright.training.loop import History, smoothed

if TYPE_CHECKING:
    from rankwright.tables.axes import Axes

MARKED = 50  # steps up to which each has a dot


def draw_history(axes: Axes, history: History, step: str, first: int = 1) -> None:
    """Draw the watched values, one per step from number `first`, with a mark at the best.

    Where the best step is that of the best mean over neighbours, these means are drawn too, and the mark is on them.
    """
    steps, best = np.arange(first, first + len(history.values)), history.best_step or 0
    chosen_by = smoothed(history.values, history.smoothing)
    has_means = history.smoothing > 0 and history.chosen
    own: dict[str, Any] = {"color": COLOURS[0], "marker": "o" if len(steps) <= MARKED else None, "markersize": 4}
    axes.plot(steps, history.values, **own, alpha=0.45 if has_means else 1.0, label="after each step")
    if has_means:
        axes.plot(steps, chosen_by, color=INK, linewidth=1.2, label="mean over neighbours")
        axes.legend(loc="lower right")
    axes.plot(steps[best], chosen_by[best], "o", color=COLOURS[1], markersize=9, zorder=3)
    axes.annotate(
        f"{step} {steps[best]}: {chosen_by[best]:.4f}",
        (steps[best], chosen_by[best]),
        (0, 10),
        textcoords="offset points",
        color=INK,
        ha="right" if best > len(steps) / 2 else "left",
    )
    axes.set(xlabel=step, ylabel=str(history.watched), title="Validation quality")
    axes.locator_params(axis="x", integer=True)
    axes.margins(y=0.12)


def draw_importances(axes: Axes, names: Sequence[str], values: Float64Array, kind: str, top: int) -> None:
    """Draw the largest importances as bars, the largest at the top."""
    order = np.argsort(-values, kind="stable")[:top][::-1]
    axes.barh([str(names[number]) for number in order.tolist()], values[order], color=COLOURS[0])
    axes.set(xlabel=kind, title="What the model looks at")


def draw_bias(axes: Axes, bias: Debiasing) -> None:
    """Draw the examination of each position, and the weights of clicks and of other documents, if there are any."""
    curves = {"examination": bias.examination}
    if bias.ratios is not None:
        curves |= {"clicks (t⁺)": bias.ratios.clicked, "no clicks (t⁻)": bias.ratios.other}
    for (name, curve), colour in zip(curves.items(), COLOURS, strict=False):
        axes.plot(np.arange(1, len(curve) + 1), curve, color=colour, marker="o", markersize=4, label=name)
    done = "corrected" if bias.applied else "not corrected"
    axes.set(xlabel="position", ylabel="relative to the first", title=f"Position bias, {done}")
    axes.set_ylim(bottom=0)
    axes.locator_params(axis="x", integer=True)
    if len(curves) > 1:
        axes.legend()
