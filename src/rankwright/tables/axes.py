"""The axes and the colours of pictures; the plotting library is loaded when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from rankwright.errors import MissingExtraError

if TYPE_CHECKING:
    import matplotlib.axes

Axes: TypeAlias = "matplotlib.axes.Axes"  # a text, because Matplotlib is loaded only when it is needed
INK, FAINT = "#22272e", "#d0d7de"
COLOURS = ("#0b6bcb", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#be185d", "#0e7490", "#7f1d1d")


def axes_or_new(ax: Axes | None) -> Axes:
    """The caller's axes, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingExtraError("drawing pictures", "matplotlib", "report") from None
    drawn: Any = pyplot.subplots(layout="constrained")[1]
    return drawn  # type: ignore[no-any-return]
