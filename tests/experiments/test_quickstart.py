from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np

from rankwright.catalog.rankers import load
from rankwright.data.dataset import RankingDataset
from rankwright.experiments.quickstart import (
    FEATURES_SHOWN,
    FeatureRanker,
    feature_rankers,
    is_free_or_own,
    random_scores,
    write_quickstart,
)
from rankwright.formats.svmlight.reader import read_svmlight
from rankwright.metrics.evaluation import evaluate


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


def test_features_are_ranked_the_better_way_round_and_best_first():
    labels = np.tile([0, 1, 2, 3, 0, 0], 20)
    noise = np.random.default_rng(0).normal(size=len(labels))
    features = np.stack([noise, -labels, labels + 2 * noise], axis=1)
    data = RankingDataset.from_arrays(features, labels, group=[6] * 20)
    mean_of = feature_rankers(data)
    assert sorted(ranker.column for ranker in mean_of) == [0, 1, 2]
    assert [ranker.name for ranker in mean_of][:2] == ["2, lowest first", "3"]
    means = list(mean_of.values())
    assert means[0] == 1
    assert means == sorted(means, reverse=True)


def test_documents_that_miss_the_feature_come_last():
    data = RankingDataset.from_arrays(np.array([[np.nan], [1], [2]]), [0, 0, 0], group=[3])
    for larger_is_better in (True, False):
        scores = FeatureRanker(0, "1", larger_is_better).scores(data)
        assert scores.argmin() == 0
        assert (scores[1] < scores[2]) is np.bool_(larger_is_better)


def test_scores_are_in_the_order_of_the_source():
    data = RankingDataset.from_arrays([[3], [1], [2]], [1, 0, 1], qid=["a", "b", "a"])
    ranker = FeatureRanker(0, "1", larger_is_better=True)
    assert ranker.scores(data).tolist() == [3, 1, 2]
    assert evaluate(ranker.scores(data), data, ["ndcg"])["ndcg"].values.tolist() == [1, 0]


def test_chance_depends_on_the_seed_alone(small_data):
    assert np.array_equal(random_scores(small_data, 1), random_scores(small_data, 1))
    assert not np.array_equal(random_scores(small_data, 1), random_scores(small_data, 2))


def test_a_folder_of_the_quickstart_may_be_written_again_and_no_other(quickstart, tmp_path):
    assert is_free_or_own(tmp_path / "none")
    write_quickstart(quickstart, tmp_path)
    assert is_free_or_own(tmp_path)
    (tmp_path / "test.txt").unlink()  # as after a run that was killed
    assert is_free_or_own(tmp_path)
    (tmp_path / "valid.txt").write_text("0 qid:1 1:1\n")
    assert not is_free_or_own(tmp_path)
