"""Mean and variance by a number of bags or of trees, as a picture."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankwright.arrays import Float64Array, IntArray
from rankwright.report.picture import write_picture
from rankwright.report.specs.curves import means_by_number, variances_by_number
from rankwright.report.specs.look import beside

WIDER, NARROWER = {"width": 440, "height": 260}, {"width": 320, "height": 260}


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
    samples = samples_of(curves, metric)
    means = means_by_number(samples, metric, what, title) | WIDER
    write_picture(beside([means, variances_by_number(samples, metric, what) | NARROWER], title), path)


def samples_of(curves: Sequence[Curve], metric: str) -> dict[str, tuple[IntArray, Float64Array]]:
    """The numbers and the values of each curve, by the ranker's name."""
    return {curve.ranker: (curve.numbers, curve.values[metric]) for curve in curves}
