"""How training went, as a picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankwright.comparators.iterations import Iteration
from rankwright.comparators.sortnet import SortNet
from rankwright.errors import InputError
from rankwright.rankers.plots import draw_history
from rankwright.rankers.ranker import Ranker
from rankwright.report.figure import figure
from rankwright.tables.colours import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_training(ranker: Ranker, path: str | os.PathLike[str]) -> None:
    """Draw the watched metric after each step of training, with a mark at the best: .svg, .png or .pdf.

    For SortNet a step is an iteration, and a second panel shows the share of all possible pairs it was trained on.
    """
    if not ranker.history_.values:
        raise InputError(f"this {ranker.name} was trained without validation data: there is no curve to draw")
    if isinstance(ranker, SortNet):
        with figure(path, size=(9.0, 4.0), columns=(1.0, 1.0)) as (quality, pairs):
            draw_history(quality, ranker.history_, "iteration", first=0)
            _draw_pairs(pairs, ranker.iterations_)
    else:
        with figure(path) as (values,):
            draw_history(values, ranker.history_, "step")


def _draw_pairs(axes: Axes, iterations: Sequence[Iteration]) -> None:
    steps = np.arange(len(iterations))
    for name, shares, n_pairs, colour in (
        ("training", [one.share_of_pairs for one in iterations], iterations[-1].n_pairs, COLOURS[0]),
        ("validation", [one.share_of_valid_pairs for one in iterations], iterations[-1].n_valid_pairs, COLOURS[2]),
    ):
        axes.plot(steps, np.multiply(shares, 100), color=colour, marker="o", markersize=4, label=f"{name}: {n_pairs:,}")
    axes.set(xlabel="iteration", ylabel="% of all possible pairs", title="Pairs held")
    axes.set_ylim(bottom=0)
    axes.locator_params(axis="x", integer=True)
    axes.legend(title="pairs at the end")
