from __future__ import annotations

import csv
import json
import sys
from dataclasses import replace

import pytest

from rankwright.catalog.rankers import load
from rankwright.experiments.quickstart import Quickstart, run_quickstart, write_quickstart
from rankwright.formats.svmlight.files import read_svmlight


@pytest.fixture(scope="module")
def result() -> Quickstart:
    return run_quickstart()


def test_the_model_beats_every_feature_and_those_beat_chance(result):
    *models, _, _, _, _, _, chance = [evaluation["ndcg@10"].mean for evaluation in result.evaluations.values()]
    features = [evaluation["ndcg@10"].mean for evaluation in result.evaluations.values()][len(models) : -1]
    names = list(result.evaluations)
    assert [*names[:3], names[-1]] == ["lambdamart", "ranknet", "lambdarank", "random order"]
    assert len(models) == 3
    assert models[0] > max(features) + 0.03
    assert min(models) > max(features)
    assert min(features) > chance + 0.05


def test_what_is_written_is_what_was_measured(result, tmp_path):
    parts = {name: part.take_queries([0, 1]) for name, part in result.parts.items()}
    result = replace(result, parts=parts)
    files = write_quickstart(result, tmp_path / "new" / "folder")
    assert [path.name for path in files] == [
        *("train.txt", "valid.txt", "test.txt", "feature_names.txt", "model.rw", "results.json", "results.csv")
    ]
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(path.name for path in files)
    for path in files[:3]:
        part = result.parts[path.stem]
        read = read_svmlight(path)
        assert read.features.tobytes() == part.features.tobytes()
        assert read.qid.tolist() == part.qid.tolist()
    assert tuple(files[3].read_text().splitlines()) == result.parts["train"].feature_names
    assert load(files[4]).predict(parts["test"]).tolist() == result.model.predict(parts["test"]).tolist()
    assert json.loads(files[5].read_text()) == result.to_dict()
    with files[6].open() as lines:
        rows = list(csv.DictReader(lines))
    assert [float(row["mean"]) for row in rows] == [row["mean"] for row in result.table()]


def test_without_torch_the_nets_are_left_out_and_that_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # what importlib takes for a module that is not there
    result = run_quickstart()
    assert list(result.left_out) == ["ranknet", "lambdarank"]
    assert "pip install 'rankwright[nets]'" in result.left_out["ranknet"]
    assert "ranknet" not in result.evaluations
