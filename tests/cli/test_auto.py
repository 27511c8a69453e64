"""`rankwright auto`: a search from the command line, its report, and its mistakes."""

from __future__ import annotations

import json

import pytest
from tests.auto.test_auto import QUICK

import rankwright as rw
from rankwright.auto import search as searching


@pytest.fixture
def run(rankwright, tmp_path, monkeypatch):
    monkeypatch.setattr(searching, "candidates", lambda data, seed: iter(QUICK))  # noqa: ARG005
    monkeypatch.chdir(tmp_path)
    train, test = rw.synthetic.web_search(30, docs_per_query=8, seed=0).split(valid=0.4)
    for name, part in (("train", train), ("test", test)):
        rw.write_svmlight(part, tmp_path / f"{name}.txt")
    return rankwright


def test_it_writes_a_model_a_report_and_tells(run, tmp_path):
    options = ["--trials", "2", "--folds", "2", "--workers", "1", "--study", "study", "--test", "test.txt"]
    told = run("auto", "train.txt", *options, "--report", "page.html", "--out", "best.rw")
    assert told.code == 0, told.stderr
    assert "on new queries expect ndcg@10" in " ".join(told.stdout.split())
    assert "test: " in told.stdout
    assert "What was chosen, and why" in (tmp_path / "page.html").read_text()
    assert list((tmp_path / "study" / "trials").iterdir())
    assert run("score", "best.rw", "test.txt", "--out", "scores.txt").code == 0
    again = run("auto", "train.txt", *options, "--out", "again.rw", "--json")
    assert json.loads(again.stdout)["queries"] == 18
    assert (tmp_path / "again.rw").read_bytes() == (tmp_path / "best.rw").read_bytes()


def test_nothing_to_learn_from_is_refused_unless_that_is_allowed(run, tmp_path):
    lines = (tmp_path / "train.txt").read_text().splitlines()
    (tmp_path / "zero.txt").write_text("".join(f"0{line[1:]}\n" for line in lines))
    options = ["zero.txt", "--trials", "1", "--folds", "2", "--workers", "1", "--out", "empty.rw"]
    refused = run("auto", *options)
    assert refused.code == 2
    assert "--allow-empty" in refused.stderr
    assert run("auto", *options, "--allow-empty").code == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--budget", "soon"], "a budget reads like 90s"),
        (["--budget", "1m", "--trials", "2"], "give one of them"),
        (["--limit-size", "big", "--trials", "1"], "a size reads like 500kB or 5MB"),
        (["--metric", "nothing", "--trials", "1"], "nothing"),
        (["--trials", "0"], "trials must be 1 or more"),
    ],
)
def test_mistakes_are_told_in_a_line(options, told, run):
    found = run("auto", "train.txt", *options, "--out", "no.rw")
    assert found.code == 2
    assert told in found.stderr
