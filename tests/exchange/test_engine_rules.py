"""The rules of engines that are not run, one statement at a time."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rankwright.errors import InputError
from rankwright.exchange.engine_rules import (
    plugin_dump_scores,
    plugin_linear_scores,
    plugin_raw_scores,
    ranklib_scores,
    solr_scores,
    vespa_scores,
)

BELOW, AT, ABOVE = (
    np.nextafter(np.float32(0.5), np.float32(0)),
    np.float32(0.5),
    np.nextafter(np.float32(0.5), np.float32(1)),
)
VALUES = np.array([[BELOW], [AT], [ABOVE], [np.nan]], np.float32)


def dump(**changes) -> bytes:
    leaves = [{"nodeid": 1, "leaf": 1.0}, {"nodeid": 2, "leaf": 2.0}]
    node = {"nodeid": 0, "depth": 0, "split": "f0", "split_condition": 0.5, "yes": 1, "no": 2, "missing": 2}
    return json.dumps([node | {"children": leaves} | changes]).encode()


def test_the_plugin_sends_what_is_below_left_and_missing_where_it_says():
    assert plugin_dump_scores(dump(), VALUES).tolist() == [1, 2, 2, 2]
    assert plugin_dump_scores(dump(missing=1), VALUES).tolist() == [1, 2, 2, 1]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"gain": 1.0}, "no key 'gain'"),
        ({"children": [{"nodeid": 2, "leaf": 2.0}, {"nodeid": 1, "leaf": 1.0}]}, "first child"),
        ({"split": "f9"}, "unknown feature"),
    ],
)
def test_the_plugin_refuses(changes, told):
    with pytest.raises(InputError, match=told):
        plugin_dump_scores(dump(**changes), VALUES)


def test_the_plugin_wants_depth():
    tree = json.loads(dump())
    del tree[0]["depth"]
    with pytest.raises(InputError, match="depth"):
        plugin_dump_scores(json.dumps(tree).encode(), VALUES)


def test_the_plugin_adds_in_float32():
    trees = [{"nodeid": 0, "leaf": 16_777_216.0}, {"nodeid": 0, "leaf": 1.0}]
    assert plugin_dump_scores(json.dumps(trees).encode(), VALUES)[0] == 16_777_216.0


def test_the_raw_plugin_reads_leaves_in_base_weights():
    tree = {"left_children": [1, -1, -1], "right_children": [2, -1, -1], "split_conditions": [0.5, 9, 9],
            "split_indices": [0, 0, 0], "default_left": [1, 0, 0], "base_weights": [0, 1.0, 2.0]}  # fmt: skip
    learner = {"objective": {"name": "rank:pairwise"}, "feature_types": ["float"], "feature_names": ["f0"],
               "gradient_booster": {"model": {"trees": [tree]}}}  # fmt: skip
    assert plugin_raw_scores(json.dumps({"learner": learner}).encode(), VALUES).tolist() == [1, 2, 2, 1]
    learner["feature_types"] = ["int"]
    with pytest.raises(InputError, match="float"):
        plugin_raw_scores(json.dumps({"learner": learner}).encode(), VALUES)


def test_ranklib_sends_what_is_at_most_left_and_nan_right():
    text = b"""## LambdaMART
<ensemble><tree id="1" weight="0.5"><split><feature> 1 </feature><threshold> 0.5 </threshold>
<split pos="left"><output> 2 </output></split><split pos="right"><output> 4 </output></split></split></tree>
</ensemble>"""
    assert ranklib_scores(text, VALUES).tolist() == [1, 1, 2, 2]


def solr(params, **node) -> bytes:
    root = {"feature": "a", "threshold": "0.5", "left": {"value": "1"}, "right": {"value": "2"}} | node
    model = {"class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel", "name": "m", "features": [{"name": "a"}],
             "params": params | {"trees": [{"weight": "1", "root": root}]}}  # fmt: skip
    return json.dumps(model).encode()


def test_solr_adds_its_slack_to_the_threshold():
    near = np.array([[0.5], [0.500001], [0.5000015]], np.float32)
    assert solr_scores(solr({}), near).tolist() == [1, 1, 2]


def test_solr_reads_null_as_0_unless_told():
    assert solr_scores(solr({}), VALUES)[3] == 1
    assert solr_scores(solr({"isNullSameAsZero": "false"}, missing="right"), VALUES)[3] == 2
    assert solr_scores(solr({"isNullSameAsZero": "false"}, missing="left"), VALUES)[3] == 1


def test_a_tree_of_an_unknown_feature_is_worth_0_to_solr():
    assert solr_scores(solr({}, feature="b"), VALUES).tolist() == [0, 0, 0, 0]


def test_vespa_compares_below_though_lightgbm_does_not():
    node = {"split_feature": 0, "threshold": 0.5, "decision_type": "<=", "default_left": False,
            "left_child": {"leaf_value": 1.0}, "right_child": {"leaf_value": 2.0}}  # fmt: skip
    model = {"objective": "regression", "pandas_categorical": [], "feature_names": ["a"],
             "tree_info": [{"tree_structure": node}]}  # fmt: skip
    assert vespa_scores(json.dumps(model).encode(), VALUES).tolist() == [1, 2, 2, 2]
    node["default_left"] = True
    assert vespa_scores(json.dumps(model).encode(), VALUES).tolist() == [1, 2, 2, 1]


def test_linear_plugins_count_what_is_missing_as_0():
    assert plugin_linear_scores(b'{"a": 2.0}', VALUES)[[1, 3]].tolist() == [1.0, 0.0]
