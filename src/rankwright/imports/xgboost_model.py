"""XGBoost's model file, as `Booster.save_model` writes it: JSON, or the same as UBJSON."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.errors import InputError
from rankwright.imports.assembly import CategorySplit, TreeTable, assembled, strict_table
from rankwright.imports.foreign import ForeignForest, checked_width, names_if_own
from rankwright.imports.wire import ubjson
from rankwright.imports.wire.json_pieces import pieces
from rankwright.trees.forests.readings import Reading

JSON, UBJSON = "XGBoost JSON", "XGBoost UBJSON"
LOGISTIC = ("binary:logistic", "binary:logitraw", "reg:logistic")
LOGARITHMIC = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft")
PATHS = (
    ("learner", "gradient_booster", "model", "trees"),
    ("learner", "gradient_booster", "gbtree", "model", "trees"),
)


def begins_json(start: bytes) -> bool:
    """Whether a file that starts so is XGBoost's JSON."""
    return start.lstrip()[:1] == b"{" and start.lstrip()[1:].lstrip()[:1] == b'"' and b'"learner"' in start[:200]


def begins_ubjson(start: bytes) -> bool:
    """Whether a file that starts so is XGBoost's UBJSON."""
    return start[:1] == b"{" and start[1:2] in (b"L", b"i", b"U", b"I", b"l", b"$", b"#") and b"learner" in start[:64]


def read_json(content: bytes) -> ForeignForest:
    """The forest in the JSON."""
    text = content.decode("utf-8")
    del content  # it is as large as all that is made from it
    trees: list[TreeTable] = []
    cut: set[int] = set()
    paths = PATHS[::-1] if '"gbtree":{' in text[:4096] else PATHS  # a guess, which saves reading it twice
    for path in paths:
        document = pieces(text, path, lambda tree: trees.append(_tree(_compact(tree), cut)))
        if trees:
            break
    del text
    return _forest(document, trees, cut, JSON)


def read_ubjson(content: bytes) -> ForeignForest:
    """The forest in the UBJSON."""
    document = ubjson.parsed(content)
    model = _model(document["learner"]["gradient_booster"])
    del content  # it is as large as all that is made from it
    cut: set[int] = set()
    trees = []
    for number, tree in enumerate(model["trees"]):
        trees.append(_tree(_compact(tree), cut))
        model["trees"][number] = None
    return _forest(document, trees, cut, UBJSON)


def _model(booster: Mapping[str, Any]) -> Any:
    """The part that holds the trees: inside a part of its own in DART's files before 3.4."""
    return booster["gbtree"]["model"] if "gbtree" in booster else booster["model"]


def _tree_weights(booster: Mapping[str, Any], n_trees: int) -> list[float] | None:
    """DART's weights of trees, where there are any: beside the model, and since 3.4 inside it."""
    model = _model(booster)
    expected = int(model.get("gbtree_model_param", {}).get("num_trees", n_trees))
    if expected != n_trees:
        raise InputError(f"there are {n_trees} trees and gbtree_model_param tells of {expected}")
    written = booster.get("weight_drop") or model.get("weight_drop")
    if not written:
        return None
    weights = [float(weight) for weight in written]
    if len(weights) != n_trees:
        raise InputError(f"there are {n_trees} trees and {len(weights)} weights of them")
    return weights


WHOLE_PARTS = (
    "left_children", "right_children", "split_indices", "default_left", "split_type", "categories", "categories_nodes",
    "categories_segments", "categories_sizes",
)  # fmt: skip
NUMBER_PARTS = ("split_conditions", "loss_changes", "sum_hessian")


def _compact(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a tree that are needed, as arrays."""
    size = int(tree.get("tree_param", {}).get("size_leaf_vector", "1"))
    if size > 1 or "leaf_weights" in tree:
        raise InputError("the trees have several values a leaf (multi_output_tree); a ranker gives one score")
    found: dict[str, Any] = {name: np.array(tree.get(name, []), np.int64) for name in WHOLE_PARTS}
    return found | {name: np.array(tree.get(name, []), np.float64) for name in NUMBER_PARTS}


def _forest(document: Any, tables: list[TreeTable], cut: set[int], source: str) -> ForeignForest:
    learner = document["learner"]
    booster, params = learner["gradient_booster"], learner["learner_model_param"]
    name = booster.get("name", "gbtree")
    if name not in ("gbtree", "dart"):
        raise InputError(f"the booster is {name!r}; only those made of trees (gbtree, dart) can be read")
    if max(int(params.get("num_class", "0")), int(params.get("num_target", "1"))) > 1:
        raise InputError("the model gives several scores a document (num_class or num_target above 1)")
    n_features = checked_width(int(params["num_feature"]))
    objective = str(learner.get("objective", {}).get("name", ""))
    weights = _tree_weights(booster, len(tables))
    if weights is not None:
        tables = [table.scaled(weight) for table, weight in zip(tables, weights, strict=True)]
    names = [str(own) for own in learner.get("feature_names", [])]
    return ForeignForest(
        source=source,
        forest=assembled(tables, n_features, dict.fromkeys(sorted(cut), Reading.POSITIVE_CATEGORY)),
        base_score=base_score(params.get("base_score", "0"), objective),
        feature_names=names_if_own(names, n_features, "f"),
        notes=notes_of(objective),
    )


def notes_of(objective: str) -> list[str]:
    """What is good to know about scores under that objective."""
    if objective in LOGISTIC + LOGARITHMIC:
        return [f"XGBoost transforms the scores of objective {objective!r}: these are the margins"]
    return []


def base_score(written: Any, objective: str) -> float:
    """What trees are added to; 2.x writes `5E-1`, since 3.1 it is `[5E-1]`."""
    value = float(str(written).strip().removeprefix("[").removesuffix("]"))
    if objective in LOGISTIC:
        if not 0 < value < 1:
            raise InputError(f"base_score must lie between 0 and 1 for {objective}, got {value}")
        return float(np.float32(-log(1 / value - 1)))
    if objective in LOGARITHMIC:
        if value <= 0:
            raise InputError(f"base_score must be above 0 for {objective}, got {value}")
        return float(np.float32(log(value)))
    return float(np.float32(value))


def _tree(tree: Mapping[str, Any], cut: set[int]) -> TreeTable:
    left, right, conditions = tree["left_children"], tree["right_children"], tree["split_conditions"]
    default_left = tree["default_left"] > 0
    inner = left >= 0
    for name in ("right_children", "split_conditions", "split_indices", "default_left"):
        if len(tree[name]) != len(left):
            raise InputError(f"a tree of {len(left)} nodes has {len(tree[name])} numbers in {name}")
    feature = np.where(inner, tree["split_indices"], -1)
    if (feature[inner] < 0).any():
        raise InputError("a node splits a feature below 0")
    categories = _category_splits(tree, inner)
    cut.update(int(feature[node]) for node in categories)
    return strict_table(
        feature=feature,
        threshold=conditions,
        left=left,
        right=right,
        missing_left=default_left,
        value=np.where(inner, 0.0, conditions),
        gain=_matching(tree["loss_changes"], len(left)),
        curvature=_matching(tree["sum_hessian"], len(left)),
        categories=categories,
    )


def _matching(values: Float64Array, length: int) -> Float64Array:
    return values if len(values) == length else np.zeros(length)


def _category_splits(tree: Mapping[str, Any], inner: Any) -> dict[int, CategorySplit]:
    """Listed categories go right, others left."""
    is_category = tree["split_type"] == 1
    nodes, starts, sizes = tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"]
    if not len(is_category):
        return {}
    found = {}
    for node, start, size in zip(nodes.tolist(), starts.tolist(), sizes.tolist(), strict=True):
        if not (0 <= node < len(inner) and 0 <= start <= start + size <= len(tree["categories"])):
            raise InputError("a tree's categories do not fit its nodes")
        if inner[node]:
            found[node] = CategorySplit((), _whole_floats(tree["categories"][start : start + size]), others_left=True)
    if set(np.flatnonzero(is_category & inner).tolist()) != set(found):
        raise InputError("the nodes that split categories are not those that have some")
    return found


def _whole_floats(values: IntArray) -> list[float]:
    if len(values) and (values.min() < 0 or values.max() >= 2**24):
        raise InputError(f"categories must lie between 0 and {2**24}, got {values.min()} to {values.max()}")
    return [float(value) for value in values.tolist()]


def read_live(model: Any) -> ForeignForest:
    """The forest of an `xgboost.Booster`, or of an estimator that has one, up to its best iteration."""
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    best = booster.attributes().get("best_iteration")
    chosen = booster if best is None or booster is model else booster[: int(best) + 1]
    return read_ubjson(bytes(chosen.save_raw(raw_format="ubj")))
