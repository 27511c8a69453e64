"""Pictures of explanations on the axes of a caller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.tables.axes import COLOURS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes

TOLD_APART = 6  # features that have a colour of their own in a list
OTHERS = "#b8bec7"


def draw_pair(axes: Axes, names: Sequence[str], values: Float64Array, title: str) -> None:
    """Draw a bar for each feature, the first at the top: to the right where it helps the document above."""
    places = np.arange(len(values))[::-1]
    axes.barh(places, values, color=[COLOURS[0] if value >= 0 else COLOURS[1] for value in values.tolist()])
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_yticks(places, names)
    axes.set(xlabel="puts it above by", title=title)
    axes.margins(y=0.02)


def features_told_apart(centred: Float64Array) -> tuple[list[int], Float64Array]:
    """The features with the largest contributions, and a column for each of them; the last column adds up the rest."""
    sizes = np.abs(centred).mean(axis=0)
    chosen = np.argsort(-sizes, kind="stable")[: min(TOLD_APART, int(np.count_nonzero(sizes)))]
    rest = np.delete(centred, chosen, axis=1).sum(axis=1)
    return chosen.tolist(), np.column_stack([centred[:, chosen], rest])


def draw_list(axes: Axes, documents: Sequence[str], features: Sequence[str], centred: Float64Array, title: str) -> None:
    """Draw a bar for each document, the first at the top, stacked of what its features add and take away."""
    places = np.arange(len(documents))[::-1]
    chosen, parts = features_told_apart(centred)
    names = [*(features[feature] for feature in chosen), "all others"]
    colours = [*(COLOURS[place % len(COLOURS)] for place in range(len(chosen))), OTHERS]
    ends = {True: np.zeros(len(documents)), False: np.zeros(len(documents))}
    for name, values, colour in zip(names, parts.T, colours, strict=True):
        starts = np.where(values >= 0, ends[True], ends[False])
        axes.barh(places, values, left=starts, color=colour, label=name, height=0.7)
        ends[True] += np.maximum(values, 0)
        ends[False] += np.minimum(values, 0)
    axes.plot(centred.sum(axis=1), places, "o", color=INK, markersize=4, label="together")
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_yticks(places, documents)
    axes.set(xlabel="score against the query's mean", title=title)
    axes.legend(fontsize="small", loc="best")
