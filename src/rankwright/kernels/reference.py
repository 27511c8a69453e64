"""The naive twin of every kernel: what each must compute, said as plainly as possible.

Twins share their compiled kernel's name and signature: inputs, then outputs to fill, then the number of threads,
which a twin ignores because the result must not depend on it. They live in `naive/`, one file a topic.
"""

from rankwright.kernels.naive.binning import bin_features, find_thresholds
from rankwright.kernels.naive.forests import find_leaves, score_codes, score_forest
from rankwright.kernels.naive.ordering import rank_rows
from rankwright.kernels.naive.trees import add_leaf_values, grow_tree, quantise_lambdas

__all__ = [
    "add_leaf_values",
    "bin_features",
    "find_leaves",
    "find_thresholds",
    "grow_tree",
    "quantise_lambdas",
    "rank_rows",
    "score_codes",
    "score_forest",
]
