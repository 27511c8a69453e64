"""What is told of a model file, and of a file that is none or is damaged."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankwright as rw
from rankwright.catalog.rankers import RANKERS, ranker_named
from rankwright.container.file import read_container, write_container
from rankwright.errors import ContainerError


@pytest.fixture
def saved(small_data, tmp_path):
    train, valid = small_data.split(valid=0.3, seed=0)
    ranker = rw.LambdaMART(n_trees=5, max_leaves=4, max_depth=2, scaling="zscore").fit(train, valid=valid)
    ranker.save(tmp_path / "model.rw")
    return ranker, tmp_path / "model.rw"


def test_it_tells_what_the_ranker_knows(saved):
    ranker, path = saved
    told = rw.describe_model(path)
    assert told.ranker == "lambdamart"
    assert told.settings["max_leaves"] == 4
    assert told.feature_names == ("1", "2", "3", "4", "5")
    assert told.scaling == "zscore"
    assert told.training_data == ranker.data_digest_
    assert told.history["best_value"] == max(ranker.history_.values)
    assert told.facts["trees"] == ranker.n_trees_
    assert told.facts["most_leaves"] <= 4
    assert told.facts["depth"] <= 2
    assert told.facts["features_used"] == (ranker.importances("count") > 0).sum()
    assert told.importances["gain"] == ranker.importances("gain").tolist()


def test_json_holds_all_of_it_the_best_feature_first(saved):
    ranker, path = saved
    told = json.loads(json.dumps(rw.describe_model(path).to_dict(), allow_nan=False))
    gains = [feature["gain"] for feature in told["features"]]
    assert gains == sorted(ranker.importances("gain"), reverse=True)
    assert told["model"]["trees"] == ranker.n_trees_


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_can_be_described(name, small_data, tmp_path):
    ranker = ranker_named(name)()
    fewer = {"n_bags": 2} if "n_bags" in ranker.get_params() else {}
    ranker.set_params(**fewer).fit(small_data.take_queries(np.arange(5))).save(tmp_path / "model")
    json.dumps(rw.describe_model(tmp_path / "model").to_dict(), allow_nan=False)


def with_version_2(content: bytes) -> bytes:
    return content.replace(rb"\"version\": 1", rb"\"version\": 2")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-1], "checksum does not match: the file is damaged, cut short or was altered"),
        (lambda content: content[:40], "its beginning is damaged"),
        (lambda content: content[:-1] + bytes([content[-1] ^ 1]), "checksum does not match"),
        (with_version_2, "this file is of format version 2; this release reads version 1"),
        (lambda _: b"", "not a file of Rankwright's"),
    ],
    ids=["cut", "stump", "bit", "version", "empty"],
)
def test_damaged_files_are_refused(saved, damage, message):
    _, path = saved
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ContainerError, match=message):
        rw.describe_model(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header, _: header.pop("scaling"), "'scaling' is not there"),
        (lambda header, _: header["settings"].update(wings=2), "wings"),
        (lambda header, _: header.update(settings=3), "do not fit together"),
        (lambda header, _: header.update(scaling={"scaling": "magic", "n_features": 5}), "unknown scaling 'magic'"),
        (lambda _, arrays: arrays.pop("scaling.mean"), r"zscore learns \['deviation', 'mean'\]"),
        (lambda _, arrays: arrays.pop("feature"), "a forest needs the arrays feature"),
        (lambda header, _: header.update(ranker="oracle"), "kind 'oracle', which this release does not know"),
        (lambda header, _: header.update(n_features=3), "the trees are of 5 features, the model of 3"),
    ],
)
def test_whole_files_whose_parts_do_not_fit_are_refused(saved, change, message):
    _, path = saved
    model = read_container(path)
    change(model.header, model.arrays)
    write_container(path, model.kind, model.header, model.arrays)
    with pytest.raises(ContainerError, match=message):
        rw.load(path)


def test_a_checkpoint_is_no_model(small_data, tmp_path):
    ranker = rw.LambdaMART(n_trees=1, max_leaves=3).fit(small_data, checkpoint=tmp_path)
    assert repr(ranker.trained_) == f"TrainedRanker('lambdamart', 1 step, {small_data.n_features} features)"
    with pytest.raises(ContainerError, match="holds a 'checkpoint'; a 'model' was wanted"):
        rw.describe_model(tmp_path / "checkpoint.rw")
