"""`rankwright inspect MODEL`, and training from given scores, on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankwright as rw


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inspect")
    train, valid, test = rw.synthetic.web_search(n_queries=24, seed=3).split(valid=0.2, test=0.2, seed=0)
    for part, name in ((train, "train.txt"), (valid, "valid.txt"), (test, "test.txt")):
        rw.write_svmlight(part, folder / name)
    rw.LambdaMART(n_trees=6, max_leaves=5).fit(train, valid=valid).save(folder / "model.rw")
    return folder


@pytest.fixture
def run(rankwright, folder, monkeypatch):
    monkeypatch.chdir(folder)
    return rankwright


def test_a_model_is_described(run, folder):
    result = run("inspect", "model.rw", "--top", "3")
    assert (result.code, result.stderr) == (0, "")
    ranker = rw.load(folder / "model.rw")
    assert "ranker                lambdamart" in result.stdout
    assert f"trees                 {ranker.facts()['trees']}\n" in result.stdout
    assert f"training data         {ranker.data_digest_}\n" in result.stdout
    assert "scaling               none" in result.stdout
    assert f"best ndcg@10 {ranker.history_.best_value:.4f} after step" in result.stdout
    assert "max_leaves = 5" in result.stdout
    table = result.stdout[result.stdout.index("feature") :]
    best = ranker.feature_names_in_[int(np.argmax(ranker.importances("gain")))]
    assert best in table


def test_a_model_and_its_losses_as_json(run, folder):
    arguments = ["inspect", "model.rw", "--data", "test.txt", "--metric", "ndcg@5:letor", "--json"]
    told = json.loads(run(*arguments).stdout)
    ranker = rw.load(folder / "model.rw")
    test = rw.read_svmlight(folder / "test.txt", n_features=ranker.n_features_in_)
    expected = rw.permutation_importance(ranker, test, "ndcg@5:letor").to_dict()
    assert told["permutation"] == expected
    assert told["history"]["values"] == ranker.history_.values
    assert len(told["features"]) == ranker.n_features_in_


def test_losses_are_shown_as_a_table(run):
    result = run("inspect", "model.rw", "--data", "test.txt", "--top", "2", "--threads", "1")
    assert "with one feature shuffled it drops by:" in result.stdout
    assert "drop of ndcg@10" in result.stdout


def test_a_model_trained_unwatched(run):
    assert run("train", "train.txt", "--set", "n_trees=1", "--out", "unwatched.rw").code == 0
    assert "training              nothing was watched" in run("inspect", "unwatched.rw").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["inspect", "model.rw", "--metric", "map"], "--metric goes with --data"),
        (["inspect", "test.txt", "--data", "test.txt"], "--data goes with a model, and test.txt is none"),
        (["inspect", "absent.rw"], "absent.rw: no such file or directory"),
        (["inspect", "cut.rw"], "cut.rw: the checksum does not match"),
        (["inspect", "cut"], "cut: the checksum does not match"),
        (["inspect", "model.rw", "--data", "test.txt", "--metric", "ndgc"], "unknown metric"),
        (["train", "train.txt", "--valid-initial-scores", "x", "--out", "x.rw"], "goes with --valid"),
        (["train", "train.txt", "--initial-scores", "few.txt", "--out", "x.rw"], "few.txt: has 2 scores, but the data"),
        (
            ["train", "train.txt", "--initial-scores", "inf.txt", "--out", "x.rw"],
            "inf.txt: initial_scores must be finite",
        ),
    ],
)
def test_what_is_wrong_is_said_on_one_line(run, folder, arguments, message):
    for name in ("cut", "cut.rw"):
        (folder / name).write_bytes((folder / "model.rw").read_bytes()[:-5])
    (folder / "few.txt").write_text("1\n2\n")
    (folder / "inf.txt").write_text("inf\n" * rw.read(folder / "train.txt").n_docs)
    result = run(*arguments)
    assert result.code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_training_goes_on_from_the_scores_of_another_model(run, folder):
    for part in ("train", "valid"):
        assert run("score", "model.rw", f"{part}.txt", "--out", f"{part}.scores").code == 0
    starts = ["--initial-scores", "train.scores", "--valid-initial-scores", "valid.scores"]
    command = ["train", "train.txt", "--valid", "valid.txt", "--set", "n_trees=3", "--out", "next.rw", "--json"]
    told = json.loads(run(*command, *starts).stdout)
    assert told["valid"]["metrics"]["ndcg@10"]["mean"] == pytest.approx(told["best_value"])
    first, rest = rw.load(folder / "model.rw"), rw.load(folder / "next.rw")
    train, valid = (
        rw.read_svmlight(folder / f"{part}.txt", n_features=first.n_features_in_) for part in ("train", "valid")
    )
    expected = rw.LambdaMART(n_trees=3).fit(
        train.with_initial_scores(first.predict(train)), valid=valid.with_initial_scores(first.predict(valid))
    )
    assert np.array_equal(rest.predict(valid), expected.predict(valid))
