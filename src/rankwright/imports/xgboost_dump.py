"""XGBoost's dump of trees as JSON (`Booster.dump_model`), also as search engines' plugins take it.

A dump has neither the base score nor the number of features, and names features where their names were known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rankwright.errors import InputError
from rankwright.imports.assembly import CategorySplit, ListedNode, TreeTable, assembled, nested_columns, strict_table
from rankwright.imports.foreign import ForeignForest, checked_width
from rankwright.imports.wire.json_pieces import pieces
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
    del content  # it is as large as all that is made from it
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


def _children(node: Mapping[str, Any]) -> tuple[Any, ...]:
    """The children that `yes` and `no` name."""
    if "leaf" in node:
        return ()
    by_id = {int(child["nodeid"]): child for child in node["children"]}
    yes, no = int(node["yes"]), int(node["no"])
    if len(by_id) != 2 or by_id.keys() != {yes, no}:
        raise InputError(f"the children of node {node['nodeid']} are not those that yes and no name")
    return by_id[yes], by_id[no]


def _node(node: Mapping[str, Any]) -> ListedNode:
    cover = float(node.get("cover", 0))
    if "leaf" in node:
        return ListedNode(value=float(node["leaf"]), curvature=cover)
    if "split_condition" not in node:
        raise InputError(f"node {node['nodeid']} has no split_condition: indicator features are not read")
    found = ListedNode(
        feature=_number_of(node["split"]),
        missing_left=int(node.get("missing", node["yes"])) == int(node["yes"]),
        gain=float(node.get("gain", 0)),
        curvature=cover,
    )
    if isinstance(node["split_condition"], list):  # `yes`, our left, is where the listed ones go
        listed = [float(int(category)) for category in node["split_condition"]]
        found.categories = CategorySplit(left=listed, right=(), others_left=False)
    else:
        found.threshold = float(node["split_condition"])
    return found


def _tree(tree: Mapping[str, Any], cut: set[int]) -> TreeTable:
    table = strict_table(**nested_columns(tree, _children, _node))
    cut.update(table.feature[list(table.categories)].tolist())
    return table


def _number_of(name: Any) -> int:
    found = NUMBERED.fullmatch(str(name))
    if found is None:
        raise InputError(
            f"a dump does not tell which feature {name!r} is: read the model file that save_model writes, or dump the "
            f"trees without names (f0, f1, …)"
        )
    return int(found[1])
