"""LightGBM's models: the text that `Booster.save_model` writes, and the JSON that `Booster.dump_model` gives.

LightGBM's rules of a split: values no larger than 1e-35 are read as 0. A missing value is NaN (type NaN), a zero or NaN
(type Zero), or nothing, and then NaN is read as 0 (type None). Splits of categories cut values to whole numbers; NaN
and unknown ones go right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.errors import InputError, require_input
from rankwright.imports import assembly
from rankwright.imports.assembly import CategorySplit, ForeignForest, ListedNode, TreeTable, narrow
from rankwright.imports.stored_categories import Stored, forest_with_categories
from rankwright.imports.wire.json_pieces import pieces
from rankwright.trees.forests.readings import LARGEST_ZERO, Reading

TEXT, JSON = "LightGBM text", "LightGBM JSON"
NONE, ZERO, NAN = 0, 1, 2  # types of missing values
TYPES: Mapping[str, int] = {"None": NONE, "Zero": ZERO, "NaN": NAN}
CATEGORICAL_BIT, DEFAULT_LEFT_BIT, TYPE_SHIFT = 1, 2, 2  # of a node's decision type
TREE, END = "\nTree=", "\nend of trees"
OBJECTIVES_THAT_TRANSFORM = ("binary", "cross_entropy", "poisson", "gamma", "tweedie", "multiclass")

Splits = list[tuple[IntArray, IntArray, BoolArray]]  # of each tree: features, types of missing values, by category?


def begins_text(start: bytes) -> bool:
    """Whether a file that starts so is LightGBM's text."""
    return start.split(b"\n", 1)[0].strip() == b"tree" and b"\nversion=" in start[:200]


def read_text(content: bytes) -> ForeignForest:
    """The forest in the text."""
    text = content.decode("utf-8").replace("\r\n", "\n")
    del content  # it is as large as all that is made from it
    first, end = text.find(TREE), text.find(END)
    if end < 0:
        raise InputError("the text has no line `end of trees`: it is cut short")
    header = _entries(text[: first if 0 <= first < end else end])
    _check_one_score(header)
    splits: Splits = []
    trees = [_tree_of_text(block, splits) for block in _blocks(text, first, end)]
    after_trees = text[end:]
    del text
    if "average_output" in header:
        trees = [tree.scaled(1 / len(trees)) for tree in trees]
    names = header.get("feature_names", "").split(" ")
    objective, last = header.get("objective", ""), int(header["max_feature_idx"])
    lists = _pandas_lists(after_trees)
    stored = stored_in(lists, _categorical_in_text(header, after_trees, lists))
    return _forest(TEXT, trees, splits, last, names, objective, stored)


def begins_json(start: bytes) -> bool:
    """Whether a file that starts so is LightGBM's JSON."""
    return start.lstrip()[:1] == b"{" and (b'"max_feature_idx"' in start or b'"tree_info"' in start)


def read_json(content: bytes) -> ForeignForest:
    """The forest in the JSON."""
    trees: list[TreeTable] = []
    splits: Splits = []
    text = content.decode("utf-8")
    del content  # it is as large as all that is made from it
    header = pieces(text, ("tree_info",), lambda tree: trees.append(_tree_of_json(tree, splits)))
    del text
    if not isinstance(header, dict) or "tree_info" not in header:
        raise InputError("tree_info is not there")
    _check_one_score(header)
    names = [str(name) for name in header.get("feature_names", [])]
    last = int(header.get("max_feature_idx", len(names) - 1))
    if header.get("average_output"):
        trees = [tree.scaled(1 / len(trees)) for tree in trees]
    lists, infos = header.get("pandas_categorical"), header.get("feature_infos", {})
    categorical = [number for number, name in enumerate(names) if infos.get(name, {}).get("values")]
    constant = [number for number, name in enumerate(names) if name not in infos]
    stored = stored_in(lists, _as_many_as(lists, categorical, constant))
    return _forest(JSON, trees, splits, last, names, str(header.get("objective", "")), stored)


def _check_one_score(header: Mapping[str, Any]) -> None:
    if int(header.get("num_class", 1)) != 1 or int(header.get("num_tree_per_iteration", 1)) != 1:
        raise InputError("the model gives several scores a document (num_class above 1); a ranker gives one")


def stored_in(lists: Any, columns: Sequence[int]) -> Stored:
    """The categories of a pandas frame by feature: a list for each of its columns of categories, in their order.

    A file does not tell which columns these are. LightGBM takes them as its categorical ones, unless they are ordered
    or others were named.
    """
    if not lists:
        return {}
    if not isinstance(lists, list) or not all(isinstance(own, list) for own in lists):
        raise InputError("pandas_categorical is not a list of lists")
    if len(lists) != len(columns):
        raise InputError(
            f"the model was trained on a frame with {len(lists)} columns of categories, and does not tell which these "
            f"are: it has {len(columns)} categorical features. Train with codes of ordered categories (cat.codes), and "
            f"without naming categorical_feature"
        )
    return dict(zip(columns, lists, strict=True))


def _forest(
    source: str,
    trees: list[TreeTable],
    splits: Splits,
    last_feature: int,
    names: list[str],
    objective: str,
    stored: Stored,
) -> ForeignForest:
    notes = []
    if objective.startswith(OBJECTIVES_THAT_TRANSFORM):
        notes = [f"LightGBM transforms the scores of objective {objective.split()[0]!r}: these are the raw ones"]
    return forest_with_categories(
        source, trees, last_feature + 1, _readings_of(splits), stored, names=names, made_up="Column_", notes=notes
    )


def _our_thresholds(threshold: Float64Array) -> Float32Array:
    """The thresholds as ours: all values no larger than 1e-35 are on one side, as they are read as 0."""
    near = assembly.at_most(threshold)
    of_zero = np.where(threshold >= 0, LARGEST_ZERO, np.nextafter(-LARGEST_ZERO, np.float32(-1)))
    return np.where(np.abs(near) <= LARGEST_ZERO, of_zero, near)


def _missing_sides(threshold: Float64Array | float, types: IntArray | int, default_left: BoolArray | bool) -> BoolArray:
    """Whether NaN goes left at each node."""
    return np.where(types == NONE, threshold >= 0, default_left)


def _readings_of(splits: Splits) -> dict[int, Reading]:
    """How the values of features are read, from all splits of a model."""
    found: dict[int, Reading] = {}
    if not splits:
        return found
    feature, types, categorical = (np.concatenate(column) for column in zip(*splits, strict=True))
    for number in np.unique(feature).tolist():
        own = feature == number
        by_category, zero_is_missing = categorical[own], types[own] == ZERO
        if by_category.any():
            found[number], alike = Reading.CATEGORY, by_category.all()
        elif zero_is_missing.any():
            found[number], alike = Reading.ZERO_IS_MISSING, zero_is_missing.all()
        else:
            continue
        if not alike:
            raise InputError(
                f"splits of feature {number} read its values in several ways (as numbers, as categories, with zeros as "
                f"missing ones): LightGBM makes no such model in one training"
            )
    return found


# --- text ---


def _entries(block: str) -> dict[str, str]:
    """The lines `key=value` of a block; a line without a value is a flag."""
    return {key.strip(): value for key, _, value in (line.partition("=") for line in block.split("\n"))}


def _pandas_lists(after_trees: str) -> Any:
    """What the last line tells of the categories of a pandas frame."""
    written = after_trees.rpartition("\npandas_categorical:")[2] if "\npandas_categorical:" in after_trees else "null"
    return json.loads(written)


def _categorical_in_text(header: Mapping[str, str], after_trees: str, lists: Any) -> list[int]:
    """The categorical features, as the parameters of training name them, or else by what was seen of each feature."""
    named = re.search(r"^\[categorical_feature: ([\d,]+)\]$", after_trees, re.MULTILINE)
    if named:
        return [int(number) for number in named[1].split(",")]
    infos = list(enumerate(header.get("feature_infos", "").split()))
    categorical = [number for number, info in infos if info != "none" and not info.startswith("[")]
    return _as_many_as(lists, categorical, [number for number, info in infos if info == "none"])


def _as_many_as(lists: Any, categorical: list[int], constant: list[int]) -> list[int]:
    """The categorical features, with those of a single value where that makes as many as there are lists."""
    both = sorted([*categorical, *constant])
    return both if isinstance(lists, list) and len(lists) == len(both) else categorical


def _blocks(text: str, first: int, end: int) -> Iterator[dict[str, str]]:
    while 0 <= first < end:
        after = text.find(TREE, first + 1)
        after = end if after < 0 or after > end else after
        yield _entries(text[first + 1 : after])
        first = after


def _tree_of_text(block: Mapping[str, str], splits: Splits) -> TreeTable:
    if block.get("is_linear", "0").strip() not in ("0", ""):
        raise InputError("the trees have linear models in their leaves (linear_tree): a forest has one value a leaf")
    n_leaves = int(block["num_leaves"])
    n_inner = n_leaves - 1
    leaf_value = _numbers(block["leaf_value"])
    if len(leaf_value) != n_leaves or n_leaves < 1:
        raise InputError(f"a tree of {n_leaves} leaves has {len(leaf_value)} leaf values")
    if n_leaves == 1:
        nowhere, nothing = np.array([-1]), np.zeros(1)
        return TreeTable(feature=nowhere, threshold=nothing.astype(np.float32), left=nowhere, right=nowhere,
                         missing_left=nothing > 0, value=leaf_value)  # fmt: skip
    feature, decision, left, right = (
        _whole(block[name]) for name in ("split_feature", "decision_type", "left_child", "right_child")
    )
    threshold = _numbers(block["threshold"])
    for name, found in (("split_feature", feature), ("decision_type", decision), ("threshold", threshold),
                        ("left_child", left), ("right_child", right)):  # fmt: skip
        require_input(len(found) == n_inner, f"a tree of {n_leaves} leaves has {len(found)} numbers in {name}")
    if feature.min() < 0:
        raise InputError("a node splits a feature below 0")
    types, categorical = (decision >> TYPE_SHIFT) & 3, (decision & CATEGORICAL_BIT) > 0
    if (types > NAN).any() or (decision < 0).any():
        raise InputError("a node has a decision type that LightGBM does not know")
    splits.append((narrow(feature), types.astype(np.int8), categorical))
    sides = _missing_sides(threshold, types, (decision & DEFAULT_LEFT_BIT) > 0) & ~categorical
    leaves, no_child = np.zeros(n_leaves), np.full(n_leaves, -1)

    def child(numbers: IntArray) -> IntArray:
        """Children as places in the table: numbers below 0 are leaves, -1 the first."""
        return narrow(np.concatenate([np.where(numbers < 0, n_inner - 1 - numbers, numbers), no_child]))

    def told(name: str, length: int) -> Float64Array:
        """Numbers that scores do not depend on: zeros where they are absent or of another number."""
        found = _numbers(block.get(name, ""))
        return found if len(found) == length else np.zeros(length)

    return TreeTable(
        feature=narrow(np.concatenate([feature, no_child])),
        threshold=np.concatenate([_our_thresholds(threshold), leaves]).astype(np.float32),
        left=child(left),
        right=child(right),
        missing_left=np.concatenate([sides, leaves > 0]),
        value=np.concatenate([np.zeros(n_inner), leaf_value]),
        gain=np.concatenate([told("split_gain", n_inner), leaves]),
        count=np.concatenate([told("internal_count", n_inner), told("leaf_count", n_leaves)]),
        curvature=np.concatenate([told("internal_weight", n_inner), told("leaf_weight", n_leaves)]),
        categories=_category_splits(block, threshold, categorical),
    )


def _category_splits(
    block: Mapping[str, str], threshold: Float64Array, categorical: BoolArray
) -> dict[int, CategorySplit]:
    if not categorical.any():
        return {}
    bounds, words = _whole(block["cat_boundaries"]), _whole(block["cat_threshold"])
    found = {}
    for node in np.flatnonzero(categorical).tolist():
        place = int(threshold[node])
        if not 0 <= place < len(bounds) - 1 or not 0 <= bounds[place] <= bounds[place + 1] <= len(words):
            raise InputError(f"a split names the set of categories {place}, which is not there")
        own = np.array(words[bounds[place] : bounds[place + 1]].tolist(), np.uint32)  # which refuses wider numbers
        bits = np.unpackbits(own.astype("<u4").view(np.uint8), bitorder="little")
        found[node] = CategorySplit(left=np.flatnonzero(bits).astype(float).tolist(), right=(), others_left=False)
    return found


def _numbers(line: str) -> Float64Array:
    return np.array([float(word) for word in line.split()], np.float64)


def _whole(line: str) -> IntArray:
    return np.array([int(word) for word in line.split()], np.int64)


def read_live(model: Any) -> ForeignForest:
    """The forest of a `lightgbm.Booster`, or of an estimator that has one, which write themselves as text."""
    booster = model if hasattr(model, "model_to_string") else model.booster_
    best = int(getattr(booster, "best_iteration", -1))
    return read_text(booster.model_to_string(num_iteration=best if best > 0 else -1).encode())


# --- JSON ---


def _tree_of_json(tree: Mapping[str, Any], splits: Splits) -> TreeTable:
    own: list[tuple[int, int, bool]] = []

    def read_node(node: Mapping[str, Any]) -> ListedNode:
        if "split_feature" not in node:
            return _leaf(node)
        if node["missing_type"] not in TYPES:
            raise InputError(f"missing_type {node['missing_type']!r} is not one of {', '.join(TYPES)}")
        missing = TYPES[node["missing_type"]]
        found = _split(node, missing)
        own.append((found.feature, missing, found.categories is not None))
        return found

    def children(node: Mapping[str, Any]) -> tuple[Any, ...]:
        return (node["left_child"], node["right_child"]) if "split_feature" in node else ()

    listed = assembly.nested_columns(tree["tree_structure"], children, read_node)
    if own:
        feature, types, categorical = (np.array(column) for column in zip(*own, strict=True))
        splits.append((feature, types, categorical))
    more = {"threshold": _our_thresholds(listed["threshold"]), "count": listed["count"].astype(np.int64)}
    return TreeTable(**listed | more)


def _leaf(node: Mapping[str, Any]) -> ListedNode:
    if "leaf_const" in node or "leaf_coeff" in node:
        raise InputError("the trees have linear models in their leaves (linear_tree)")
    count, weight = (float(node.get(name, 0)) for name in ("leaf_count", "leaf_weight"))
    return ListedNode(value=float(node["leaf_value"]), count=count, curvature=weight)


def _split(node: Mapping[str, Any], missing: int) -> ListedNode:
    found = ListedNode(
        feature=int(node["split_feature"]),
        gain=float(node.get("split_gain", 0)),
        count=float(node.get("internal_count", 0)),
        curvature=float(node.get("internal_weight", 0)),
    )
    if node["decision_type"] == "==":
        listed = [float(int(word)) for word in str(node["threshold"]).split("||") if word]
        found.categories = CategorySplit(left=listed, right=(), others_left=False)
    elif node["decision_type"] == "<=":
        found.threshold = float(node["threshold"])
        found.missing_left = bool(_missing_sides(found.threshold, missing, bool(node["default_left"])))
    else:
        raise InputError(f"decision_type {node['decision_type']!r} is neither <= nor ==")
    return found
