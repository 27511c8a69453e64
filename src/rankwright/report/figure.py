"""Figures with one look, written in one step, the same bytes every time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.container.atomic import atomic_file
from rankwright.errors import MissingExtraError, SettingError
from rankwright.tables.colours import FAINT, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("svg", "png", "pdf")

STYLE: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.axisbelow": True,
    "font.size": 10,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 2.0,
    "savefig.dpi": 144,
    "svg.fonttype": "none",  # text stays text: it can be searched, and needs no outlines
    "svg.hashsalt": "rankwright",  # ids in the file depend on what is drawn alone
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}

# Leaves out when and with what a file was made.
NO_METADATA = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


@contextmanager
def figure(
    path: str | os.PathLike[str], *, size: tuple[float, float] = (8.0, 4.5), columns: Sequence[float] = (1.0,)
) -> Iterator[list[Axes]]:
    """Axes to draw on, with the relative widths `columns`; it is written to `path` if the block ends without error.

    The file's ending says the format: svg, png or pdf. `size` is in inches.
    """
    kind = picture_kind(path)
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("drawing pictures", "matplotlib", "report") from None
    with rc_context(STYLE):
        drawing = Figure(figsize=size, layout="constrained")
        yield list(drawing.subplots(1, len(columns), squeeze=False, width_ratios=list(columns))[0])
        with atomic_file(path) as file:
            drawing.savefig(file, format=kind, metadata=NO_METADATA[kind])


def picture_kind(path: str | os.PathLike[str]) -> str:
    """The format that a picture's name shows: svg, png or pdf."""
    kind = Path(path).suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise SettingError(f"a picture's name must end in .{', .'.join(FORMATS)}, got {os.fspath(path)!r}")
    return kind
