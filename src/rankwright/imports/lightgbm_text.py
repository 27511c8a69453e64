"""LightGBM's model text, as `Booster.save_model` writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, IntArray
from rankwright.errors import InputError
from rankwright.imports import lightgbm_rules as rules
from rankwright.imports.assembly import CategorySplit, TreeTable, assembled, leaf_tree, narrow
from rankwright.imports.foreign import ForeignForest, checked_width, names_if_own

NAME = "LightGBM text"
FIRST_LINE = b"tree"
TREE = "\nTree="
END = "\nend of trees"


def begins(start: bytes) -> bool:
    """Whether a file that starts so is LightGBM's text."""
    return start.split(b"\n", 1)[0].strip() == FIRST_LINE and b"\nversion=" in start[:200]


def read(content: bytes) -> ForeignForest:
    """The forest in the text."""
    text = content.decode("utf-8").replace("\r\n", "\n")
    del content  # it is as large as all that is made from it
    first = text.find(TREE)
    end = text.find(END)
    if end < 0:
        raise InputError("the text has no line `end of trees`: it is cut short")
    header = _entries(text[: first if 0 <= first < end else end])
    _check_header(header)
    trees, splits = [], _Splits()
    for block in _blocks(text, first, end):
        trees.append(_tree(block, splits))
    del text
    scale = 1 / max(len(trees), 1) if "average_output" in header else 1.0
    trees = [tree if scale == 1.0 else tree.scaled(scale) for tree in trees]
    n_features = checked_width(int(header["max_feature_idx"]) + 1)
    return ForeignForest(
        source=NAME,
        forest=assembled(trees, n_features, splits.readings()),
        feature_names=names_if_own(header.get("feature_names", "").split(" "), n_features, "Column_"),
        notes=rules.notes_of(header.get("objective", "")),
    )


def _check_header(header: Mapping[str, str]) -> None:
    if int(header.get("num_class", "1")) != 1 or int(header.get("num_tree_per_iteration", "1")) != 1:
        raise InputError("the model gives several scores a document (num_class above 1); a ranker gives one")


def _entries(block: str) -> dict[str, str]:
    """The lines `key=value` of a block; a line without a value is a flag."""
    return {key.strip(): value for key, _, value in (line.partition("=") for line in block.split("\n"))}


def _blocks(text: str, first: int, end: int) -> Iterator[dict[str, str]]:
    while 0 <= first < end:
        after = text.find(TREE, first + 1)
        after = end if after < 0 or after > end else after
        yield _entries(text[first + 1 : after])
        first = after


class _Splits:
    """What the splits of all trees say of how values are read."""

    def __init__(self) -> None:
        self._parts: list[tuple[IntArray, IntArray, BoolArray]] = []

    def add(self, feature: IntArray, types: IntArray, categorical: BoolArray) -> None:
        self._parts.append((narrow(feature), types.astype(np.int8), categorical))

    def readings(self) -> dict[int, Any]:
        if not self._parts:
            return {}
        return rules.readings_of(*(np.concatenate(column) for column in zip(*self._parts, strict=True)))


def _tree(block: Mapping[str, str], splits: _Splits) -> TreeTable:
    if block.get("is_linear", "0").strip() not in ("0", ""):
        raise InputError("the trees have linear models in their leaves (linear_tree): a forest has one value a leaf")
    n_leaves = int(block["num_leaves"])
    leaf_value = _numbers(block["leaf_value"])
    if len(leaf_value) != n_leaves or n_leaves < 1:
        raise InputError(f"a tree of {n_leaves} leaves has {len(leaf_value)} leaf values")
    if n_leaves == 1:
        return leaf_tree(float(leaf_value[0]))
    feature, decision = _whole(block["split_feature"]), _whole(block["decision_type"])
    n_inner = n_leaves - 1
    children = {side: _whole(block[f"{side}_child"]) for side in ("left", "right")}
    threshold = _numbers(block["threshold"])
    for name, found in (("split_feature", feature), ("decision_type", decision), ("threshold", threshold),
                        ("left_child", children["left"]), ("right_child", children["right"])):  # fmt: skip
        if len(found) != n_inner:
            raise InputError(f"a tree of {n_leaves} leaves has {len(found)} numbers in {name}")
    if feature.min() < 0:
        raise InputError("a node splits a feature below 0")
    types, categorical = rules.type_bits(decision), (decision & rules.CATEGORICAL_BIT) > 0
    splits.add(feature, types, categorical)
    default_left = (decision & rules.DEFAULT_LEFT_BIT) > 0
    sides = rules.missing_sides(threshold, types, default_left) & ~categorical
    leaves = np.zeros(n_leaves)
    return TreeTable(
        feature=narrow(np.concatenate([feature, np.full(n_leaves, -1)])),
        threshold=np.concatenate([rules.our_thresholds(threshold), leaves]).astype(np.float32),
        left=narrow(np.concatenate([_child(children["left"], n_inner), np.full(n_leaves, -1)])),
        right=narrow(np.concatenate([_child(children["right"], n_inner), np.full(n_leaves, -1)])),
        missing_left=np.concatenate([sides, leaves > 0]),
        value=np.concatenate([np.zeros(n_inner), leaf_value]),
        gain=np.concatenate([_or_zeros(block, "split_gain", n_inner), leaves]),
        count=np.concatenate([_or_zeros(block, "internal_count", n_inner), _or_zeros(block, "leaf_count", n_leaves)]),
        curvature=np.concatenate(
            [_or_zeros(block, "internal_weight", n_inner), _or_zeros(block, "leaf_weight", n_leaves)]
        ),
        categories=_category_splits(block, threshold, categorical),
    )


def _child(numbers: IntArray, n_inner: int) -> IntArray:
    """Children as places in the table: below 0 they are leaves, -1 the first."""
    return np.where(numbers < 0, n_inner - 1 - numbers, numbers)


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
        listed = rules.categories_in(words[bounds[place] : bounds[place + 1]].tolist())
        found[node] = CategorySplit(left=listed, right=(), others_left=False)
    return found


def _numbers(line: str) -> Float64Array:
    return np.array([float(word) for word in line.split()], np.float64)


def _whole(line: str) -> IntArray:
    return np.array([int(word) for word in line.split()], np.int64)


def _or_zeros(block: Mapping[str, str], name: str, length: int) -> Float64Array:
    """Numbers that scores do not depend on: zeros where they are absent or of another number."""
    found = _numbers(block.get(name, ""))
    return found if len(found) == length else np.zeros(length)


def read_live(model: Any) -> ForeignForest:
    """The forest of a `lightgbm.Booster`, or of an estimator that has one, which write themselves as text."""
    booster = model if hasattr(model, "model_to_string") else model.booster_
    best = int(getattr(booster, "best_iteration", -1))
    return read(booster.model_to_string(num_iteration=best if best > 0 else -1).encode())
