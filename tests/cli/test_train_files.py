"""Training from files of every format, without their features in memory."""

from __future__ import annotations

import json

import pytest

import rankwright as rw

SETTINGS = ["--set", "n_trees=3", "--set", "max_leaves=4"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train-files")
    train, valid, test = rw.synthetic.web_search(n_queries=10, seed=1).split(valid=0.2, test=0.2, seed=0)
    for ending in ("txt.gz", "txt.zst", "parquet", "csv"):
        rw.write(train, folder / f"train.{ending}")
    for part, name in ((valid, "valid"), (test, "test")):
        rw.write(part, folder / f"{name}.parquet")
        rw.write_svmlight(part, folder / f"{name}.txt")
    (folder / "bad.txt").write_text("1 qid:1 1:2\n1 qid:1 1:two\n")
    (folder / "wide.txt").write_text("1 qid:1 1:2\n1 qid:1 500:2\n")
    return folder


@pytest.fixture
def run(rankwright, folder, monkeypatch):
    monkeypatch.chdir(folder)
    return rankwright


@pytest.mark.parametrize("ending", ["txt.gz", "txt.zst", "parquet", "csv"])
def test_the_model_is_that_of_the_dataset(ending, run, folder):
    held_out = "parquet" if ending == "parquet" else "txt"
    parts = ["--valid", f"valid.{held_out}", "--test", f"test.{held_out}"]
    result = run("train", f"train.{ending}", *parts, *SETTINGS, "--no-profile", "--out", "model.rw", "--json")
    assert result.code == 0, result.stderr
    data, valid, test = (rw.read(folder / name) for name in (f"train.{ending}", "valid.txt", "test.txt"))
    ranker = rw.LambdaMART(n_trees=3, max_leaves=4).fit(data, valid=valid)
    ranker.save(folder / "expected.rw")
    assert (folder / "model.rw").read_bytes() == (folder / "expected.rw").read_bytes()
    told = json.loads(result.stdout)
    assert told["valid"] == rw.evaluate(ranker.predict(valid), valid).to_dict()
    assert told["test"] == rw.evaluate(ranker.predict(test), test).to_dict()


def test_names_of_features_are_in_the_model(run, folder):
    assert run("train", "train.parquet", *SETTINGS, "--out", "named.rw").code == 0
    assert rw.load(folder / "named.rw").feature_names_in_.tolist() == list(rw.read(folder / "train.parquet").names)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bad.txt"], "error: bad.txt:2: the value of '1:two' is not a number"),
        (["train.csv", "--valid", "bad.txt"], "error: bad.txt:2: the value of '1:two' is not a number"),
        (
            ["train.csv", "--valid", "wide.txt"],
            "error: wide.txt:2: feature index 500 lies beyond the 136 features that the ranker was trained on",
        ),
        (["none.txt"], "error: none.txt: no such file or directory"),
        (["train.csv", "--valid", "none.txt"], "error: none.txt: no such file or directory"),
        (["train.csv", "--test", "none.txt"], "error: none.txt: no such file or directory"),
    ],
)
def test_a_wrong_file_is_told_with_its_line_and_leaves_no_model(arguments, message, run, folder):
    result = run("train", *arguments, *SETTINGS, "--out", "x.rw")
    assert result.code == 2
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert not (folder / "x.rw").exists()


def test_a_bad_line_of_the_test_file_does_not_cost_the_model(run, folder):
    result = run("train", "train.csv", "--test", "bad.txt", *SETTINGS, "--out", "kept.rw")
    assert result.code == 2
    assert result.stderr.startswith("error: bad.txt:2: the value of '1:two' is not a number")
    assert rw.load(folder / "kept.rw").n_trees_ == 3
