"""Specifications drawn as files, written in one step: SVG, PNG and PDF."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from rankwright.container.atomic import atomic_file
from rankwright.errors import MissingExtraError, SettingError
from rankwright.report.specs.theme import IN_PICTURES, Spec, with_colours

FORMATS = ("svg", "png", "pdf")
WIDTH, HEIGHT = 560, 300
SHARPNESS = 2.0  # pixels of a PNG for each unit of the picture
VEGALITE = "6.4"  # as the page has it
PART_ID = re.compile(r"\b(clip|gradient_)\d+\b")
ON_PAPER = {"background": "#ffffff", "padding": 14}


def picture_kind(path: str | os.PathLike[str]) -> str:
    """The format that a picture's name shows: svg, png or pdf."""
    kind = Path(path).suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise SettingError(f"a picture's name must end in .{', .'.join(FORMATS)}, got {os.fspath(path)!r}")
    return kind


def write_picture(spec: Spec, path: str | os.PathLike[str]) -> None:
    """Draw the specification; the file's ending says the format: svg, png or pdf."""
    kind = picture_kind(path)
    drawn = picture_bytes(spec, kind)
    with atomic_file(path) as file:
        file.write(drawn)


def picture_bytes(spec: Spec, kind: str) -> bytes:
    """The specification drawn as svg, png or pdf."""
    converter, drawn = _converter(), with_colours({"width": WIDTH, "height": HEIGHT} | spec | ON_PAPER, IN_PICTURES)
    if "hconcat" in drawn:
        del drawn["width"], drawn["height"]
    drawn["config"] = {name: part for name, part in drawn["config"].items() if name != "background"}
    svg = _numbered_anew(converter.vegalite_to_svg(drawn, vl_version=VEGALITE))
    if kind == "svg":
        return svg.encode()
    if kind == "png":
        return bytes(converter.svg_to_png(svg, scale=SHARPNESS))
    return bytes(converter.svg_to_pdf(svg))  # its parts may come in another order each time


def _numbered_anew(svg: str) -> str:
    """The drawing with the ids of its parts counted from 0: the converter goes on counting from drawing to drawing."""
    numbers: dict[str, int] = {}
    return PART_ID.sub(lambda found: f"{found[1]}{numbers.setdefault(found[0], len(numbers))}", svg)


def _converter() -> ModuleType | Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtraError("drawing pictures", "vl-convert-python", "report") from None
    return vl_convert
