"""Compressing from the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankwright as rw


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compress")
    rng = np.random.default_rng(3)
    features = rng.normal(size=(720, 4))
    labels = np.clip(np.rint(features[:, 0] + features[:, 1] * features[:, 2]), 0, 4)
    data = rw.RankingDataset.from_arrays(features, labels, group=[12] * 60)
    train, valid, test = data.split(valid=0.3, test=0.3, seed=0)
    for part, name in ((valid, "valid.txt"), (test, "test.txt")):
        rw.write_svmlight(part, folder / name)
    rw.LambdaMART(n_trees=12, max_leaves=5, truncation=30).fit(train).save(folder / "model.rw")
    return folder


@pytest.fixture
def run(rankwright, folder, monkeypatch):
    monkeypatch.chdir(folder)
    return rankwright


def test_a_smaller_model_is_written_and_told_of(run, folder):
    options = ["--test", "test.txt", "--means", "exact,prune", "--max-loss", "0.03", "--curve", "curve.csv"]
    result = run("compress", "model.rw", "--data", "valid.txt", *options, "--out", "small.rw", "--json")
    assert result.code == 0, result.stderr
    told = json.loads(result.stdout)
    small = rw.load(folder / "small.rw")
    assert small.n_trees_ == told["chosen"]["trees"] < 12
    assert told["chosen"]["loss"] <= 0.03
    test = rw.read_svmlight(folder / "test.txt", n_features=4)
    assert told["test"]["after"]["mean"] == pytest.approx(small.score(test))
    assert told["factor"] == told["original"]["nodes"] / told["chosen"]["nodes"]
    assert (folder / "curve.csv").read_text().count("\n") == 1 + len(told["curve"])


def test_the_table_the_interval_and_the_origin_are_shown(run):
    options = ["--means", "prune,distill", "--target-trees", "3", "--set", "synthetic=0", "--out", "three.rw"]
    result = run("compress", "model.rw", "--data", "valid.txt", *options)
    assert result.code == 0, result.stderr
    assert "chosen" in result.stdout
    assert "95 % interval" in result.stdout
    assert "for at most 3 trees" in result.stdout
    assert "wrote three.rw" in result.stderr
    assert "compressed from" in run("inspect", "three.rw").stdout
    assert run("evaluate", "test.txt", "--model", "three.rw").code == 0
    assert run("score", "three.rw", "test.txt").code == 0


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--means", "prun"], "unknown means of compression 'prun'; did you mean 'prune'?"),
        (["--target-bytes", "9"], "9 bytes cannot be met"),
        (["--target-trees", "3", "--max-loss", "0.1"], "three goals: give one"),
        (["--plot", "curve.gif"], "a picture's name must end in"),
        (["--set", "leaves=3"], "unknown setting of a student 'leaves'"),
        (["--set", "synthetic=some"], "synthetic must be a whole number"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_writes_nothing(run, folder, options, problem):
    result = run("compress", "model.rw", "--data", "valid.txt", *options, "--out", "none.rw")
    assert result.code == 2
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (folder / "none.rw").exists()
