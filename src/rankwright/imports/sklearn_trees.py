"""Trees of scikit-learn's fitted regressors and binary boosters, from the live object.

scikit-learn compares float32 features with thresholds in double precision; at most the threshold goes left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rankwright.errors import InputError, require_input
from rankwright.imports.assembly import ForeignForest, TreeTable, at_most, foreign_forest

NAME = "scikit-learn"


def read(model: Any) -> ForeignForest:
    """The forest of a fitted model."""
    name = type(model).__name__
    if name not in READERS:
        raise InputError(f"a {name} is not read as trees; those that are: {', '.join(READERS)}")
    require_input(hasattr(model, "n_features_in_"), f"the {name} is not fitted")
    trees, base = READERS[name](model)
    names = [str(own) for own in getattr(model, "feature_names_in_", ())]
    return foreign_forest(NAME, trees, int(model.n_features_in_), base_score=base, names=names)


def _cart(tree: Any, values: Any) -> TreeTable:
    """A tree of the `tree` module with these values of its nodes."""
    is_leaf = tree.children_left < 0
    missing = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))
    return TreeTable(
        feature=np.where(is_leaf, -1, tree.feature).astype(np.int64),
        threshold=at_most(np.where(is_leaf, 0.0, tree.threshold)),
        left=tree.children_left.astype(np.int64),
        right=tree.children_right.astype(np.int64),
        missing_left=np.asarray(missing).astype(np.bool_) & ~is_leaf,
        value=np.where(is_leaf, values, 0.0).astype(np.float64),
        count=tree.n_node_samples.astype(np.int64),
    )


def _single(model: Any) -> tuple[list[TreeTable], float]:
    return [_cart(model.tree_, _one_output(model, model.tree_))], 0.0


def _averaged(model: Any) -> tuple[list[TreeTable], float]:
    n_trees = len(model.estimators_)
    return [_cart(one.tree_, _one_output(model, one.tree_)).scaled(1 / n_trees) for one in model.estimators_], 0.0


def _one_output(model: Any, tree: Any) -> Any:
    if tree.value.shape[1:] != (1, 1):
        raise InputError(f"the {type(model).__name__} gives several values a document; a ranker gives one score")
    return tree.value[:, 0, 0]


def _boosted(model: Any) -> tuple[list[TreeTable], float]:
    require_input(model.estimators_.shape[1] == 1, "the booster gives several scores a document; a ranker gives one")
    stages = [stage.tree_ for stage in model.estimators_[:, 0]]
    trees = [_cart(tree, tree.value[:, 0, 0]).scaled(model.learning_rate) for tree in stages]
    nowhere = np.zeros((1, model.n_features_in_), np.float32)
    raw = model.decision_function(nowhere) if hasattr(model, "decision_function") else model.predict(nowhere)
    said = sum(model.learning_rate * float(tree.predict(nowhere)[0, 0]) for tree in stages)
    constant = getattr(model.init_, "strategy", None) in ("mean", "median", "quantile", "constant", "prior")
    if model.init_ != "zero" and not constant:
        raise InputError("the booster starts from another model's predictions (init), which are no constant")
    return trees, float(np.ravel(raw)[0]) - said


def _histogram_boosted(model: Any) -> tuple[list[TreeTable], float]:
    predictors = getattr(model, "_predictors")  # noqa: B009  # theirs, and the only place where the trees are
    if any(len(stage) != 1 for stage in predictors):
        raise InputError("the booster gives several scores a document; a ranker gives one")
    base = float(np.ravel(getattr(model, "_baseline_prediction"))[0])  # noqa: B009
    return [_histogram_tree(stage[0].nodes) for stage in predictors], base


def _histogram_tree(nodes: Any) -> TreeTable:
    is_leaf = nodes["is_leaf"].astype(np.bool_)
    if (nodes["is_categorical"].astype(np.bool_) & ~is_leaf).any():
        raise InputError(
            "the booster has categorical features, which it encodes before its trees see them: encode them yourself, "
            "or compare the live object"
        )
    return TreeTable(
        feature=np.where(is_leaf, -1, nodes["feature_idx"]).astype(np.int64),
        threshold=at_most(np.where(is_leaf, 0.0, nodes["num_threshold"])),
        left=nodes["left"].astype(np.int64),
        right=nodes["right"].astype(np.int64),
        missing_left=nodes["missing_go_to_left"].astype(np.bool_) & ~is_leaf,
        value=np.where(is_leaf, nodes["value"], 0.0),
        gain=nodes["gain"].astype(np.float64),
        count=nodes["count"].astype(np.int64),
    )


READERS: Mapping[str, Callable[[Any], tuple[list[TreeTable], float]]] = {
    "DecisionTreeRegressor": _single,
    "ExtraTreeRegressor": _single,
    "RandomForestRegressor": _averaged,
    "ExtraTreesRegressor": _averaged,
    "GradientBoostingRegressor": _boosted,
    "GradientBoostingClassifier": _boosted,
    "HistGradientBoostingRegressor": _histogram_boosted,
    "HistGradientBoostingClassifier": _histogram_boosted,
}
