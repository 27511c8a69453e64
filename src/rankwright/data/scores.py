"""Files of scores: one number a line, in the order of the documents they belong to."""

from __future__ import annotations

import math

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.data.sources import FilePath, input_name, open_input
from rankwright.errors import FileFormatError


def read_scores(path: FilePath, *, n_docs: int | None = None) -> Float64Array:
    """The scores in a file, plain, .gz or .zst, or in standard input (`-`); `n_docs` is how many there must be."""
    name = input_name(path)
    with open_input(path) as file:
        lines = file.read().split(b"\n")
    if lines[-1] == b"":
        del lines[-1]  # what follows the last end of line
    scores = _numbers(lines, name)
    if n_docs is not None and len(scores) != n_docs:
        raise FileFormatError(name, f"has {len(scores)} scores, but the data has {n_docs} documents")
    return scores


def _numbers(lines: list[bytes], name: str) -> Float64Array:
    try:
        numbers = np.fromiter(map(float, lines), np.float64, len(lines))
    except ValueError:
        numbers = np.array([math.nan])  # the loop below finds where
    if np.isnan(numbers.min(initial=math.inf)):
        for number, line in enumerate(lines, start=1):
            _check_line(line.strip(), name, number)
    return numbers


def _check_line(line: bytes, name: str, number: int) -> None:
    try:
        is_number = not math.isnan(float(line))
    except ValueError:
        is_number = False
    if not is_number:
        found = f"found {line[:40].decode('utf-8', 'replace')!r}" if line else "the line is blank"
        raise FileFormatError(name, f"{found}, wanted one number", number)
