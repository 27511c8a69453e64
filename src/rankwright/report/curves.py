"""Mean and variance by a number of bags or of trees, as a picture."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.report.figure import COLOURS, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """The values of one system, by sample and by number of bags or trees: `values` is (samples, numbers)."""

    numbers: IntArray
    values: Float64Array


def draw_spreads(
    spreads: Mapping[str, Spread], path: str | os.PathLike[str], *, metric: str, what: str, title: str
) -> None:
    """Draw the means, in a band of one standard deviation, and beside them the variances; write it to `path`.

    The file's ending says the format: svg, png or pdf.
    """
    with figure(path, size=(10.0, 4.2), columns=(1.4, 1.0)) as (means, variances):
        for (name, spread), colour in zip(spreads.items(), _colours(len(spreads)), strict=True):
            _draw_mean(means, name, spread, colour)
            variances.plot(spread.numbers, spread.values.var(axis=0, ddof=1), color=colour, label=name)
        means.set(xlabel=f"number of {what}", ylabel=metric, title=title)
        means.legend()
        variances.set(xlabel=f"number of {what}", ylabel=f"variance of {metric}", title="Variance over samples")
        variances.set_ylim(bottom=0)
        variances.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
        for axes in (means, variances):
            axes.locator_params(axis="x", integer=True)


def _draw_mean(axes: Axes, name: str, spread: Spread, colour: str) -> None:
    mean, deviation = spread.values.mean(axis=0), spread.values.std(axis=0, ddof=1)
    axes.plot(spread.numbers, mean, color=colour, label=name)
    axes.fill_between(spread.numbers, mean - deviation, mean + deviation, color=colour, alpha=0.15, linewidth=0)


def _colours(n: int) -> Sequence[str]:
    return [COLOURS[number % len(COLOURS)] for number in np.arange(n)]
