"""Rankers trained on files."""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.catalog.training import TrainingFiles, read_parts, train_on_files
from rankwright.errors import InputError, SettingError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training")
    parts = rw.synthetic.web_search(n_queries=12, seed=1).split(valid=0.3, test=0.3, seed=0)
    for name, part in zip(("train", "valid", "test"), parts, strict=True):
        rw.write(part, folder / f"{name}.txt")
    return folder


def files(folder, *names, **options):
    paths: dict[str, Any] = {name: str(folder / f"{name}.txt") for name in names}
    return TrainingFiles(**paths, **options)


def test_the_model_is_saved_and_measured_on_every_held_out_file(folder):
    out = folder / "model.rw"
    ranker = rw.LambdaMART(n_trees=3, max_leaves=4)
    trained = train_on_files(ranker, files(folder, "train", "valid", "test"), str(out))
    assert trained.ranker is ranker
    np.testing.assert_array_equal(
        rw.load(out).predict(rw.read(folder / "test.txt")), ranker.predict(rw.read(folder / "test.txt"))
    )
    document = trained.to_dict()
    assert document["best_step"] == ranker.n_trees_ - 1
    for part in ("valid", "test"):
        data = rw.read(folder / f"{part}.txt")
        assert document[part] == rw.evaluate(ranker.predict(data), data).to_dict()


def test_without_held_out_files_nothing_is_measured(folder, tmp_path):
    trained = train_on_files(rw.LambdaMART(n_trees=2), files(folder, "train"), str(tmp_path / "model.rw"))
    assert trained.evaluations == {}


def test_workers_train_bags_and_single_forests_alone(folder, tmp_path):
    ranker = rw.RankNet(epochs=2)
    with pytest.raises(InputError, match="ranknet"):
        train_on_files(ranker, files(folder, "train"), str(tmp_path / "model.rw"), cluster="local")
    with pytest.raises(SettingError, match="goes with a cluster"):
        train_on_files(ranker, files(folder, "train"), str(tmp_path / "model.rw"), workers=2)
    assert not (tmp_path / "model.rw").exists()


def test_initial_scores_of_validation_documents_need_the_documents(folder):
    with pytest.raises(SettingError, match="given without the documents"):
        files(folder, "train", valid_initial_scores="scores.txt")


def test_all_parts_have_the_features_of_the_training_data(tmp_path):
    (tmp_path / "train.txt").write_text("1 qid:1 1:2 3:4\n0 qid:1 2:1\n")
    (tmp_path / "test.txt").write_text("1 qid:2 1:2\n")
    parts = read_parts(tmp_path / "train.txt", test=tmp_path / "test.txt")
    assert parts.valid is None
    assert parts.test is not None
    assert (parts.train.n_features, parts.test.n_features) == (3, 3)


def test_a_file_that_is_not_there_is_told_before_any_is_read(tmp_path):
    (tmp_path / "train.txt").write_text("not a line of data\n")
    with pytest.raises(FileNotFoundError, match="none"):
        read_parts(tmp_path / "train.txt", tmp_path / "none.txt")


def test_standard_input_is_read_from_its_first_byte(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"2 qid:1 1:0.5\n1 qid:1 1:0.2\n")))
    labels = read_parts("-", format="svmlight").train.labels
    assert labels is not None
    assert labels.tolist() == [2.0, 1.0]
