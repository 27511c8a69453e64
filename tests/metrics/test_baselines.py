from __future__ import annotations

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.metrics.baselines import FeatureRanker, feature_rankers, random_scores
from rankwright.metrics.evaluation import evaluate


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
