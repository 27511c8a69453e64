"""What other tools call our settings and arguments, so that a message can say what to write here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rankwright.errors import nearest

# Our names, and what LightGBM, XGBoost, CatBoost, RankLib, scikit-learn and others call the same.
_OTHERS: Mapping[str, tuple[str, ...]] = {
    "n_trees": ("n_estimators", "num_boost_round", "num_round", "num_rounds", "num_iterations", "iterations",
                "num_trees", "num_tree", "trees"),
    "max_leaves": ("num_leaves", "max_leaf_nodes", "max_leaf", "leaf", "leaves", "n_leaves"),
    "target_trees": ("n_trees", "n_estimators"),
    "max_depth": ("depth",),
    "min_docs_in_leaf": ("min_data_in_leaf", "min_child_samples", "min_samples_leaf", "min_leaf_support", "mls"),
    "learning_rate": ("eta", "shrinkage", "shrinkage_rate", "lr"),
    "query_fraction": ("subsample", "bagging_fraction"),
    "feature_fraction": ("colsample_bytree", "rsm"),
    "split_feature_fraction": ("colsample_bynode", "feature_fraction_bynode", "max_features"),
    "max_bins": ("max_bin", "border_count"),
    "l2": ("reg_lambda", "lambda_l2", "l2_leaf_reg", "l2_regularization"),
    "monotone": ("monotone_constraints", "monotonic_cst"),
    "categorical": ("categorical_feature", "cat_features", "categorical_features"),
    "growth": ("grow_policy",),
    "truncation": ("lambdarank_truncation_level", "lambdarank_num_pair_per_sample"),
    "early_stopping": ("early_stopping_rounds", "early_stopping_round", "n_iter_no_change", "od_wait"),
    "select": ("eval_metric",),
    "epochs": ("n_epochs", "num_epochs", "max_epochs"),
    "n_rounds": ("n_estimators", "rounds", "num_rounds"),
    "hidden": ("hidden_layer_sizes", "hidden_layers", "hidden_size"),
    "weight_decay": ("decay",),
    "max_iter": ("max_iterations", "n_iter"),
    "n_bags": ("n_estimators", "bags", "num_bags"),
    "seed": ("random_state", "random_seed"),
    "threads": ("n_jobs", "nthread", "num_threads", "thread_count", "jobs"),
    "out": ("output", "o", "save"),
    "version": ("V",),
}  # fmt: skip


def meant_by(name: str, known: Iterable[str]) -> str | None:
    """The known name for what another tool calls so, or else the one that looks most like it; None where none does."""
    known = list(known)
    same = (ours for ours, others in _OTHERS.items() if name in others and ours in known)
    return next(same, None) or nearest(name, known)
