"""The naive twin of every kernel: what each must compute, said as plainly as possible.

Twins share their compiled kernel's name and signature: inputs, then outputs to fill, then the number of threads,
which a twin ignores because the result must not depend on it. They live in `naive/`, by topic; a kernel is added by
importing its twin here.
"""

# ruff: noqa: F401
# mypy: implicit-reexport

from inspect import isfunction

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
from rankwright.kernels.naive.clicks.grouping import (
    count_votes,
    group_lists,
    hash_lists,
    number_documents,
    order_by_query,
    take_lists,
)
from rankwright.kernels.naive.clicks.models import (
    count_cells,
    count_clicks,
    dbn_step,
    examination_step,
    fill_cells,
    position_losses,
)
from rankwright.kernels.naive.clicks.numbering import number_integers, number_texts
from rankwright.kernels.naive.comparators import (
    comparator_gradient,
    compare_pairs,
    count_wins,
    sort_noting_mistakes,
    sort_rows,
)
from rankwright.kernels.naive.explanations import background_contributions, tree_contributions, tree_interactions
from rankwright.kernels.naive.features.row_keys import hash_queries, hash_rows, order_by_key
from rankwright.kernels.naive.features.scaling import scale_by_mean, scale_by_range
from rankwright.kernels.naive.features.standardise import standardise_rows, sum_moments
from rankwright.kernels.naive.forests import find_leaves, score_codes, score_forest
from rankwright.kernels.naive.linear.combined_draws import combined_draws
from rankwright.kernels.naive.linear.map_violations import map_violations
from rankwright.kernels.naive.linear.pair_margins import pair_margins
from rankwright.kernels.naive.linear.perceptron import (
    kernel_prank_pass,
    kernel_scores,
    prank_pass,
    quadratic_prank_pass,
    quadratic_scores,
)
from rankwright.kernels.naive.linear.products import gram_matrix, linear_scores, sum_rows
from rankwright.kernels.naive.linear.smooth_gains import smooth_gains
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
from rankwright.kernels.naive.nets.descent import descend_net, follow_gradient
from rankwright.kernels.naive.nets.plain_net import net_gradient, net_scores
from rankwright.kernels.naive.objectives.lambdas import label_pair_lambdas, preference_lambdas
from rankwright.kernels.naive.objectives.list_lambdas import point_lambdas, softmax_lambdas
from rankwright.kernels.naive.ranking import mark_ties, order_ties, rank_rows
from rankwright.kernels.naive.text.delimited import format_cells, line_ends, parse_cells
from rankwright.kernels.naive.text.svmlight import format_svmlight, parse_svmlight, split_lines
from rankwright.kernels.naive.trees.grower import add_leaf_values, grow_tree, quantise_lambdas, score_tree

NAMES = sorted(name for name, value in globals().items() if isfunction(value) and value is not isfunction)
