"""XGBoost's models: the file of `Booster.save_model`, JSON or the same as UBJSON, and the dump of trees as JSON.

A dump (`Booster.dump_model`, also as search engines' plugins take it) has neither the base score nor the number of
features, and names features where their names were known.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from math import log
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray
from rankwright.data.feature_names import MADE_UP
from rankwright.errors import InputError, require_input
from rankwright.imports import assembly
from rankwright.imports.assembly import CategorySplit, ForeignForest, ListedNode, TreeTable
from rankwright.imports.stored_categories import Stored, forest_with_categories
from rankwright.imports.wire import ubjson
from rankwright.imports.wire.json_pieces import pieces
from rankwright.trees.forests.readings import Reading

JSON, UBJSON, DUMP = "XGBoost JSON", "XGBoost UBJSON", "XGBoost dump"
LOGISTIC = ("binary:logistic", "reg:logistic")
LOGARITHMIC = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft")
OBJECTIVES_OF_SEVERAL = ("multi:", "reg:quantileerror", "reg:expectileerror")
OBJECTIVES = ("rank:", "reg:", "binary:", "count:", "survival:", *OBJECTIVES_OF_SEVERAL)
PATHS = (("learner", "gradient_booster", "model", "trees"), ("learner", "gradient_booster", "gbtree", "model", "trees"))
WHOLE_PARTS = (
    "left_children", "right_children", "split_indices", "default_left", "split_type", "categories", "categories_nodes",
    "categories_segments", "categories_sizes",
)  # fmt: skip
NUMBER_PARTS = ("split_conditions", "loss_changes", "sum_hessian")
AROUND_A_LIST = """(echo '{"objective":"rank:ndcg","splits":'; cat LIST; echo '}') > MODEL.json"""
NUMBERED = re.compile(r"f(0|[1-9][0-9]{0,8})")
NUMBERED_BY_US = re.compile(MADE_UP + r"([1-9][0-9]{0,8})")


def begins_json(start: bytes) -> bool:
    """Whether a file that starts so is XGBoost's JSON."""
    return start.lstrip()[:1] == b"{" and start.lstrip()[1:].lstrip()[:1] == b'"' and b'"learner"' in start[:200]


def begins_ubjson(start: bytes) -> bool:
    """Whether a file that starts so is XGBoost's UBJSON."""
    return start[:1] == b"{" and start[1:2] in (b"L", b"i", b"U", b"I", b"l", b"$", b"#") and b"learner" in start[:64]


def begins_dump(start: bytes) -> bool:
    """Whether a file that starts so is a dump: a list of trees, or an object with `splits`."""
    text = start.lstrip()
    return (text[:1] == b"[" and b'"nodeid"' in text) or (text[:1] == b"{" and b'"splits"' in text)


def read_json(content: bytes) -> ForeignForest:
    """The forest in the JSON."""
    text = content.decode("utf-8")
    del content  # it is as large as all that is made from it
    trees: list[TreeTable] = []
    paths = PATHS[::-1] if '"gbtree":{' in text[:4096] else PATHS  # a guess, which saves reading it twice
    for path in paths:
        document = pieces(text, path, lambda tree: trees.append(_tree(tree)))
        if trees:
            break
    del text
    return _forest(document, trees, JSON)


def read_ubjson(content: bytes) -> ForeignForest:
    """The forest in the UBJSON."""
    document = ubjson.parsed(content)
    model = _model(document["learner"]["gradient_booster"])
    del content  # it is as large as all that is made from it
    trees = []
    for number, tree in enumerate(model["trees"]):
        trees.append(_tree(tree))
        model["trees"][number] = None
    return _forest(document, trees, UBJSON)


def read_live(model: Any) -> ForeignForest:
    """The forest of an `xgboost.Booster`, or of an estimator that has one: as its file has it."""
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    return read_ubjson(bytes(booster.save_raw(raw_format="ubj")))


def read_dump(content: bytes, objective: str | None = None) -> ForeignForest:
    """The forest in the dump; `objective` is what it was trained for, if its reader says so."""
    text = content.decode("utf-8")
    del content  # it is as large as all that is made from it
    trees: list[TreeTable] = []
    path = ("splits",) if text.lstrip()[:1] == "{" else ()
    header = pieces(
        text, path, lambda tree: trees.append(_strict_table(**assembly.nested_columns(tree, _children, _node)))
    )
    told = str(header.get("objective", "")) if isinstance(header, Mapping) else ""
    if told or objective or not _is_own_export(text):
        _check_one_score(told, objective)
    del text
    notes = ["a dump has neither the base score nor the weights of DART: scores are those of the trees alone"]
    return assembly.foreign_forest(DUMP, trees, None, _readings_of(trees), notes=notes)


def _is_own_export(text: str) -> bool:
    """Whether a list of trees is our export: without spaces, which XGBoost's has, and with our names of features."""
    return " " not in text and (f'"split":"{MADE_UP}' in text or '"split"' not in text)


def _check_one_score(told: str, given: str | None) -> None:
    """Raise unless the file or its reader tells an objective of one score: trees of several classes look the same."""
    if told and given is not None and given != told:
        raise InputError(f"objective={given!r} was given, and the file tells {told!r}")
    objective = told or given
    if not objective:
        raise InputError(
            "a list of trees does not tell whether they give one score or several. Where it is one, write that around "
            f"the list: `{AROUND_A_LIST}`, or in Python load(path, objective='rank:ndcg'). "
            "The file that save_model writes tells it"
        )
    if given is not None and not given.startswith(OBJECTIVES):
        raise InputError(f"objective must be one of XGBoost's, such as 'rank:ndcg', got {given!r}")
    if objective.startswith(OBJECTIVES_OF_SEVERAL):
        raise InputError(f"trees of objective {objective!r} may give several scores a document; a ranker gives one")


def _model(booster: Mapping[str, Any]) -> Any:
    """The part that holds the trees: inside a part of its own in DART's files before 3.4."""
    return booster["gbtree"]["model"] if "gbtree" in booster else booster["model"]


def _forest(document: Any, trees: list[TreeTable], source: str) -> ForeignForest:
    learner = document["learner"]
    booster, params = learner["gradient_booster"], learner["learner_model_param"]
    name = booster.get("name", "gbtree")
    if name not in ("gbtree", "dart"):
        raise InputError(f"the booster is {name!r}; only those made of trees (gbtree, dart) can be read")
    if max(int(params.get("num_class", "0")), int(params.get("num_target", "1"))) > 1:
        raise InputError("the model gives several scores a document (num_class or num_target above 1)")
    n_features, objective = int(params["num_feature"]), str(learner.get("objective", {}).get("name", ""))
    notes = []
    if objective in LOGISTIC + LOGARITHMIC:
        notes = [f"XGBoost transforms the scores of objective {objective!r}: these are the margins"]
    weighted = _weighted(trees, booster)
    trees = _up_to_best(weighted, learner)
    if len(trees) < len(weighted):
        notes.append(f"early stopping found {len(trees)} of {len(weighted)} trees best: the others are left out")
    return forest_with_categories(
        source,
        trees,
        n_features,
        _readings_of(trees),
        _stored(_model(booster).get("cats", {})),
        base_score=base_score(params.get("base_score", "0"), objective),
        names=[str(own) for own in learner.get("feature_names", [])],
        made_up="f",
        notes=notes,
    )


def _weighted(trees: list[TreeTable], booster: Mapping[str, Any]) -> list[TreeTable]:
    """The trees times DART's weights, where there are any: they lie beside the model, and since 3.4 inside it."""
    model = _model(booster)
    expected = int(model.get("gbtree_model_param", {}).get("num_trees", len(trees)))
    require_input(expected == len(trees), f"there are {len(trees)} trees and gbtree_model_param tells of {expected}")
    written = booster.get("weight_drop") or model.get("weight_drop")
    if not written:
        return trees
    weights = [float(weight) for weight in written]
    require_input(len(weights) == len(trees), f"there are {len(trees)} trees and {len(weights)} weights of them")
    return [tree.scaled(weight) for tree, weight in zip(trees, weights, strict=True)]


def _up_to_best(trees: list[TreeTable], learner: Mapping[str, Any]) -> list[TreeTable]:
    """The trees up to the best iteration, where training stopped early: those that `XGBRanker.predict` uses."""
    best = learner.get("attributes", {}).get("best_iteration")
    if best is None:
        return trees
    if int(best) < 0:
        raise InputError(f"best_iteration is {best}")
    model = _model(learner["gradient_booster"])
    at_a_time = int(model.get("gbtree_model_param", {}).get("num_parallel_tree", 1))
    return trees[: (int(best) + 1) * max(at_a_time, 1)]


def _stored(cats: Mapping[str, Any]) -> Stored:
    """The categories of a frame, which files have since 3.1."""
    entries = enumerate(cats.get("enc", []))
    lists = {feature: _texts(own) if "offsets" in own else np.array(own["values"]).tolist() for feature, own in entries}
    return {feature: own for feature, own in lists.items() if own}  # a feature of numbers has none


def _texts(written: Mapping[str, Any]) -> list[str]:
    """The texts, which lie in one array of bytes."""
    content = bytes(int(byte) % 256 for byte in written["values"])  # written as signed numbers
    return [content[begin:end].decode("utf-8") for begin, end in itertools.pairwise(map(int, written["offsets"]))]


def base_score(written: Any, objective: str) -> float:
    """What trees are added to; 2.x writes `5E-1`, since 3.1 it is `[5E-1]`."""
    value = float(str(written).strip().removeprefix("[").removesuffix("]"))
    if objective in LOGISTIC:
        require_input(0 < value < 1, f"base_score must lie between 0 and 1 for {objective}, got {value}")
        value = -log(1 / value - 1)
    elif objective in LOGARITHMIC:
        if value <= 0:
            raise InputError(f"base_score must be above 0 for {objective}, got {value}")
        value = log(value)
    return float(np.float32(value))


def _readings_of(trees: list[TreeTable]) -> dict[int, Reading]:
    """How values are read of features that a tree splits by categories."""
    features = {feature for tree in trees for feature in tree.feature[list(tree.categories)].tolist()}
    return dict.fromkeys(sorted(features), Reading.POSITIVE_CATEGORY)


def _tree(tree: Mapping[str, Any]) -> TreeTable:
    size = int(tree.get("tree_param", {}).get("size_leaf_vector", "1"))
    if size > 1 or "leaf_weights" in tree:
        raise InputError("the trees have several values a leaf (multi_output_tree); a ranker gives one score")
    parts: dict[str, Any] = {name: np.array(tree.get(name, []), np.int64) for name in WHOLE_PARTS}
    parts |= {name: np.array(tree.get(name, []), np.float64) for name in NUMBER_PARTS}
    left, conditions = parts["left_children"], parts["split_conditions"]
    n_nodes, inner = len(left), left >= 0
    for name in ("right_children", "split_conditions", "split_indices", "default_left"):
        if len(parts[name]) != n_nodes:
            raise InputError(f"a tree of {n_nodes} nodes has {len(parts[name])} numbers in {name}")
    feature = np.where(inner, parts["split_indices"], -1)
    require_input(not (feature[inner] < 0).any(), "a node splits a feature below 0")
    gain, curvature = (own if len(own) == n_nodes else np.zeros(n_nodes) for own in
                       (parts["loss_changes"], parts["sum_hessian"]))  # fmt: skip
    return _strict_table(
        feature=feature,
        threshold=conditions,
        left=left,
        right=parts["right_children"],
        missing_left=parts["default_left"] > 0,
        value=np.where(inner, 0.0, conditions),
        gain=gain,
        curvature=curvature,
        categories=_category_splits(parts, inner),
    )


def _strict_table(**columns: Any) -> TreeTable:
    """The tree of XGBoost, which sends values below the threshold left, compared as float32.

    A split whose left side no value reaches, since its threshold is -∞, becomes one that all pass, with swapped sides.
    """
    left, right, inner = columns["left"], columns["right"], columns["feature"] >= 0
    with np.errstate(over="ignore"):
        rounded = columns["threshold"].astype(np.float32)
    nothing = inner & np.isneginf(rounded)
    nothing[list(columns["categories"])] = False
    changed = {
        "threshold": np.where(nothing, np.float32(np.inf), assembly.below(rounded)),
        "left": np.where(nothing, right, left),
        "right": np.where(nothing, left, right),
        "missing_left": (columns["missing_left"] ^ nothing) & inner,
    }
    return TreeTable(**columns | changed)


def _category_splits(parts: Mapping[str, Any], inner: BoolArray) -> dict[int, CategorySplit]:
    """Listed categories go right, others left."""
    if not len(parts["split_type"]):
        return {}
    found = {}
    lists = (parts[f"categories_{name}"].tolist() for name in ("nodes", "segments", "sizes"))
    for node, start, size in zip(*lists, strict=True):
        if not (0 <= node < len(inner) and 0 <= start <= start + size <= len(parts["categories"])):
            raise InputError("a tree's categories do not fit its nodes")
        if inner[node]:
            own = parts["categories"][start : start + size]
            if len(own) and (own.min() < 0 or own.max() >= 2**24):
                raise InputError(f"categories must lie between 0 and {2**24}, got {own.min()} to {own.max()}")
            found[node] = CategorySplit((), own.astype(float).tolist(), others_left=True)
    if set(np.flatnonzero((parts["split_type"] == 1) & inner).tolist()) != set(found):
        raise InputError("the nodes that split categories are not those that have some")
    return found


# --- nodes of a dump ---


def _children(node: Mapping[str, Any]) -> tuple[Any, ...]:
    """The children that `yes` and `no` name."""
    if "leaf" in node:
        return ()
    by_id = {int(child["nodeid"]): child for child in node["children"]}
    yes, no = int(node["yes"]), int(node["no"])
    if len(by_id) != 2 or by_id.keys() != {yes, no}:
        raise InputError(f"the children of node {node['nodeid']} are not those that yes and no name")
    return by_id[yes], by_id[no]


def _column(feature: str) -> int:
    """The column, from 0, of a feature that XGBoost, or our export, called by its number."""
    if (numbered := NUMBERED.fullmatch(feature)) is not None:
        return int(numbered[1])
    if (numbered := NUMBERED_BY_US.fullmatch(feature)) is not None:
        return int(numbered[1]) - 1
    raise InputError(
        f"a dump does not tell which feature {feature!r} is: read the model file that save_model writes, or dump the "
        f"trees without names (f0, f1, …)"
    )


def _node(node: Mapping[str, Any]) -> ListedNode:
    cover = float(node.get("cover", 0))
    if isinstance(node.get("leaf"), list):
        raise InputError("the trees have several values a leaf (multi_output_tree); a ranker gives one score")
    if "leaf" in node:
        return ListedNode(value=float(node["leaf"]), curvature=cover)
    if "split_condition" not in node:
        raise InputError(f"node {node['nodeid']} has no split_condition: indicator features are not read")
    missing_left = int(node.get("missing", node["yes"])) == int(node["yes"])
    found = ListedNode(
        _column(str(node["split"])), missing_left=missing_left, gain=float(node.get("gain", 0)), curvature=cover
    )
    if isinstance(node["split_condition"], list):  # `yes`, our left, is where the listed ones go
        listed = [float(int(category)) for category in node["split_condition"]]
        found.categories = CategorySplit(left=listed, right=(), others_left=False)
    else:
        found.threshold = float(node["split_condition"])
    return found
