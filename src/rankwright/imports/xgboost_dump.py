"""XGBoost's dump of trees as JSON (`Booster.dump_model`), also as search engines' plugins take it.

A dump has neither the base score nor the number of features, and names features where their names were known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwright.errors import InputError
from rankwright.imports.assembly import CategorySplit, TreeTable, assembled
from rankwright.imports.foreign import ForeignForest, checked_width
from rankwright.imports.thresholds import always_false, below
from rankwright.imports.wire.json_pieces import pieces
from rankwright.imports.wire.nested import flattened
from rankwright.trees.forests.readings import Reading

NAME = "XGBoost dump"
NUMBERED = re.compile(r"f(0|[1-9][0-9]{0,8})")


def begins(start: bytes) -> bool:
    """Whether a file that starts so is such a dump: a list of trees, or an object with `splits`."""
    text = start.lstrip()
    return (text[:1] == b"[" and b'"nodeid"' in text) or (text[:1] == b"{" and b'"splits"' in text)


def read(content: bytes) -> ForeignForest:
    """The forest in the dump."""
    text = content.decode("utf-8")
    del content  # as large as all that is made of it
    trees: list[TreeTable] = []
    cut: set[int] = set()
    wrapped = text.lstrip()[:1] == "{"
    pieces(text, ("splits",) if wrapped else (), lambda tree: trees.append(_tree(tree, cut)))
    del text
    n_features = checked_width(max((int(tree.feature.max(initial=-1)) for tree in trees), default=-1) + 1)
    return ForeignForest(
        source=NAME,
        forest=assembled(trees, n_features, dict.fromkeys(sorted(cut), Reading.POSITIVE_CATEGORY)),
        knows_width=False,
        notes=["a dump has neither the base score nor the weights of DART: scores are those of the trees alone"],
    )


def _children(node: Mapping[str, Any]) -> tuple[Any, Any]:
    """The children that `yes` and `no` name."""
    by_id = {int(child["nodeid"]): child for child in node["children"]}
    yes, no = int(node["yes"]), int(node["no"])
    if len(by_id) != 2 or by_id.keys() != {yes, no}:
        raise InputError(f"the children of node {node['nodeid']} are not those that yes and no name")
    return by_id[yes], by_id[no]


def _tree(tree: Mapping[str, Any], cut: set[int]) -> TreeTable:
    nodes, left, right = flattened(tree, _children, is_leaf=lambda node: "leaf" in node)
    n_nodes = len(nodes)
    feature, condition, value = np.full(n_nodes, -1), np.zeros(n_nodes), np.zeros(n_nodes)
    missing_left, gain, curvature = np.zeros(n_nodes, np.bool_), np.zeros(n_nodes), np.zeros(n_nodes)
    categories: dict[int, CategorySplit] = {}
    for number, node in enumerate(nodes):
        curvature[number] = float(node.get("cover", 0))
        if left[number] < 0:
            value[number] = float(node["leaf"])
            continue
        feature[number] = _number_of(node["split"])
        missing_left[number] = int(node.get("missing", node["yes"])) == int(node["yes"])
        gain[number] = float(node.get("gain", 0))
        if "split_condition" not in node:
            raise InputError(f"node {node['nodeid']} has no split_condition: indicator features are not read")
        if isinstance(node["split_condition"], list):  # `yes`, our left, is where the listed ones go
            listed = [float(int(category)) for category in node["split_condition"]]
            categories[number] = CategorySplit(left=listed, right=(), others_left=False)
            cut.add(int(feature[number]))
        else:
            condition[number] = float(np.float32(float(node["split_condition"])))
    nothing = always_false(condition)
    return TreeTable(
        feature=feature,
        threshold=np.where(nothing, np.float32(np.inf), below(condition)),
        left=np.where(nothing, right, left),
        right=np.where(nothing, left, right),
        missing_left=(missing_left ^ nothing) & (feature >= 0),
        value=value,
        gain=gain,
        curvature=curvature,
        categories=categories,
    )


def _number_of(name: Any) -> int:
    found = NUMBERED.fullmatch(str(name))
    if found is None:
        raise InputError(
            f"a dump does not tell which feature {name!r} is: read the model file that save_model writes, or dump the "
            f"trees without names (f0, f1, …)"
        )
    return int(found[1])
