"""The naive twin of every kernel: what each must compute, said as plainly as possible.

Twins share their compiled kernel's name and signature: inputs, then outputs to fill, then the number of threads,
which a twin ignores because the result must not depend on it. They live in `naive/`, one file a topic.
"""

from rankwright.kernels.naive.delimited import format_cells, line_ends, parse_cells
from rankwright.kernels.naive.ordering import rank_rows
from rankwright.kernels.naive.svmlight import format_svmlight, parse_svmlight, split_lines

__all__ = [
    "format_cells",
    "format_svmlight",
    "line_ends",
    "parse_cells",
    "parse_svmlight",
    "rank_rows",
    "split_lines",
]
