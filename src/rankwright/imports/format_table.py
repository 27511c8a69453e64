"""The table of formats: which other tools' models can be read. A new one is a file and a line here."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankwright.container.checks import as_one_line
from rankwright.errors import FileFormatError, RankwrightError
from rankwright.imports import (
    catboost_formats,
    lightgbm_formats,
    onnx_trees,
    ranklib_xml,
    sklearn_trees,
    xgboost_formats,
)
from rankwright.imports.assembly import ForeignForest

BEGINNING = 2**16  # bytes that tell the formats apart


@dataclass(frozen=True, slots=True)
class Source:
    """A format of other tools: its name, how its beginning is told from others', and how a file of it is read.

    Where the file does not tell the objective that it was trained for, the reader `takes_objective` as well.
    """

    name: str
    begins: Callable[[bytes], bool]
    read: Callable[..., ForeignForest]
    takes_objective: bool = False


# In the order in which they are asked.
SOURCES: tuple[Source, ...] = (
    Source(lightgbm_formats.TEXT, lightgbm_formats.begins_text, lightgbm_formats.read_text),
    Source(xgboost_formats.UBJSON, xgboost_formats.begins_ubjson, xgboost_formats.read_ubjson),
    Source(xgboost_formats.JSON, xgboost_formats.begins_json, xgboost_formats.read_json),
    Source(lightgbm_formats.JSON, lightgbm_formats.begins_json, lightgbm_formats.read_json),
    Source(catboost_formats.JSON, catboost_formats.begins_json, catboost_formats.read_json),
    Source(catboost_formats.BINARY, catboost_formats.begins_binary, catboost_formats.read_binary),
    Source(xgboost_formats.DUMP, xgboost_formats.begins_dump, xgboost_formats.read_dump, takes_objective=True),
    Source(ranklib_xml.NAME, ranklib_xml.begins, ranklib_xml.read),
    Source(onnx_trees.NAME, onnx_trees.begins, onnx_trees.read),
)

# Live objects, by the package that their class comes from.
LIVE: Mapping[str, Callable[[Any], ForeignForest]] = {
    "lightgbm": lightgbm_formats.read_live,
    "xgboost": xgboost_formats.read_live,
    "catboost": catboost_formats.read_live,
    "sklearn": sklearn_trees.read,
}


def source_of(path: str | os.PathLike[str]) -> Source | None:
    """The format of a file by its beginning, whatever its name; None where it is none of the table."""
    if not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        start = file.read(BEGINNING)
    return next((source for source in SOURCES if source.begins(start)), None)


# Beginnings of files that are not read, and what to do about them.
UNREADABLE: Mapping[bytes, str] = {
    b"binf": "it is XGBoost's old binary form: let XGBoost load it and save it as .json or .ubj",
    b"\x80": "it is a pickle, which may run code: load it with its own library, and give the live model",
    b"\x1f\x8b": "it is compressed: decompress it",
    b"PK": "it is an archive: unpack it",
}


def told_of_stranger(path: str | os.PathLike[str]) -> str:
    """What to say of a file that is neither ours nor of a format in the table."""
    with Path(path).open("rb") as file:
        start = file.read(4)
    hint = next((hint for beginning, hint in UNREADABLE.items() if start.startswith(beginning)), "")
    formats = ", ".join(source.name for source in SOURCES)
    told = f"this is not a file of Rankwright's, nor a model of another tool ({formats})"
    return f"{told}; {hint}" if hint else f"{told}. Are two arguments swapped?"


def read_foreign(path: str | os.PathLike[str], source: Source, objective: str | None = None) -> ForeignForest:
    """The forest in a file of another tool; whatever is wrong with it is one line that names the file."""
    more = {"objective": objective} if source.takes_objective else {}
    try:
        return source.read(Path(path).read_bytes(), **more)  # which forgets the bytes as soon as it can
    except (MemoryError, OSError):
        raise
    except RankwrightError as error:
        raise FileFormatError(os.fspath(path), f"{source.name}: {as_one_line(str(error))}") from None
    except RecursionError:
        raise FileFormatError(os.fspath(path), f"{source.name}: trees are nested too deeply to be read") from None
    except Exception as error:  # whatever else a part of another type leads to
        told = f"{error} is not there" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise FileFormatError(os.fspath(path), f"{source.name}, and damaged: {as_one_line(told)}") from None


def is_live(model: Any) -> bool:
    """Whether an object comes from a package whose models can be read."""
    return type(model).__module__.split(".")[0] in LIVE


def read_live(model: Any) -> ForeignForest:
    """The forest of an object that `is_live`."""
    return LIVE[type(model).__module__.split(".")[0]](model)
