"""SortNet on the command line: trained, scored, inspected, drawn."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankwright as rw


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sortnet")
    train, test = rw.synthetic.web_search(n_queries=12, seed=3).split(valid=0.3, seed=0)
    rw.write(train, folder / "train.txt")
    rw.write(test, folder / "test.txt")
    return folder


@pytest.fixture
def run(rankwright, folder, monkeypatch):
    monkeypatch.chdir(folder)
    return rankwright


def train(run):
    settings = ("--set", "hidden=[4,3]", "--set", "max_iter=2", "--set", "epochs=3")
    assert run("train", "train.txt", "--ranker", "sortnet", *settings, "--out", "model.rw").code == 0


def test_it_is_trained_scored_and_inspected(run, folder):
    train(run)
    assert run("score", "model.rw", "test.txt", "--out", "scores.txt").code == 0
    model, test = rw.load(folder / "model.rw"), rw.read(folder / "test.txt")
    assert np.array_equal(np.loadtxt(folder / "scores.txt"), model.predict(test))
    told = json.loads(run("inspect", "model.rw", "--data", "test.txt", "--metric", "map", "--json").stdout)
    assert told["sorting"] == model.examine(test)["sorting"]
    assert told["model"]["hidden"] == "4 + 3"
    result = run("inspect", "model.rw", "--data", "test.txt", "--top", "1", "--plot", "training.svg")
    assert "sorting the documents of the data:" in result.stdout
    assert f"share intransitive          {told['sorting']['share_intransitive']:,.6g}\n" in result.stdout
    assert result.stderr == "wrote training.svg\n"
    assert "Pairs held" in (folder / "training.svg").read_text()


def test_plots_need_a_model(run):
    result = run("inspect", "test.txt", "--plot", "picture.svg")
    assert (result.code, result.stderr) == (2, "error: --plot goes with --objective or a model, and test.txt is none\n")
