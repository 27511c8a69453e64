from __future__ import annotations

import csv
import json
from dataclasses import replace

from rankwright.catalog.rankers import load
from rankwright.experiments.quickstart import FEATURES_SHOWN, write_quickstart
from rankwright.formats.svmlight.reader import read_svmlight


def test_the_model_beats_every_feature_and_those_beat_chance(quickstart):
    means = [evaluation["ndcg@10"].mean for evaluation in quickstart.evaluations.values()]
    models, features, chance = means[:3], means[3:-1], means[-1]
    names = list(quickstart.evaluations)
    assert [*names[:3], names[-1]] == ["lambdamart", "ranknet", "lambdarank", "random order"]
    assert len(features) == FEATURES_SHOWN
    assert models[0] > max(features) + 0.03
    assert min(models) > max(features)
    assert min(features) > chance + 0.05


def test_what_is_written_is_what_was_measured(quickstart, tmp_path):
    parts = {name: part.take_queries([0, 1]) for name, part in quickstart.parts.items()}
    result = replace(quickstart, parts=parts)
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
