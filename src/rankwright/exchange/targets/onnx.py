"""ONNX: trees as TreeEnsemble (version 5) or TreeEnsembleRegressor (the older form), nets as matrices.

Values are read as our forests read them by a few operators before the trees: zeros as missing, categories as whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.exchange.engine_runs import run_onnx
from rankwright.exchange.subject import BlendSubject, ForestSubject, NetSubject, Subject
from rankwright.exchange.target import ExportOptions, Target, Written, any_infinite
from rankwright.exchange.tree_formats import category_sides, forest_for, inner_nodes, with_base_tree
from rankwright.features.scaling import mean_and_factor
from rankwright.imports.onnx_trees import LEQ, MEMBER, SUM
from rankwright.imports.wire.protobuf import PIECE, field, nested, packed_wholes
from rankwright.kernels.records import Pieces
from rankwright.nets.encoding import piece_table
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.readings import LARGEST_ZERO, Reading

DTYPES: Mapping[str, int] = {"float32": 1, "uint8": 2, "int64": 7, "bool": 9}  # of tensors
ML = "ai.onnx.ml"
NAMES_NOTE = "feature_names"  # the key, among the model's metadata, of the columns' names as a JSON list
OPERATORS = {"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid"}


def write(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """The graph, in the operators of today."""
    graph = Graph()
    if isinstance(subject, BlendSubject):
        return _write_blend(graph, subject)
    if isinstance(subject, NetSubject):
        _add_net(graph, subject, "scores")
        content = graph.model(subject.names, opset=17, ml_opset=3, ir_version=8)
        return Written({"": content}, (), [any_infinite("the ranker itself")])
    _add_trees(graph, subject, "scores")
    content = graph.model(subject.names, opset=17, ml_opset=5, ir_version=9)
    return Written({"": content}, ["scores are float32, added up tree by tree"])


def _write_blend(graph: Graph, subject: BlendSubject) -> Written:
    """The rankers of a blend side by side, and the sum of their scores; those of z-scores see one list a call."""
    total = ""
    for weight, part in zip(subject.weights.tolist(), subject.parts, strict=True):
        own = _add_net(graph, part) if isinstance(part, NetSubject) else _add_trees(graph, part)
        if subject.is_of_lists:
            own = _add_z_scores(graph, own)
        own = graph.add("Mul", own, graph.constant(np.float32(weight)))
        total = graph.add("Add", total, own) if total else own
    graph.add("Identity", total, output="scores")
    content = graph.model(subject.names, opset=17, ml_opset=5, ir_version=9)
    notes = ["each call scores the documents of one query: scores depend on the list"] if subject.is_of_lists else []
    has_nets = any(isinstance(part, NetSubject) for part in subject.parts)
    return Written({"": content}, notes, [any_infinite("the ranker itself")] if has_nets else [])


def _add_z_scores(graph: Graph, scores: str) -> str:
    """Scores less their mean over the list, in units of their deviation there; 0 where all are equal."""
    apart = graph.add("Sub", scores, graph.add("ReduceMean", scores))
    deviation = graph.add("Sqrt", graph.add("ReduceMean", graph.add("Mul", apart, apart)))
    uneven = graph.add("Greater", graph.add("ReduceMax", scores), graph.add("ReduceMin", scores))
    nothing = graph.constant(np.float32(0))
    return graph.add("Where", uneven, graph.add("Div", apart, deviation), nothing)


def _add_trees(graph: Graph, subject: ForestSubject, output: str | None = None) -> str:
    """The name of the scores of trees."""
    values = _as_read(graph, subject)
    attributes = _ensemble(with_base_tree(subject)).items()
    return graph.add("TreeEnsemble", values, output=output, attributes=attributes)


def write_regressor(subject: Subject, options: ExportOptions) -> Written:  # noqa: ARG001
    """The graph in the older operator, which older runtimes know."""
    given = forest_for(subject, "TreeEnsembleRegressor", zeros="onnx or c", categories="onnx or c")
    graph = Graph()
    graph.add("TreeEnsembleRegressor", "features", output="scores", attributes=_regressor(given))
    return Written({"": graph.model(given.names, opset=15, ml_opset=3, ir_version=8)})


def _as_read(graph: Graph, subject: ForestSubject) -> str:
    """The features as the forest reads them."""
    readings, values = subject.forest.readings, "features"
    if readings is None:
        return values
    size = graph.add("Abs", values)
    if (zeros := readings == Reading.ZERO_IS_MISSING.value).any():
        small = graph.add("LessOrEqual", size, graph.constant(LARGEST_ZERO))
        chosen = graph.add("And", small, graph.constant(zeros[None, :]))
        values = graph.add("Where", chosen, graph.constant(np.float32(np.nan)), values)
    if (cut := readings == Reading.CATEGORY.value).any():
        whole = graph.add("Mul", graph.add("Sign", "features"), graph.add("Floor", size))
        values = graph.add("Where", graph.constant(cut[None, :]), whole, values)
    if (floored := readings == Reading.POSITIVE_CATEGORY.value).any():
        values = graph.add("Where", graph.constant(floored[None, :]), graph.add("Floor", "features"), values)
    return values


def _ensemble(forest: Forest) -> dict[str, Any]:
    """The attributes of version 5: splits and leaves are numbered apart."""
    inner = inner_nodes(forest)
    alone = np.flatnonzero(~inner[forest.offsets[:-1]]) if forest.n_trees else np.empty(0, np.int64)
    lone_roots = forest.offsets[:-1][alone]  # a tree of one leaf has a node with that leaf on both sides
    is_split = inner.copy()
    is_split[lone_roots] = True
    nodes = np.flatnonzero(is_split)
    leaf_number, split_number = np.cumsum(~inner) - 1, np.cumsum(is_split) - 1
    left = np.where(inner, forest.left, np.arange(len(inner)))
    right = np.where(inner, forest.right, np.arange(len(inner)))
    mode = np.full(len(inner), LEQ, np.uint8)
    tracks = forest.missing_left.copy()
    split = np.where(np.isnan(forest.threshold), np.float32(0), forest.threshold)
    members: list[float] = []
    for node in np.flatnonzero(inner & np.isnan(forest.threshold)).tolist():
        goes_left, goes_right, others_left = category_sides(forest, node)
        listed = goes_right if others_left else goes_left
        mode[node] = MEMBER
        members += [*listed.tolist(), float("nan")]
        if others_left:
            left[node], right[node] = right[node], left[node]
            tracks[node] = not tracks[node]
    found: dict[str, Any] = {
        "aggregate_function": SUM,
        "n_targets": 1,
        "post_transform": 0,
        "tree_roots": split_number[forest.offsets[:-1]],
        "nodes_featureids": np.maximum(forest.feature[nodes], 0).astype(np.int64),
        "nodes_splits": tensor(split[nodes].astype(np.float32)),
        "nodes_modes": tensor(mode[nodes]),
        "nodes_missing_value_tracks_true": tracks[nodes].astype(np.int64),
        "leaf_targetids": np.zeros(int((~inner).sum()), np.int64),
        "leaf_weights": tensor(forest.value[~inner]),
    }
    for side, children in (("true", left[nodes]), ("false", right[nodes])):
        ends = ~inner[children]
        found[f"nodes_{side}leafs"] = ends.astype(np.int64)
        found[f"nodes_{side}nodeids"] = np.where(ends, leaf_number[children], split_number[children])
    if members:
        found["membership_values"] = tensor(np.array(members, np.float32))
    return found


def _regressor(subject: ForestSubject) -> Iterator[tuple[str, Any]]:
    """The attributes of the older form, one by one: together they take several times the file."""
    forest = subject.forest
    inner = inner_nodes(forest)
    sizes = np.diff(forest.offsets)
    tree = np.repeat(np.arange(forest.n_trees, dtype=np.int32), sizes)
    start = forest.offsets[:-1].astype(np.int32)
    number = np.arange(len(inner), dtype=np.int32) - start[tree]
    yield "aggregate_function", "SUM"
    yield "n_targets", 1
    yield "post_transform", "NONE"
    yield "base_values", np.array([subject.base_score], np.float32)
    yield "nodes_treeids", tree
    yield "nodes_nodeids", number
    yield "nodes_featureids", np.maximum(forest.feature, 0)
    yield "nodes_modes", Words(("LEAF", "BRANCH_LEQ"), inner.astype(np.uint8))
    yield "nodes_values", np.where(inner, forest.threshold, np.float32(0))
    yield "nodes_truenodeids", np.where(inner, forest.left - start[tree], 0)
    yield "nodes_falsenodeids", np.where(inner, forest.right - start[tree], 0)
    yield "nodes_missing_value_tracks_true", forest.missing_left.astype(np.uint8)
    yield "target_ids", np.zeros(int((~inner).sum()), np.uint8)
    yield "target_treeids", tree[~inner]
    yield "target_nodeids", number[~inner]
    yield "target_weights", forest.value[~inner]


def _add_net(graph: Graph, subject: NetSubject, output: str | None = None) -> str:
    """The name of the scores of a weighted sum or a net, with its scaling."""
    values = "features"
    for step in subject.steps:
        if step.scaling.name == "zscore":
            mean, factor = mean_and_factor(step.learned)
            centred = graph.add("Sub", values, graph.constant(mean.astype(np.float32)[None, :]))
            values = graph.add("Mul", centred, graph.constant(factor.astype(np.float32)[None, :]))
        else:
            logs = graph.add("Log", graph.add("Add", graph.add("Abs", values), graph.constant(np.float32(1))))
            signed = graph.add("Mul", graph.add("Sign", values), logs)
            taken = step.learned.get("taken")
            values = signed if taken is None else graph.add("Where", graph.constant(taken[None, :]), signed, values)
    values = graph.add("Where", graph.add("IsNaN", values), graph.constant(np.float32(0)), values)
    for place, layer in enumerate(subject.layers):
        weights = layer.weights.T.astype(np.float32)
        if place == 0 and subject.pieces is not None:
            product = _in_pieces(graph, values, subject.pieces, weights)
        else:
            product = graph.add("MatMul", values, graph.constant(weights))
        last = place == len(subject.layers) - 1
        values = graph.add("Add", product, graph.constant(layer.bias.astype(np.float32)[None, :]),
                           output=output if last else None)  # fmt: skip
        values = values if last or layer.activation == "identity" else _activated(graph, layer.activation, values)
    return values


def _in_pieces(graph: Graph, values: str, pieces: Pieces, weights: NDArray[np.float32]) -> str:
    """The product of weights and inputs where these are scaled features and then pieces of them."""
    table, n_features = piece_table(pieces), len(pieces.missing)
    own = np.where(pieces.categorical[:, None], np.float32(0), weights[:n_features])
    product = graph.add("MatMul", values, graph.constant(own))
    if len(table.feature) == 0:
        return product
    nothing, whole = graph.constant(np.float32(0)), graph.constant(np.float32(1))
    chosen = np.zeros((n_features, len(table.feature)), np.float32)
    chosen[table.feature, np.arange(len(table.feature))] = 1
    columns = graph.add("MatMul", values, graph.constant(chosen))
    is_number = ~(table.of_category | table.of_missing)
    low = np.where(is_number, table.low, np.float32(0))
    slope = np.zeros_like(low)
    slope[is_number] = 1 / (table.high - table.low)[is_number]
    risen = graph.add("Mul", graph.add("Sub", columns, graph.constant(low[None])), graph.constant(slope[None]))
    shares = graph.add("Max", graph.add("Min", risen, whole), nothing)
    if table.of_category.any():
        above = graph.add("GreaterOrEqual", columns, graph.constant(table.low[None]))
        inside = graph.add("And", above, graph.add("Less", columns, graph.constant(table.high[None])))
        there = graph.add("Where", inside, whole, nothing)
        shares = graph.add("Where", graph.constant(table.of_category[None]), there, shares)
    if table.of_missing.any():
        of_rows = graph.add("Where", graph.add("IsNaN", "features"), whole, nothing)
        is_missing = graph.add("MatMul", of_rows, graph.constant(chosen * pieces.missing[table.feature]))
        shares = graph.add("Mul", shares, graph.add("Sub", whole, is_missing))
        shares = graph.add("Where", graph.constant(table.of_missing[None]), is_missing, shares)
    heights = graph.constant(weights[n_features:] * np.float32(pieces.height))
    return graph.add("Add", product, graph.add("MatMul", shares, heights))


def _activated(graph: Graph, activation: str, values: str) -> str:
    if activation in OPERATORS:
        return graph.add(OPERATORS[activation], values)
    root = graph.add("Mul", values, graph.constant(np.float32(np.sqrt(0.5))))  # gelu: x/2 · (1 + erf(x/√2))
    risen = graph.add("Add", graph.add("Erf", root), graph.constant(np.float32(1)))
    return graph.add("Mul", graph.add("Mul", values, graph.constant(np.float32(0.5))), risen)


# --- ONNX files, written field by field: a graph of a few operators needs no library ---


class Graph:
    """A graph that is being written: `add` gives the name of what an operator makes."""

    def __init__(self) -> None:
        self._nodes: list[list[bytes]] = []  # each in parts
        self._constants: list[bytes] = []

    def constant(self, values: Any) -> str:
        """A tensor that the graph holds."""
        name = f"constant_{len(self._constants)}"
        self._constants.append(tensor(np.asarray(values), name))
        return name

    def add(
        self, operator: str, *inputs: str, output: str | None = None, attributes: Iterable[tuple[str, Any]] = ()
    ) -> str:
        """An operator of these inputs; attributes, which only operators of ML have, are written one by one."""
        name = output or f"value_{len(self._nodes)}"
        parts = [field(1, own) for own in inputs] + [field(2, name), field(3, f"node_{len(self._nodes)}")]
        told = [part for key, value in attributes for part in nested(5, _attribute(key, value))]
        self._nodes.append([*parts, field(4, operator), *told, *([field(7, ML)] if told else [])])
        return name

    def model(self, names: Sequence[str], *, opset: int, ml_opset: int, ir_version: int) -> bytes:
        """The file of the graph from `features` to `scores`, one column; it notes the names of the features."""
        graph = [part for node in self._nodes for part in nested(1, node)]
        graph += [field(2, "rankwright"), *(field(5, own) for own in self._constants)]
        graph += [field(11, _value("features", len(names))), field(12, _value("scores", 1))]
        opsets = field(8, field(1, "") + field(2, opset)) + field(8, field(1, ML) + field(2, ml_opset))
        noted = field(14, field(1, NAMES_NOTE) + field(2, json.dumps(list(names))))
        return b"".join([field(1, ir_version), field(2, "rankwright"), *nested(7, graph), opsets, noted])


def tensor(values: NDArray[Any], name: str = "") -> bytes:
    """A tensor with its bytes."""
    kept = np.ascontiguousarray(values)
    dims = b"".join(field(1, int(length)) for length in kept.shape)
    return dims + field(2, DTYPES[kept.dtype.name]) + field(8, name) + field(9, kept.tobytes())


def _value(name: str, width: int) -> bytes:
    """The description of a matrix of any number of rows."""
    shape = field(1, field(2, "documents")) + field(1, field(1, width))
    return field(1, name) + field(2, field(1, field(1, DTYPES["float32"]) + field(2, shape)))


def _attribute(name: str, value: Any) -> list[bytes]:
    """An attribute, in parts: its name, its value in the field of its type, and the type."""
    own = field(1, name)
    if isinstance(value, int):
        return [own, field(3, value), field(20, 2)]
    if isinstance(value, str):
        return [own, field(4, value), field(20, 3)]
    if isinstance(value, bytes):  # a tensor
        return [own, *nested(5, [value]), field(20, 4)]
    if isinstance(value, Words):
        return [own, *value.fields(9), field(20, 8)]
    if value.dtype.kind == "f":
        return [own, *nested(7, [value.astype("<f4").tobytes()]), field(20, 6)]
    return [own, *packed_wholes(8, value), field(20, 7)]


@dataclass(frozen=True, slots=True)
class Words:
    """A long list of few different words: which of them stands where."""

    words: Sequence[str]
    places: NDArray[np.uint8]

    def fields(self, number: int) -> list[bytes]:
        """A repeated field of the words, in parts."""
        written = [field(number, word) for word in self.words]
        pieces = np.array_split(self.places, len(self.places) // PIECE + 1)
        return [b"".join([written[place] for place in piece.tolist()]) for piece in pieces]


ONNX = Target(
    name="onnx",
    suffix=".onnx",
    summary="ONNX with TreeEnsemble (ai.onnx.ml 5), or matrices for nets: ONNX Runtime, Vespa and many more",
    takes=("forest", "linear", "net", "blend"),
    write=write,
    runners=(run_onnx,),
)
ONNX_REGRESSOR = Target(
    name="onnx-regressor",
    suffix=".onnx",
    summary="ONNX with the older TreeEnsembleRegressor (ai.onnx.ml 3), for older runtimes",
    write=write_regressor,
    runners=(run_onnx,),
)
