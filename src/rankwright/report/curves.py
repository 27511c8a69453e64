"""Mean and variance by a number of bags or of trees, as a picture."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

from rankwright.arrays import Float64Array, IntArray
from rankwright.report.figure import figure
from rankwright.tables.colours import COLOURS


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """How a ranker's metrics change with a number of bags or of trees: `values[metric]` is (samples, numbers)."""

    ranker: str
    numbers: IntArray
    values: Mapping[str, Float64Array]


def draw_curves(curves: Sequence[Curve], path: str | os.PathLike[str], *, metric: str, what: str, title: str) -> None:
    """Draw the means, in a band of one standard deviation, and beside them the variances; write it to `path`.

    The file's ending says the format: svg, png or pdf.
    """
    with figure(path, size=(10.0, 4.2), columns=(1.4, 1.0)) as (means, variances):
        for curve, colour in zip(curves, cycle(COLOURS), strict=False):
            numbers, values = curve.numbers, curve.values[metric]
            mean, deviation = values.mean(axis=0), values.std(axis=0, ddof=1)
            means.plot(numbers, mean, color=colour, label=curve.ranker)
            means.fill_between(numbers, mean - deviation, mean + deviation, color=colour, alpha=0.15, linewidth=0)
            variances.plot(numbers, values.var(axis=0, ddof=1), color=colour, label=curve.ranker)
        means.set(xlabel=f"number of {what}", ylabel=metric, title=title)
        means.legend()
        variances.set(xlabel=f"number of {what}", ylabel=f"variance of {metric}", title="Variance over samples")
        variances.set_ylim(bottom=0)
        variances.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
        for axes in (means, variances):
            axes.locator_params(axis="x", integer=True)
