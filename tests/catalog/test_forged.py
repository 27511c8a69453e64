"""Model files that somebody made to harm: the checksum is right, and every one is refused in a line."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.contracts.trained import trained
from tests.fuzz.mutation import Parts

import rankwright as rw
from rankwright.catalog.rankers import load_trained
from rankwright.container.file import read_container
from rankwright.errors import ContainerError
from rankwright.trees.forests.arrays import forest_from_arrays, forest_to_arrays

Change = Callable[[dict[str, Any], dict[str, Any]], object]


def forged(name: str, folder: Path, change: Change) -> Path:
    """The model file of a small ranker after a change of its header and its arrays, signed again."""
    path = folder / f"{name}.rw"
    trained(name).save(path)
    parts = Parts.of(read_container(path))
    change(parts.header, parts.arrays)
    path.write_bytes(parts.signed())
    return path


def assert_refused(path: Path, message: str) -> None:
    for load in (load_trained, rw.load, rw.describe_model):
        with pytest.raises(ContainerError, match=message) as caught:
            load(path)
        assert str(caught.value).startswith(str(path))
        assert "\n" not in str(caught.value)


def chain_of_shared_children(n_nodes: int) -> Change:
    """One tree in which both children of each node are the next node: 2^n ways lead to its only leaf."""

    def change(_: Any, arrays: dict[str, Any]) -> None:
        number = np.arange(n_nodes, dtype=np.int32)
        is_leaf = number == n_nodes - 1
        nodes = {
            "feature": np.where(is_leaf, -1, 0).astype(np.int32),
            "threshold": np.zeros(n_nodes, np.float32),
            "left": np.where(is_leaf, -1, number + 1).astype(np.int32),
            "right": np.where(is_leaf, -1, number + 1).astype(np.int32),
            "missing_left": np.zeros(n_nodes, np.bool_),
            "value": np.ones(n_nodes, np.float32),
            "gain": np.zeros(n_nodes),
            "count": np.ones(n_nodes, np.int64),
            "curvature": np.ones(n_nodes, np.float32),
            "categories": np.zeros((n_nodes, 0), np.uint32),
            "offsets": np.array([0, n_nodes]),
        }
        arrays.update(nodes)

    return change


@pytest.mark.parametrize("n_nodes", [2, 8, 40])
def test_nodes_that_share_children_are_refused(n_nodes, tmp_path):
    path = forged("lambdamart", tmp_path, chain_of_shared_children(n_nodes))
    assert_refused(path, "every node of a tree but its root must be the child of one other node")


def unreachable(_: Any, arrays: dict[str, Any]) -> None:
    """A leaf takes the place of an inner node, whose children nobody leads to any more."""
    inner = np.flatnonzero(arrays["feature"] >= 0)
    arrays["feature"] = np.array(arrays["feature"])
    arrays["feature"][inner[1]] = -1


def odd_entry(name: str, value: Any) -> Change:
    def change(_: Any, arrays: dict[str, Any]) -> None:
        arrays[name] = np.array(arrays[name])
        arrays[name].reshape(-1)[-1] = value

    return change


def setting(name: str, value: Any) -> Change:
    return lambda header, _: header["settings"].update({name: value})


def header_entry(name: str, value: Any) -> Change:
    return lambda header, _: header.update({name: value})


def other(name: str, change: Callable[[Any], Any]) -> Change:
    return lambda _, arrays: arrays.update({name: change(arrays[name])})


def no_support(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """A model of a billion features, whose arrays of no rows take no bytes."""
    header.update(n_features=10**9, scaling=None)
    arrays["model.support"], arrays["model.coefficients"] = np.empty((0, 10**9), np.float32), np.empty(0)
    for name in [name for name in arrays if name.startswith("scaling.")]:
        del arrays[name]


def long_chain(header: dict[str, Any], _: Any) -> None:
    header["scaling"]["scaling"] = "+".join(["log"] * 10**5)


CASES: list[tuple[str, Change, str]] = [
    ("lambdamart", unreachable, "must be the child of one other node"),
    ("lambdamart", odd_entry("value", np.nan), "'value' must hold finite numbers .* got nan"),
    ("lambdamart", odd_entry("feature", 4), "'feature' must lie between -1 and 3"),
    ("lambdamart", other("count", lambda values: values.astype(np.int32)), "'count' must be int64 of shape"),
    ("lambdamart", other("categories", lambda values: np.zeros((len(values), 3), np.uint32)), "'categories' must be"),
    ("lambdamart", header_entry("base_score", float("inf")), "base_score is inf"),
    ("lambdamart", header_entry("n_features", 4.0), "n_features must be a whole number, got 4.0"),
    ("lambdamart", header_entry("feature_names", ["a"]), "there are 1 names for 4 features"),
    ("lambdamart", header_entry("history", {"values": ["high"]}), r"values\[0\] must be a finite number"),
    ("lambdamart", setting("monotone", 3), "monotone must be"),
    ("lambdamart", setting("monotone", {"0": ["up"]}), "monotone must be"),
    ("lambdamart", setting("monotone", [["0", "up"]]), "monotone must be"),
    ("lambdamart", setting("monotone", [[0]]), "monotone must be"),
    ("lambdamart", setting("objective", ["x"]), "objective must be"),
    ("lambdamart", setting("n_trees", "many"), "n_trees must be a whole number"),
    ("ranksvm", other("model.weights", lambda values: values[:1]), "'weights' must be float64 of shape 4"),
    ("prank", other("model.weights", lambda values: np.tile(values, 2)), "'weights' must be float64 of shape 4"),
    ("listnet", other("weights", lambda values: values[:1]), "'weights' must be float64 of shape 4"),
    ("smoothrank", odd_entry("model.weights", np.nan), "'weights' must hold finite numbers"),
    ("oap-bpm", header_entry("n_epochs", float("inf")), "header.n_epochs is inf"),
    ("kernel-prank", other("model.coefficients", lambda values: values[:1]), "'coefficients' must be float64 of shape"),
    ("kernel-prank", other("model.support", lambda _: np.empty((0, 10**9), np.float32)), "'support' must be float32"),
    ("adarank", odd_entry("weights", -np.inf), "'weights' must hold finite numbers"),
    ("boltzrank", setting("pair_units", 10**9), "'weights' must be float64 of shape"),
    ("ranknet", setting("hidden", [10**9]), "settings and its recipe differ in hidden"),
    ("ranknet", setting("hidden", [1] * 10**5), "settings and its recipe differ in hidden"),
    ("ranknet", odd_entry("net.0.weight", np.nan), "'net.0.weight' must hold finite numbers"),
    ("ranknet", header_entry("inputs", []), "inputs must be an object"),
    ("sortnet", setting("hidden", [10**12]), "a comparator of this size has"),
    ("sortnet", header_entry("iterations", []), "the net is that of iteration"),
    ("bl-mart", header_entry("trees_of_bags", [-1, 10**30]), "bags have"),
    ("kernel-prank", no_support, "its arrays have fewer numbers"),
    ("ranksvm", long_chain, "a scaling has 16 steps at most, got 100000"),
    ("bagging", header_entry("bags", []), "the 0 bags must be 1 or more"),
    ("bagging", setting("ranker", {"ranker": "mart"}), "the bags must be of mart|settings that are not known here"),
]


@pytest.mark.parametrize(("name", "change", "message"), CASES)
def test_parts_that_do_not_fit_are_refused(name, change, message, tmp_path):
    assert_refused(forged(name, tmp_path, change), message)


def test_a_number_in_a_file_allocates_nothing(tmp_path):
    def wide(header: dict[str, Any], _: Any) -> None:
        header["scaling"]["n_features"] = 10**8

    path = forged("ranksvm", tmp_path, wide)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert_refused(path, "must be .* of shape 100000000")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


def test_what_is_right_is_taken(tmp_path):
    forest = trained("lambdamart").forest_
    assert forest_from_arrays(forest_to_arrays(forest)).equals(forest)
    path = forged("lambdamart", tmp_path, lambda _header, _arrays: None)
    assert path.read_bytes() == Parts.of(read_container(path)).signed()
    rw.load(path)
