"""ONNX graphs of one TreeEnsemble (ai.onnx.ml, version 5) or TreeEnsembleRegressor (the older form)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array, IntArray
from rankwright.errors import InputError, require_input
from rankwright.imports.assembly import CategorySplit, ForeignForest, TreeTable, at_most, below, foreign_forest, narrow
from rankwright.imports.wire.protobuf import Message, floats, message_of, text, whole, wholes

NAME = "ONNX"
GRAPH, NODES, INPUTS, IR_VERSION = 7, 1, 11, 1  # fields of a model and of its graph
PASSING = ("Identity", "Cast", "Reshape", "Flatten", "Squeeze")  # operators that change no score
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
LEQ, LT, GTE, GT, EQ, NEQ, MEMBER = range(7)
DTYPES: Mapping[int, str] = {1: "<f4", 2: "|u1", 6: "<i4", 7: "<i8", 11: "<f8"}
SUM, AVERAGE = 1, 0


def begins(start: bytes) -> bool:
    """Whether a file that starts so may be an ONNX model: its first field is the version of the format."""
    return len(start) > 2 and start[0] == IR_VERSION << 3 and 3 <= start[1] <= 20


def read(content: bytes) -> ForeignForest:
    """The forest in the graph."""
    trees, base, width = _parsed(content)
    del content  # it is as large as all that is made from it
    return foreign_forest(NAME, trees, width, base_score=base)


def _parsed(content: bytes) -> tuple[list[TreeTable], float, int | None]:
    """The trees of the graph, its base score, and how many features it takes, where it tells."""
    model = message_of(content)
    graph = message_of(_one(model, GRAPH, "graph"))
    nodes = [message_of(node) for node in graph.get(NODES, [])]
    kinds = [text(node[4][0]) if 4 in node else "" for node in nodes]
    ensembles = [node for node, kind in zip(nodes, kinds, strict=True) if kind in READERS]
    others = sorted({kind for kind in kinds if kind not in (*READERS, *PASSING)})
    if len(ensembles) != 1 or others:
        raise InputError(
            f"the graph must be one TreeEnsemble or TreeEnsembleRegressor, got "
            f"{len(ensembles)} of them{' and ' + ', '.join(others[:5]) if others else ''}"
        )
    attributes = map(message_of, ensembles[0].get(5, []))
    kind = next(kind for kind in kinds if kind in READERS)
    trees, base = READERS[kind](_Attributes({text(_one(own, 1, "name")): own for own in attributes}))
    return trees, base, _width(graph)


def _one(message: Message, number: int, what: str) -> Any:
    require_input(len(message.get(number, [])) == 1, f"the file has no {what}, or several")
    return message[number][0]


def _width(graph: Message) -> int | None:
    """The second dimension of the graph's first input, where it is a number."""
    value = next(iter(graph.get(INPUTS, [])), b"")
    for number in (2, 1, 2):  # type, tensor type, shape
        value = next(iter(message_of(value).get(number, [])), b"")
    dimensions = [message_of(dimension) for dimension in message_of(value).get(1, [])]
    if len(dimensions) != 2 or 1 not in dimensions[1]:
        return None
    return whole(dimensions[1][1][0])


class _Attributes:
    """The attributes of an operator, by name."""

    def __init__(self, attributes: Mapping[str, Message]) -> None:
        self._attributes = attributes

    def _field(self, name: str, number: int) -> list[Any]:
        return self._attributes.get(name, {}).get(number, [])

    def wholes(self, name: str) -> IntArray:
        return wholes(self._field(name, 8))

    def number(self, name: str, default: int) -> int:
        return whole((self._field(name, 3) or [default])[0])

    def word(self, name: str, default: str) -> str:
        return text((self._field(name, 4) or [default.encode()])[0])

    def places(self, name: str, words: Sequence[str]) -> NDArray[np.int8]:
        """Which of the known words each word of a list is."""
        place_of = {word.encode(): place for place, word in enumerate(words)}
        listed = self._field(name, 9)
        unknown = next((value for value in listed if bytes(value) not in place_of), None)
        if unknown is not None:
            raise InputError(f"a node is of the mode {text(unknown)!r}")
        return np.fromiter((place_of[bytes(value)] for value in listed), np.int8, len(listed))

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Floats, or a tensor of the same name (`…_as_tensor` in the older form)."""
        if listed := self._field(name, 7):
            return floats(listed).astype(np.float64)
        return self.tensor(name if name in self._attributes else f"{name}_as_tensor").astype(np.float64)

    def tensor(self, name: str) -> NDArray[Any]:
        if name not in self._attributes:
            return np.empty(0)
        tensor = message_of(_one(self._attributes[name], 5, f"tensor in {name}"))
        dtype = DTYPES.get(tensor.get(2, [0])[0])
        if dtype is None:
            raise InputError(f"the tensor {name} is of a type that trees do not have")
        for number, stored in ((9, dtype), (4, "<f4"), (10, "<f8")):  # bytes, floats, doubles
            if number in tensor:
                return floats(tensor[number], stored)
        return wholes(tensor.get(5, tensor.get(7, [])))

    def missing_sides(self, n_nodes: int) -> BoolArray:
        """Whether missing values go where the condition holds, which is nowhere unless it is told."""
        tracks = self.wholes("nodes_missing_value_tracks_true") != 0
        return tracks if len(tracks) else np.zeros(n_nodes, np.bool_)


def _regressor(attributes: _Attributes) -> tuple[list[TreeTable], float]:
    """The trees of the older form, whose nodes are listed with their tree and their number in it."""
    if attributes.number("n_targets", 1) != 1:
        raise InputError("the model gives several scores a document; a ranker gives one")
    if attributes.word("post_transform", "NONE") != "NONE":
        raise InputError("the model transforms its scores (post_transform)")
    tree, number = (narrow(attributes.wholes(name)) for name in ("nodes_treeids", "nodes_nodeids"))
    modes = attributes.places("nodes_modes", (*MODES, "LEAF"))
    modes[modes == len(MODES)] = -1
    n_nodes, inner = len(tree), modes >= 0
    columns: dict[str, NDArray[Any]] = {
        "number": number, "mode": modes, "feature": narrow(attributes.wholes("nodes_featureids")),
        "split": attributes.numbers("nodes_values"), "true": narrow(attributes.wholes("nodes_truenodeids")),
        "false": narrow(attributes.wholes("nodes_falsenodeids")), "tracks": attributes.missing_sides(n_nodes),
    }  # fmt: skip
    for name, column in columns.items():
        require_input(len(column) == n_nodes, f"{n_nodes} nodes have {len(column)} numbers of {name}")
    places = _Places(_keys(tree, columns.pop("number")))
    for side in ("true", "false"):
        columns[side] = _children_in_tree(places, tree, columns[side], inner)
    value = np.where(inner, 0.0, _leaf_values(attributes, places, n_nodes))
    table = _ordered_splits(columns, value, {})
    roots = _roots(tree, columns["true"][inner], columns["false"][inner])
    base = attributes.numbers("base_values")
    how = attributes.word("aggregate_function", "SUM")
    return _trees(table, roots, how, ("SUM", "AVERAGE")), float(base[0]) if len(base) else 0.0


class _Places:
    """Where the nodes with given keys stand."""

    def __init__(self, keys: IntArray) -> None:
        self._order = np.argsort(keys)
        self._keys = keys[self._order]
        require_input(not (self._keys[1:] == self._keys[:-1]).any(), "two nodes of a tree have the same number")

    def of(self, keys: IntArray) -> IntArray:
        """The place of each key; -1 where no node has it."""
        if not len(self._keys):
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[at] == keys, self._order[at], -1)


def _children_in_tree(places: _Places, tree: IntArray, numbers: IntArray, inner: BoolArray) -> IntArray:
    """The places of the nodes that splits lead to on one side; -1 for leaves."""
    found = np.full(len(tree), -1)
    found[inner] = places.of(_keys(tree[inner], numbers[inner]))
    lost = np.flatnonzero(inner & (found < 0))
    if len(lost):
        raise InputError(f"a node leads to node {numbers[lost[0]]}, which is not in its tree")
    return found


def _roots(tree: IntArray, *children: IntArray) -> IntArray:
    """The root of each tree, by the tree's number: the node that is nobody's child."""
    is_root = np.ones(len(tree), np.bool_)
    is_root[np.concatenate(children)] = False
    roots = np.flatnonzero(is_root)
    roots = roots[np.argsort(tree[roots], kind="stable")]
    if not np.array_equal(tree[roots], np.unique(tree)):
        raise InputError("a tree must have one root, and here one has several or none")
    return roots


def _leaf_values(attributes: _Attributes, places: _Places, n_nodes: int) -> NDArray[np.float64]:
    """The value of each node that is a leaf."""
    owners = attributes.wholes("target_treeids"), attributes.wholes("target_nodeids")
    weights = attributes.numbers("target_weights")
    require_input(len(owners[0]) == len(owners[1]) == len(weights), "the values of leaves do not fit the leaves")
    found = places.of(_keys(*owners))
    lost = np.flatnonzero(found < 0)
    if len(lost):
        tree, node = (numbers[lost[0]] for numbers in owners)
        raise InputError(f"a leaf value is of node {node} of tree {tree}, which is not there")
    values = np.zeros(n_nodes)
    np.add.at(values, found, weights)
    return values


def _keys(tree: IntArray, number: IntArray) -> IntArray:
    """One number for each node of each tree."""
    for column in (tree, number):
        if len(column) and (column.min() < 0 or column.max() >= 2**31):
            raise InputError("a tree, or a node, has a number below 0 or above 2^31 - 1")
    return tree.astype(np.int64) << 31 | number


def _ordered_splits(
    columns: Mapping[str, NDArray[Any]], value: NDArray[np.float64], members: dict[int, list[float]]
) -> TreeTable:
    """Splits of all modes as ours: a condition that holds for large values has its sides swapped.

    `members` lists the values of splits by membership.
    """
    mode, feature, split, tracks = (columns[name] for name in ("mode", "feature", "split", "tracks"))
    true, false = columns["true"], columns["false"]
    inner = mode >= 0
    require_input(not (feature[inner] < 0).any(), "a node splits a feature below 0")
    nothing = np.isin(mode, (LT, GTE)) & np.isneginf(split)  # x < -∞ never holds, x >= -∞ always
    swap = np.isin(mode, (GTE, GT, NEQ)) ^ nothing
    threshold: Float32Array = np.where(np.isin(mode, (LEQ, GT)), at_most(split), below(split))
    missing_true = tracks | (mode == NEQ)  # NaN differs from everything
    equal = {int(node): [float(split[node])] for node in np.flatnonzero(np.isin(mode, (EQ, NEQ)))}
    categories = {}
    for node, listed in (equal | members).items():
        if tracks[node] and mode[node] != NEQ:
            raise InputError("a split by equality sends missing values elsewhere than other values")
        categories[node] = CategorySplit(left=listed, right=(), others_left=False)
    return TreeTable(
        feature=np.where(inner, feature, -1),
        threshold=np.where(nothing, np.float32(np.inf), threshold),
        left=np.where(swap, false, true),
        right=np.where(swap, true, false),
        missing_left=(missing_true ^ swap) & inner,
        value=value,
        categories=categories,
    )


def _ensemble(attributes: _Attributes) -> tuple[list[TreeTable], float]:
    """The trees of version 5, whose leaves are listed apart from the nodes."""
    if attributes.number("n_targets", 1) != 1 or attributes.number("post_transform", 0) != 0:
        raise InputError("the model gives several scores a document, or transforms them")
    feature, leaf_weights = attributes.wholes("nodes_featureids"), attributes.numbers("leaf_weights")
    n_nodes, n_leaves = len(feature), len(leaf_weights)
    mode, split = attributes.tensor("nodes_modes").astype(np.int64), attributes.numbers("nodes_splits")
    true, false = (_children_of(attributes, side, n_nodes, n_leaves) for side in ("true", "false"))
    tracks = attributes.missing_sides(n_nodes)
    if not len(mode) == len(split) == len(tracks) == n_nodes or (mode > MEMBER).any():
        raise InputError(f"the modes, splits and missing sides of {n_nodes} nodes do not fit them")
    alone = true == false  # a tree of one leaf still has a node: both its sides are that leaf
    require_input(not (true[alone] < n_nodes).any(), "a node of a tree is reached in two ways")
    mode = np.where(alone, -1, mode)
    value = np.zeros(n_nodes)
    value[alone] = leaf_weights[true[alone] - n_nodes]
    nodes = {"mode": mode, "feature": feature, "split": split, "tracks": tracks, "true": true, "false": false}
    of_leaves = {"mode": -1, "true": -1, "false": -1}
    columns = {
        name: np.append(own, np.full(n_leaves, of_leaves.get(name, 0), own.dtype)) for name, own in nodes.items()
    }
    table = _ordered_splits(columns, np.append(value, leaf_weights), _members(attributes, mode))
    roots = attributes.wholes("tree_roots")
    if len(roots) and not (roots.min() >= 0 and roots.max() < max(n_nodes, 1)):
        raise InputError("a tree's root is not there")
    return _trees(table, roots, attributes.number("aggregate_function", SUM), (SUM, AVERAGE)), 0.0


def _children_of(attributes: _Attributes, side: str, n_nodes: int, n_leaves: int) -> IntArray:
    """The children on one side, leaves numbered after the nodes."""
    number, is_leaf = attributes.wholes(f"nodes_{side}nodeids"), attributes.wholes(f"nodes_{side}leafs") != 0
    if not len(number) == len(is_leaf) == n_nodes:
        raise InputError(f"{n_nodes} nodes have {len(number)} children on the {side} side")
    limit = np.where(is_leaf, n_leaves, n_nodes)
    require_input(not ((number < 0) | (number >= limit)).any(), "a node leads to one that is not there")
    return np.where(is_leaf, number + n_nodes, number)


def _members(attributes: _Attributes, mode: IntArray) -> dict[int, list[float]]:
    """The values that splits by membership list, each list with NaN at its end."""
    nodes, values = np.flatnonzero(mode == MEMBER).tolist(), attributes.numbers("membership_values")
    *lists, _ = np.split(values, np.flatnonzero(np.isnan(values)) + 1)
    require_input(len(lists) == len(nodes), f"{len(nodes)} splits by membership have {len(lists)} lists of members")
    return {node: listed[:-1].tolist() for node, listed in zip(nodes, lists, strict=True)}


def _trees(table: TreeTable, roots: IntArray, how: Any, sum_and_mean: tuple[Any, Any]) -> list[TreeTable]:
    """The trees with these roots, whose values are added up."""
    require_input(how in sum_and_mean, "trees are neither added up nor averaged")
    trees = [_part(table, own) for own in _owned(table, roots)]
    return [tree.scaled(1 / len(trees)) for tree in trees] if how == sum_and_mean[1] else trees


def _owned(table: TreeTable, roots: IntArray) -> list[IntArray]:
    """The nodes of each tree, its root first; all trees are walked together."""
    tree, nodes = [np.arange(len(roots))], [roots]
    n_found = len(roots)
    while len(nodes[-1]):
        inner = table.feature[nodes[-1]] >= 0
        parents = nodes[-1][inner]
        nodes.append(np.concatenate([table.left[parents], table.right[parents]]))
        tree.append(np.tile(tree[-1][inner], 2))
        n_found += len(nodes[-1])
        require_input(n_found <= len(table.feature), "a node of a tree is reached in two ways")
    owner, joined = np.concatenate(tree), np.concatenate(nodes)
    order = np.argsort(owner, kind="stable")
    return np.split(joined[order], np.cumsum(np.bincount(owner, minlength=len(roots)))[:-1]) if len(roots) else []


def _part(table: TreeTable, nodes: IntArray) -> TreeTable:
    """One tree of a table of several."""
    order = np.argsort(nodes)
    ordered = nodes[order]
    inner = table.feature[nodes] >= 0

    def local(children: IntArray) -> IntArray:
        places = order[np.searchsorted(ordered, np.where(inner, children[nodes], nodes))]
        return np.where(inner, places, -1)

    listed = enumerate(nodes.tolist()) if table.categories else ()
    return TreeTable(
        feature=table.feature[nodes], threshold=table.threshold[nodes], left=local(table.left),
        right=local(table.right), missing_left=table.missing_left[nodes], value=table.value[nodes],
        categories={place: table.categories[node] for place, node in listed if node in table.categories},
    )  # fmt: skip


READERS = {"TreeEnsembleRegressor": _regressor, "TreeEnsemble": _ensemble}
