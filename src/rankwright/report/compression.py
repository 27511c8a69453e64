"""How small a model can be made and what that costs, as a picture and as a table."""

from __future__ import annotations

import os
from pathlib import Path

from rankwright.compression.curve import Compressed
from rankwright.errors import UnknownNameError
from rankwright.report.picture import write_picture
from rankwright.report.specs.look import beside
from rankwright.report.specs.trade_off import quality_by_size, quality_by_time
from rankwright.report.tables import write_json, write_rows

PANEL = {"width": 400, "height": 280}


def draw_compression(compressed: Compressed, path: str | os.PathLike[str]) -> None:
    """Draw quality on the validation part against size and against the time a document takes: .svg, .png or .pdf.

    Sizes are numbers of nodes, or bytes of the model file if there are nets among the models. A ring marks the chosen
    model.
    """
    about = "What smaller models cost: quality against size and against time."
    write_picture(beside([quality_by_size(compressed) | PANEL, quality_by_time(compressed) | PANEL], about), path)


def write_curve(compressed: Compressed, path: str | os.PathLike[str]) -> None:
    """Write a row for each model that was tried: .csv, or .json with the whole result."""
    kind = Path(path).suffix.lower().lstrip(".")
    if kind == "csv":
        write_rows(path, (point.to_dict() | {"chosen": int(point is compressed.chosen)} for point in compressed.points))
    elif kind == "json":
        write_json(path, compressed.to_dict())
    else:
        raise UnknownNameError("kind of table", kind, known=("csv", "json"))
