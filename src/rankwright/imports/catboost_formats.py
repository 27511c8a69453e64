"""CatBoost's JSON, and its binary form, which becomes JSON.

JSON is read as `save_model(format="json")` writes it: symmetric trees, and those that are not.

A value above a split's border is on its second side. A leaf's number in a symmetric tree has a bit for each split, the
first split the lowest.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rankwright.errors import InputError, require_input
from rankwright.imports import assembly
from rankwright.imports.assembly import ForeignForest, ListedNode, TreeTable, at_most
from rankwright.imports.wire.json_pieces import pieces

JSON = "CatBoost JSON"
NAN_LEFT: Mapping[str, bool] = {"AsIs": True, "AsFalse": True, "AsTrue": False}  # NaN is above no border, or above all
MOST_SPLITS = 16  # of a symmetric tree


def begins_json(start: bytes) -> bool:
    """Whether a file that starts so is CatBoost's JSON."""
    return start.lstrip()[:1] == b"{" and (b'"features_info"' in start or b'"oblivious_trees"' in start)


def read_json(content: bytes) -> ForeignForest:
    """The forest in the JSON."""
    text = content.decode("utf-8")
    del content  # it is as large as all that is made from it
    symmetric: list[Any] = []
    nested: list[Any] = []
    document = pieces(text, ("oblivious_trees",), symmetric.append)
    if not symmetric:
        document = pieces(text, ("trees",), nested.append)
    features = document["features_info"]
    if features.get("categorical_features") or features.get("text_features") or features.get("embedding_features"):
        raise InputError(
            "the model has categorical, text or embedding features, which CatBoost turns into numbers by rules that "
            "are not in a tree: score with CatBoost, whose models rw.compare takes as they are"
        )
    columns = _Columns(features.get("float_features", []))
    trees = [_symmetric(tree, columns) for tree in symmetric] + [_nested(tree, columns) for tree in nested]
    scale, bias = document.get("scale_and_bias", [1.0, [0.0]])
    bias = bias if isinstance(bias, list) else [bias]
    require_input(len(bias) <= 1, "the model gives several scores a document; a ranker gives one")
    if float(scale) != 1.0:
        trees = [tree.scaled(float(scale)) for tree in trees]
    base = float(bias[0]) if bias else 0.0
    return assembly.foreign_forest(JSON, trees, columns.n_features, base_score=base, names=columns.names, made_up="")


class _Columns:
    """Where the features of a model lie, and where their missing values go."""

    def __init__(self, features: Sequence[Mapping[str, Any]]) -> None:
        self.place = {int(own["feature_index"]): int(own["flat_feature_index"]) for own in features}
        self.nan_left = {int(own["feature_index"]): NAN_LEFT[own["nan_value_treatment"]] for own in features}
        self.n_features = assembly.checked_width(max(self.place.values(), default=-1) + 1)
        named = {int(own["flat_feature_index"]): str(own.get("feature_id", "")) for own in features}
        names = [named.get(number, "") for number in range(self.n_features)]
        self.names = names if all(names) else []

    def split(self, split: Mapping[str, Any]) -> tuple[int, float, bool]:
        """The column, the border, and whether a missing value stays below it."""
        kind = split.get("split_type", "FloatFeature")
        require_input(kind == "FloatFeature", f"a split is of type {kind}: only those of numbers can be read")
        index = int(split["float_feature_index"])
        if index not in self.place or self.place[index] < 0:
            raise InputError(f"a split names feature {index}, which the model does not list")
        return self.place[index], float(split["border"]), self.nan_left[index]


def _symmetric(tree: Mapping[str, Any], columns: _Columns) -> TreeTable:
    splits, values = tree.get("splits") or [], np.array(tree["leaf_values"], np.float64)
    depth = len(splits)
    if depth > MOST_SPLITS or len(values) != 2**depth:
        raise InputError(f"a symmetric tree of {depth} splits has {len(values)} leaf values; wanted one score a leaf")
    n_inner = 2**depth - 1
    feature, threshold = np.full(2 * n_inner + 1, -1), np.zeros(2 * n_inner + 1)
    missing_left = np.zeros(2 * n_inner + 1, np.bool_)
    for level, split in enumerate(reversed(splits)):  # the last split is the highest bit: the root
        own = slice(2**level - 1, 2 ** (level + 1) - 1)
        feature[own], threshold[own], missing_left[own] = columns.split(split)
    weights = np.array(tree.get("leaf_weights") or [], np.float64)
    of_nodes = np.concatenate([np.zeros(n_inner), weights if len(weights) == len(values) else np.zeros(len(values))])
    whole = bool((weights == np.rint(weights)).all())  # otherwise documents had weights, and these are no counts
    numbers = np.arange(n_inner)
    leaves = np.full(len(values), -1)
    return TreeTable(
        feature=feature,
        threshold=at_most(threshold),
        left=np.concatenate([2 * numbers + 1, leaves]),
        right=np.concatenate([2 * numbers + 2, leaves]),
        missing_left=missing_left,
        value=np.concatenate([np.zeros(n_inner), values]),
        count=of_nodes if whole else None,
        curvature=None if whole else of_nodes,
    )


def _nested(tree: Mapping[str, Any], columns: _Columns) -> TreeTable:
    def read_node(node: Mapping[str, Any]) -> ListedNode:
        if "split" in node:
            return ListedNode(*columns.split(node["split"]))
        if isinstance(node["value"], list):
            raise InputError("the trees have several values a leaf; a ranker gives one score")
        return ListedNode(value=float(node["value"]))

    listed = assembly.nested_columns(
        tree, lambda node: (node["left"], node["right"]) if "split" in node else (), read_node
    )
    return TreeTable(**listed | {"threshold": at_most(listed["threshold"])})


def read_live(model: Any) -> ForeignForest:
    """The forest of a `catboost.CatBoost` and its relatives, which write themselves as JSON."""
    require_input(hasattr(model, "save_model"), f"a {type(model).__name__} is no model of CatBoost")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        return read_json(path.read_bytes())


# --- the binary form (.cbm), which only CatBoost reads: it turns the file into JSON, in a process of its own ---
# The file may come from anyone, and CatBoost reads it in C++: where it crashes there, this process goes on.

BINARY = "CatBoost binary"
MAGIC = b"CBM1"
TO_JSON = "import sys, catboost; catboost.CatBoost().load_model(sys.argv[1]).save_model(sys.argv[2], format='json')"
LONGEST = 600  # seconds that it may take
INSTEAD = "write it with save_model(path, format='json') where CatBoost is"


def begins_binary(start: bytes) -> bool:
    """Whether a file that starts so is CatBoost's binary form."""
    return start.startswith(MAGIC)


def read_binary(content: bytes) -> ForeignForest:
    """The forest in the file, where CatBoost is installed."""
    if find_spec("catboost") is None:
        raise InputError(f"only CatBoost reads this form, and it is not installed here: {INSTEAD}")
    with TemporaryDirectory() as folder:
        binary, text = Path(folder) / "model.cbm", Path(folder) / "model.json"
        binary.write_bytes(content)
        del content
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-c", TO_JSON, str(binary), str(text)], capture_output=True, timeout=LONGEST
            )
        except subprocess.TimeoutExpired:
            raise InputError(f"CatBoost could not read it within {LONGEST} seconds") from None
        if done.returncode or not text.is_file():
            told = done.stderr.decode(errors="replace").strip().splitlines()
            raise InputError(f"CatBoost cannot turn it into JSON: {told[-1] if told else 'it crashed'}")
        return read_json(text.read_bytes())
