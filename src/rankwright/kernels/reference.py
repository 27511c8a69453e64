"""The naive twin of every kernel: what each must compute, said as plainly as possible.

Twins share their compiled kernel's name and signature: inputs, then outputs to fill, then the number of threads,
which a twin ignores because the result must not depend on it. They live in `naive/`, one file a topic.
"""

from rankwright.kernels.naive.binning import bin_features, find_thresholds
from rankwright.kernels.naive.boosters import (
    fidelity_agreement,
    fidelity_potentials,
    pair_potentials,
    pair_unit_gradient,
    pair_unit_sums,
    potential_stumps,
    rank_moves,
)
from rankwright.kernels.naive.combined_draws import combined_draws
from rankwright.kernels.naive.comparator import (
    comparator_gradient,
    compare_pairs,
    count_wins,
    sort_noting_mistakes,
    sort_rows,
)
from rankwright.kernels.naive.delimited import format_cells, line_ends, parse_cells
from rankwright.kernels.naive.forests import find_leaves, score_codes, score_forest
from rankwright.kernels.naive.lambdas import label_pair_lambdas, preference_lambdas
from rankwright.kernels.naive.linear import gram_matrix, linear_scores, sum_rows
from rankwright.kernels.naive.list_lambdas import point_lambdas, softmax_lambdas
from rankwright.kernels.naive.map_violations import map_violations
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
from rankwright.kernels.naive.narrow_net import descend_narrow_net
from rankwright.kernels.naive.ordering import mark_ties, order_ties, rank_rows
from rankwright.kernels.naive.pair_margins import pair_margins
from rankwright.kernels.naive.perceptron import (
    kernel_prank_pass,
    kernel_scores,
    prank_pass,
    quadratic_prank_pass,
    quadratic_scores,
)
from rankwright.kernels.naive.scaling import scale_by_mean, scale_by_range
from rankwright.kernels.naive.smooth_gains import smooth_gains
from rankwright.kernels.naive.standardise import first_layer, first_layer_gradient, standardise_rows, sum_moments
from rankwright.kernels.naive.svmlight import format_svmlight, parse_svmlight, split_lines
from rankwright.kernels.naive.trees import add_leaf_values, grow_tree, quantise_lambdas, score_tree

__all__ = [
    "add_leaf_values",
    "bin_features",
    "bootstrap_means",
    "combined_draws",
    "comparator_gradient",
    "compare_pairs",
    "count_wins",
    "descend_narrow_net",
    "discounted_gains",
    "exponential_gains",
    "fidelity_agreement",
    "fidelity_potentials",
    "find_leaves",
    "find_thresholds",
    "first_layer",
    "first_layer_gradient",
    "format_cells",
    "format_svmlight",
    "gram_matrix",
    "grow_tree",
    "kernel_prank_pass",
    "kernel_scores",
    "label_pair_lambdas",
    "line_ends",
    "linear_scores",
    "map_violations",
    "mark_ties",
    "mean_gain_shares",
    "order_ties",
    "pair_margins",
    "pair_potentials",
    "pair_unit_gradient",
    "pair_unit_sums",
    "parse_cells",
    "parse_svmlight",
    "point_lambdas",
    "potential_stumps",
    "prank_pass",
    "precision_sums",
    "preference_lambdas",
    "quadratic_prank_pass",
    "quadratic_scores",
    "quantise_lambdas",
    "random_sign_sums",
    "rank_moves",
    "rank_rows",
    "read_until_satisfied",
    "scale_by_mean",
    "scale_by_range",
    "score_codes",
    "score_forest",
    "score_tree",
    "smooth_gains",
    "softmax_lambdas",
    "sort_noting_mistakes",
    "sort_rows",
    "split_lines",
    "standardise_rows",
    "sum_moments",
    "sum_rows",
    "wrong_pairs",
]
