"""`rankwright blend`: rankers trained and blended, and trained models joined."""

from __future__ import annotations

import json

import pytest
from tests.cli.test_bag import TREES

import rankwright as rw


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blend")
    parts = rw.synthetic.web_search(n_queries=40, seed=3).split(valid=0.3, test=0.3, seed=0)
    for name, part in zip(("train", "valid", "test"), parts, strict=True):
        rw.write_svmlight(part, folder / f"{name}.txt")
    return folder


@pytest.fixture
def run(rankwright, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    return rankwright


def test_rankers_are_trained_and_weighed(run, folder):
    forest = "lambdamart n_trees=3 max_leaves=4"
    told = run("blend", "train.txt", "--ranker", forest, "--ranker", "ranksvm", "--test", "test.txt", "--out", "b.rw")
    assert told.code == 0, told.stderr
    assert "test: " in told.stdout
    assert "ranksvm" in told.stdout
    assert [one.name for one in rw.load(folder / "b.rw").rankers_] == ["lambdamart", "ranksvm"]
    assert run("score", "b.rw", "test.txt", "--out", "scores.txt").code == 0
    shown = run("inspect", "b.rw")
    assert "rankers = lambdamart, ranksvm" in shown.stdout
    assert run("explain", "b.rw", "test.txt", "--query", "1").code in (0, 2)


def test_trained_models_are_joined(run):
    for name in ("lambdamart", "mart"):
        assert run("train", "train.txt", "--ranker", name, *TREES, "--out", f"{name}.rw").code == 0
    run("export", "mart.rw", "--to", "lightgbm", "--out", "mart.txt")
    models = ["--model", "lambdamart.rw", "--model", "mart.txt"]
    told = run("blend", "valid.txt", *models, "--weights", "1,3", "--test", "test.txt", "--out", "j.rw", "--json")
    assert told.code == 0, told.stderr
    found = json.loads(told.stdout)
    assert [one["weight"] for one in found["weights_of_rankers"]] == [0.25, 0.75]
    assert found["test"]["queries"] == 12


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--ranker", "ranknet", "--model", "x.rw"], "give one of them"),
        (["--ranker", "ranknet"], "two rankers or more, got 1"),
        (["--ranker", "ranknet 'epochs"], "a ranker reads like 'ranknet epochs=20'"),
        (["--combine", "rrf", "--scores", "rank"], "it looks at ranks: leave scores out"),
        (["--weights", "1,x"], "--weights takes a number"),
        (["--workers", "2"], "--workers goes with --cluster"),
    ],
)
def test_mistakes_are_told_in_a_line(options, told, run):
    found = run("blend", "train.txt", *options, "--out", "no.rw")
    assert found.code == 2
    assert told in found.stderr
