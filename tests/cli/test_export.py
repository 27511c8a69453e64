"""`rankwright export`, and the other commands on models of other tools."""

from __future__ import annotations

import json

import pytest

import rankwright as rw


@pytest.fixture
def model(small_data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rw.LambdaMART(n_trees=3, max_leaves=4, threads=1).fit(small_data).save("model.rw")
    rw.write(small_data, "data.txt")
    return "model.rw"


def test_a_report_as_json(model, rankwright):
    outcome = rankwright(
        "export", model, "--to", "plugin-xgboost", "--verify", "--sample", "data.txt", "--out", "out.json", "--json"
    )
    assert outcome.code == 0, outcome.stderr
    report = json.loads(outcome.stdout)
    assert report["verdicts"][0]["passed"] is True
    assert report["verdicts"][0]["by"] == "by rule, not run"
    assert report["files"] == ["out.json", "out.featureset.json", "out.sample.csv"]


def test_a_refusal_is_one_line_and_leaves_nothing(model, rankwright, tmp_path):
    outcome = rankwright("export", model, "--to", "plugin-linear", "--out", "out.json")
    assert outcome.code == 2
    assert outcome.stderr.count("\n") == 1
    assert "this is a forest: take" in outcome.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.txt", "model.rw"]


def test_an_export_is_a_model_to_every_command(model, rankwright):
    assert rankwright("export", model, "--to", "lightgbm", "--out", "theirs.txt").code == 0
    evaluated = [
        json.loads(rankwright("evaluate", "data.txt", "--model", name, "--json").stdout)["metrics"]
        for name in (model, "theirs.txt")
    ]
    assert evaluated[0] == evaluated[1]
    assert rankwright("score", "theirs.txt", "data.txt", "--out", "scores.txt").code == 0
    assert "LightGBM text" in rankwright("inspect", "theirs.txt", "--json").stdout


def test_targets_and_sources_are_listed(rankwright):
    assert "onnx" in rankwright("list", "targets").stdout
    assert "RankLib XML" in rankwright("list", "sources").stdout
