"""The naive twin of every kernel: what each must compute, said as plainly as possible.

Twins share their compiled kernel's name and signature: inputs, then outputs to fill, then the number of threads,
which a twin ignores because the result must not depend on it. They live in `naive/`, one file a topic.
"""

from rankwright.kernels.naive.binning import bin_features, find_thresholds
from rankwright.kernels.naive.ordering import rank_rows

__all__ = [
    "bin_features",
    "find_thresholds",
    "rank_rows",
]
