"""Bags trained by workers: the same model, whoever trains it and whatever dies on the way."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import rankwright as rw
from rankwright.cluster.opening import open_engine

FOREST: dict[str, Any] = {"n_bags": 4, "n_trees": 5, "max_leaves": 4, "min_docs_in_leaf": 2, "seed": 7}
BAGS = {
    "bl-mart": rw.BLMART(**FOREST),
    "bagboo": rw.BagBoo(**FOREST),
    "of one length": rw.BLMART(n_bags=7, max_leaves=4, min_docs_in_leaf=2, seed=7),
    "bagging of forests": rw.Bagging(rw.LambdaMART(n_trees=5, max_leaves=4), n_bags=3),
    "bagging by rank": rw.Bagging(rw.MART(n_trees=3, max_leaves=4, scaling="query-minmax"), n_bags=3, combine="rank"),
}


@pytest.fixture(scope="module")
def engine():
    with open_engine(workers=2) as engine:
        yield engine


@pytest.fixture(scope="module")
def data():
    return rw.synthetic.web_search(n_queries=30, seed=3)


def assert_same_model(one, other):
    header, arrays = one.to_state()
    other_header, other_arrays = other.to_state()
    assert header == other_header
    assert arrays.keys() == other_arrays.keys()
    for name in arrays:
        np.testing.assert_array_equal(arrays[name], other_arrays[name])


@pytest.mark.parametrize("with_valid", [False, True])
@pytest.mark.parametrize("name", BAGS)
def test_workers_make_the_model_that_threads_make(engine, data, name, with_valid):
    train, valid = data.split(valid=0.3, seed=0)
    watched = valid if with_valid else None
    here = clone(BAGS[name]).fit(train, valid=watched)
    there = clone(BAGS[name]).on(engine).fit(train, valid=watched)
    assert_same_model(here, there)
    np.testing.assert_array_equal(here.oob_scores_, there.oob_scores_)


def test_a_file_is_binned_here_and_trained_on_there(engine, data, tmp_path):
    rw.write_svmlight(data, tmp_path / "train.txt")
    assert_same_model(
        clone(BAGS["bl-mart"]).fit(tmp_path / "train.txt"),
        clone(BAGS["bl-mart"]).on(engine).fit(tmp_path / "train.txt"),
    )


def test_finished_bags_are_not_trained_again(engine, data, tmp_path):
    few = clone(BAGS["bl-mart"]).set_params(n_bags=2).on(engine).fit(data, checkpoint=tmp_path)
    before = {path: path.stat().st_mtime_ns for path in sorted(tmp_path.rglob("*.rw"))}
    assert len(before) == few.n_bags_ == 2
    more = clone(BAGS["bl-mart"]).on(engine).fit(data, checkpoint=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert_same_model(more, clone(BAGS["bl-mart"]).fit(data))
    threads = clone(BAGS["bl-mart"]).fit(data, checkpoint=tmp_path)  # whoever trained them
    assert_same_model(more, threads)


def test_the_engine_is_no_part_of_the_ranker(engine, data):
    bags = clone(BAGS["bl-mart"]).on(engine).fit(data)
    assert clone(bags)._engine is None
    assert_same_model(pickle.loads(pickle.dumps(bags)), bags)


def test_a_ray_cluster_makes_the_same_model(two_nodes, data):
    with open_engine(two_nodes.address) as engine:
        there = clone(BAGS["bl-mart"]).on(engine).fit(data)
    assert_same_model(there, clone(BAGS["bl-mart"]).fit(data))


@pytest.mark.slow
def test_a_node_killed_on_the_way_changes_nothing(two_nodes, tmp_path):
    data = rw.synthetic.web_search(n_queries=150, seed=5)
    bags = rw.BLMART(n_bags=12, n_trees=60, max_leaves=31, seed=1, threads=1)

    def cut_power(progress):
        if progress.step == 1:
            assert len(finished(tmp_path)) < progress.n_steps
            two_nodes.kill_second()

    with open_engine(two_nodes.address) as engine:
        there = clone(bags).on(engine).fit(data, listeners=[cut_power], checkpoint=tmp_path)
    assert len(finished(tmp_path)) == there.n_bags_ == 12
    assert_same_model(there, clone(bags).set_params(threads=None).fit(data))


def finished(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.rw"))
