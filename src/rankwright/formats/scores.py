"""Files of scores: one number a line, in the order of the documents they belong to."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.errors import FileFormatError
from rankwright.formats.lines import number_in, text_lines
from rankwright.formats.sources import FilePath, input_name


def read_scores(path: FilePath, *, n_docs: int | None = None) -> Float64Array:
    """The scores in a file, compressed or not, or in standard input (`-`); `n_docs` is how many there must be."""
    lines = enumerate(text_lines(path), start=1)
    scores = np.fromiter((number_in(line.strip(), "a score", path, number) for number, line in lines), np.float64)
    if n_docs is not None and len(scores) != n_docs:
        raise FileFormatError(input_name(path), f"has {len(scores)} scores, but the data has {n_docs} documents")
    return scores
