"""LightGBM's JSON, as `Booster.dump_model` gives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwright.errors import InputError
from rankwright.imports import lightgbm_rules as rules
from rankwright.imports.assembly import CategorySplit, ListedNode, TreeTable, assembled, nested_columns
from rankwright.imports.foreign import ForeignForest, checked_width, names_if_own
from rankwright.imports.wire.json_pieces import pieces

NAME = "LightGBM JSON"


def begins(start: bytes) -> bool:
    """Whether a file that starts so is LightGBM's JSON."""
    return start.lstrip()[:1] == b"{" and (b'"max_feature_idx"' in start or b'"tree_info"' in start)


def read(content: bytes) -> ForeignForest:
    """The forest in the JSON."""
    trees: list[TreeTable] = []
    splits: list[tuple[int, int, bool]] = []
    text = content.decode("utf-8")
    del content  # it is as large as all that is made from it
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
    def read_node(node: Mapping[str, Any]) -> ListedNode:
        return _split(node, splits) if "split_feature" in node else _leaf(node)

    listed = nested_columns(
        tree["tree_structure"],
        lambda node: (node["left_child"], node["right_child"]) if "split_feature" in node else (),
        read_node,
    )
    own = {"threshold": rules.our_thresholds(listed["threshold"]), "count": listed["count"].astype(np.int64)}
    return TreeTable(**listed | own)


def _leaf(node: Mapping[str, Any]) -> ListedNode:
    if "leaf_const" in node or "leaf_coeff" in node:
        raise InputError("the trees have linear models in their leaves (linear_tree)")
    count, weight = (float(node.get(name, 0)) for name in ("leaf_count", "leaf_weight"))
    return ListedNode(value=float(node["leaf_value"]), count=count, curvature=weight)


def _split(node: Mapping[str, Any], splits: list[tuple[int, int, bool]]) -> ListedNode:
    """The split, which is also added to `splits`: its feature, its type of missing values, whether of categories."""
    if node["missing_type"] not in rules.TYPES:
        raise InputError(f"missing_type {node['missing_type']!r} is not one of {', '.join(rules.TYPES)}")
    found = ListedNode(
        feature=int(node["split_feature"]),
        gain=float(node.get("split_gain", 0)),
        count=float(node.get("internal_count", 0)),
        curvature=float(node.get("internal_weight", 0)),
    )
    missing = rules.TYPES[node["missing_type"]]
    if node["decision_type"] == "==":
        listed = [float(int(word)) for word in str(node["threshold"]).split("||") if word]
        found.categories = CategorySplit(left=listed, right=(), others_left=False)
    elif node["decision_type"] == "<=":
        found.threshold = float(node["threshold"])
        found.missing_left = bool(rules.missing_sides(found.threshold, missing, bool(node["default_left"])))
    else:
        raise InputError(f"decision_type {node['decision_type']!r} is neither <= nor ==")
    splits.append((found.feature, missing, found.categories is not None))
    return found
