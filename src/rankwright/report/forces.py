"""The forces on a query's documents as a picture."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float32Array, Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.objectives.force_field import ForceField
from rankwright.objectives.objective import Objective, finite_scores
from rankwright.report.figure import figure
from rankwright.tables.colours import COLOURS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST_ARROW = 0.22  # of the height of the scores
SHOWN_ON_A_LINE = 60  # ranks; in longer lists the top would be too narrow, and their axis is logarithmic
FAINTEST_ARROW = 0.05  # of the longest: below it there is nothing to see
MOST_LABELS = 8  # in the legend; more labels are shown by this many even steps
UP, DOWN = COLOURS[2], COLOURS[1]


def draw_forces(
    objective: Objective, query: RankingDataset, scores: ArrayLike, path: str | os.PathLike[str]
) -> Float64Array:
    """Draw the forces on the documents of a query, write the picture to `path`, and return the forces λ = -dC/ds.

    Documents are drawn from left to right by rank, at the height of their score. Arrows show their forces, the longest
    with a fixed length; colours show labels.
    """
    places = finite_scores(scores, length=query.n_docs)
    forces: Float64Array = -ForceField.of(objective, query).gradient(places[None, :])[0]
    with figure(path) as (axes,):
        _draw(axes, places, forces, query.labels)
        axes.set_title(f"Forces of {objective.name}")
    return forces


def _draw(axes: Axes, scores: Float64Array, forces: Float64Array, labels: Float32Array | None) -> None:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    height = float(np.ptp(scores)) or 1.0
    longest = float(np.abs(forces).max(initial=0.0))
    for rank, score, force in zip(ranks, scores, forces, strict=True):
        if abs(force) > FAINTEST_ARROW * longest:
            tip = score + LONGEST_ARROW * height * force / longest
            arrow = {
                "arrowstyle": "-|>",
                "color": UP if force > 0 else DOWN,
                "linewidth": 1.6,
                "shrinkA": 0,
                "shrinkB": 0,
            }
            axes.annotate("", (rank, tip), (rank, score), arrowprops=arrow, zorder=2)
    _dots(axes, ranks, scores, labels)
    axes.set(xlabel=f"rank (the longest arrow is a force of {longest:.3g})", ylabel="score")
    axes.set_ylim(scores.min() - 0.3 * height, scores.max() + 0.3 * height)
    if len(scores) > SHOWN_ON_A_LINE:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
    else:
        axes.set_xticks(np.arange(1, len(scores) + 1, max(1, len(scores) // 15)))


def _dots(axes: Axes, ranks: Float64Array, scores: Float64Array, labels: Float32Array | None) -> None:
    """A dot for each document, darker for higher labels, which are drawn last."""
    is_long = len(scores) > SHOWN_ON_A_LINE
    look: dict[str, Any] = {
        "s": 20 if is_long else 70,
        "edgecolors": INK,
        "linewidths": 0.0 if is_long else 0.7,
        "zorder": 3,
    }
    if labels is None:
        axes.scatter(ranks, scores, color=INK, **look)
        return
    judged = np.flatnonzero(~np.isnan(labels))
    judged = judged[np.argsort(labels[judged], kind="stable")]
    unjudged = np.flatnonzero(np.isnan(labels))
    handles: list[Any] = []
    names: list[str] = []
    if len(judged):
        dots = axes.scatter(ranks[judged], scores[judged], c=labels[judged], cmap="GnBu", **look)
        low, high = labels[judged[0]], labels[judged[-1]]
        dots.set_clim(low - 0.35 * (high - low or 1.0), high)  # the lowest label is pale, but not white
        values: Any = list(np.unique(labels[judged]))
        handles, names = dots.legend_elements(num=values if len(values) <= MOST_LABELS else MOST_LABELS, fmt="{x:g}")
    if len(unjudged):
        hollow = axes.scatter(ranks[unjudged], scores[unjudged], facecolors="white", **(look | {"linewidths": 0.9}))
        handles, names = [*handles, hollow], [*names, "none"]
    axes.legend(handles, names, title="label", loc="center left", bbox_to_anchor=(1.0, 0.5))
