"""The naive twin of every kernel: what each must compute, said as plainly as possible.

Twins share their compiled kernel's name and signature: inputs, then outputs to fill, then the number of threads,
which a twin ignores because the result must not depend on it. They live in `naive/`, one file a topic.
"""

from rankwright.kernels.naive.delimited import format_cells, line_ends, parse_cells
from rankwright.kernels.naive.metrics import (
    bootstrap_means,
    discounted_gains,
    exponential_gains,
    mean_gain_shares,
    precision_sums,
    random_sign_sums,
    read_until_satisfied,
    wrong_pairs,
)
from rankwright.kernels.naive.ordering import mark_ties, order_ties, rank_rows
from rankwright.kernels.naive.scaling import scale_by_mean, scale_by_range
from rankwright.kernels.naive.svmlight import format_svmlight, parse_svmlight, split_lines

__all__ = [
    "bootstrap_means",
    "discounted_gains",
    "exponential_gains",
    "format_cells",
    "format_svmlight",
    "line_ends",
    "mark_ties",
    "mean_gain_shares",
    "order_ties",
    "parse_cells",
    "parse_svmlight",
    "precision_sums",
    "random_sign_sums",
    "rank_rows",
    "read_until_satisfied",
    "scale_by_mean",
    "scale_by_range",
    "split_lines",
    "wrong_pairs",
]
