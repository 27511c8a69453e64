"""How far down users look, as a picture: the examination curves of click models."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array
from rankwright.errors import require
from rankwright.report.picture import write_picture
from rankwright.report.specs.curves import curves_by_rank


def draw_examination(curves: Mapping[str, ArrayLike], path: str | os.PathLike[str], *, title: str = "") -> None:
    """Draw curves of examination, rank by rank relative to the first, and write the picture to `path`.

    `curves` are values for ranks 1, 2, … by name: those of `ClickModel.examination`, of propensities, or of clicks.
    """
    require(bool(curves), "a picture needs a curve")
    values: dict[str, Float64Array] = {name: np.asarray(curve, np.float64) for name, curve in curves.items()}
    for name, curve in values.items():
        require(curve.ndim == 1 and len(curve) > 0, f"the curve {name} must have a value for each rank")
        require(bool(np.isfinite(curve).all()), f"the curve {name} must have finite values")
    write_picture(curves_by_rank(values, title or "How far down users look"), path)
