from __future__ import annotations

import csv
import json

import pytest

from rankwright.data.svmlight import read_svmlight
from rankwright.experiments.quickstart import Quickstart, run_quickstart, write_quickstart


@pytest.fixture(scope="module")
def result() -> Quickstart:
    return run_quickstart()


def test_every_feature_shown_beats_chance(result):
    *features, chance = result.evaluations.values()
    assert list(result.evaluations)[-1] == "random order"
    assert len(features) == 5
    assert all(evaluation["ndcg@10"].mean > chance["ndcg@10"].mean + 0.05 for evaluation in features)


def test_what_is_written_is_what_was_measured(result, tmp_path):
    parts = {name: part.take_queries([0, 1]) for name, part in result.parts.items()}
    result = Quickstart(parts, result.evaluations)
    files = write_quickstart(result, tmp_path / "new" / "folder")
    assert [path.name for path in files] == [
        *("train.txt", "valid.txt", "test.txt", "feature_names.txt", "results.json", "results.csv")
    ]
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(path.name for path in files)
    for path in files[:3]:
        part = result.parts[path.stem]
        read = read_svmlight(path)
        assert read.features.tobytes() == part.features.tobytes()
        assert read.qid.tolist() == part.qid.tolist()
    assert tuple(files[3].read_text().splitlines()) == result.parts["train"].feature_names
    assert json.loads(files[4].read_text()) == result.to_dict()
    with files[5].open() as lines:
        rows = list(csv.DictReader(lines))
    assert [float(row["mean"]) for row in rows] == [row[2] for row in result.table()]
