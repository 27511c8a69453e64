"""The naive twin of every kernel: what each must compute, said as plainly as possible.

Twins share their compiled kernel's name and signature: inputs, then outputs to fill, then the number of threads,
which a twin ignores because the result must not depend on it. They live in `naive/`, one file a topic.
"""

from rankwright.kernels.naive.ordering import rank_rows
from rankwright.kernels.naive.scaling import scale_by_mean, scale_by_range

__all__ = ["rank_rows", "scale_by_mean", "scale_by_range"]
