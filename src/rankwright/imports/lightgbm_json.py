"""LightGBM's JSON, as `Booster.dump_model` gives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwright.errors import InputError
from rankwright.imports import lightgbm_rules as rules
from rankwright.imports.assembly import CategorySplit, TreeTable, assembled
from rankwright.imports.foreign import ForeignForest, checked_width, names_if_own
from rankwright.imports.wire.json_pieces import pieces
from rankwright.imports.wire.nested import flattened

NAME = "LightGBM JSON"


def begins(start: bytes) -> bool:
    """Whether a file that starts so is LightGBM's JSON."""
    return start.lstrip()[:1] == b"{" and (b'"max_feature_idx"' in start or b'"tree_info"' in start)


def read(content: bytes) -> ForeignForest:
    """The forest in the JSON."""
    trees: list[TreeTable] = []
    splits: list[tuple[int, int, bool]] = []
    text = content.decode("utf-8")
    del content  # as large as all that is made of it
    header = pieces(text, ("tree_info",), lambda tree: trees.append(_tree(tree, splits)))
    del text
    if not isinstance(header, dict) or "tree_info" not in header:
        raise InputError("tree_info is not there")
    if int(header.get("num_class", 1)) != 1 or int(header.get("num_tree_per_iteration", 1)) != 1:
        raise InputError("the model gives several scores a document (num_class above 1); a ranker gives one")
    names = [str(name) for name in header.get("feature_names", [])]
    n_features = checked_width(int(header.get("max_feature_idx", len(names) - 1)) + 1)
    if header.get("average_output"):
        trees = [tree.scaled(1 / len(trees)) for tree in trees]
    columns = [np.array(column) for column in zip(*splits, strict=True)]
    return ForeignForest(
        source=NAME,
        forest=assembled(trees, n_features, rules.readings_of(*columns) if columns else None),
        feature_names=names_if_own(names, n_features, "Column_"),
        notes=rules.notes_of(str(header.get("objective", ""))),
    )


def _tree(tree: Mapping[str, Any], splits: list[tuple[int, int, bool]]) -> TreeTable:
    nodes, left, right = flattened(tree["tree_structure"], lambda node: (node["left_child"], node["right_child"]),
                                   is_leaf=lambda node: "split_feature" not in node)  # fmt: skip
    n_nodes = len(nodes)
    feature = np.full(n_nodes, -1)
    threshold, value, gain = np.zeros(n_nodes), np.zeros(n_nodes), np.zeros(n_nodes)
    types, default_left = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.bool_)
    categories: dict[int, CategorySplit] = {}
    count, curvature = np.zeros(n_nodes), np.zeros(n_nodes)
    for number, node in enumerate(nodes):
        if left[number] < 0:
            if "leaf_const" in node or "leaf_coeff" in node:
                raise InputError("the trees have linear models in their leaves (linear_tree)")
            value[number], count[number] = float(node["leaf_value"]), float(node.get("leaf_count", 0))
            curvature[number] = float(node.get("leaf_weight", 0))
            continue
        feature[number] = int(node["split_feature"])
        gain[number], count[number] = float(node.get("split_gain", 0)), float(node.get("internal_count", 0))
        curvature[number] = float(node.get("internal_weight", 0))
        if node["missing_type"] not in rules.TYPES:
            raise InputError(f"missing_type {node['missing_type']!r} is not one of {', '.join(rules.TYPES)}")
        types[number], default_left[number] = rules.TYPES[node["missing_type"]], bool(node["default_left"])
        if node["decision_type"] == "==":
            listed = [float(int(word)) for word in str(node["threshold"]).split("||") if word]
            categories[number] = CategorySplit(left=listed, right=(), others_left=False)
        elif node["decision_type"] == "<=":
            threshold[number] = float(node["threshold"])
        else:
            raise InputError(f"decision_type {node['decision_type']!r} is neither <= nor ==")
        splits.append((int(feature[number]), int(types[number]), number in categories))
    sides = rules.missing_sides(threshold, types, default_left) & (feature >= 0)
    sides[list(categories)] = False
    return TreeTable(
        feature=feature,
        threshold=rules.our_thresholds(threshold),
        left=left,
        right=right,
        missing_left=sides,
        value=value,
        gain=gain,
        count=count.astype(np.int64),
        curvature=curvature,
        categories=categories,
    )
