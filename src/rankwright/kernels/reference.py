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
from rankwright.kernels.naive.clicks import (
    count_cells,
    count_clicks,
    count_votes,
    dbn_step,
    examination_step,
    fill_cells,
    group_lists,
    hash_lists,
    number_documents,
    number_integers,
    number_texts,
    order_by_query,
    position_losses,
    take_lists,
)
from rankwright.kernels.naive.comparators import (
    comparator_gradient,
    compare_pairs,
    count_wins,
    sort_noting_mistakes,
    sort_rows,
)
from rankwright.kernels.naive.explanations import background_contributions, tree_contributions, tree_interactions
from rankwright.kernels.naive.features import (
    hash_queries,
    hash_rows,
    order_by_key,
    scale_by_mean,
    scale_by_range,
    standardise_rows,
    sum_moments,
)
from rankwright.kernels.naive.forests import find_leaves, score_codes, score_forest
from rankwright.kernels.naive.lambdas import label_pair_lambdas, point_lambdas, preference_lambdas, softmax_lambdas
from rankwright.kernels.naive.linear import (
    combined_draws,
    gram_matrix,
    kernel_prank_pass,
    kernel_scores,
    linear_scores,
    map_violations,
    pair_margins,
    prank_pass,
    quadratic_prank_pass,
    quadratic_scores,
    smooth_gains,
    sum_rows,
)
from rankwright.kernels.naive.metrics import (
    bootstrap_means,
    discounted_gains,
    exponential_gains,
    mark_ties,
    mean_gain_shares,
    order_ties,
    precision_sums,
    random_sign_sums,
    rank_rows,
    read_until_satisfied,
    wrong_pairs,
)
from rankwright.kernels.naive.nets import descend_net, follow_gradient, net_gradient, net_scores
from rankwright.kernels.naive.text import (
    format_cells,
    format_svmlight,
    line_ends,
    parse_cells,
    parse_svmlight,
    split_lines,
)
from rankwright.kernels.naive.tree_grower import add_leaf_values, grow_tree, quantise_lambdas, score_tree

NAMES = sorted(name for name, value in globals().items() if isfunction(value) and value is not isfunction)
