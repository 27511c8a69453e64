"""What a metric loses when a feature is shuffled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, SettingError

SMALL: dict[str, Any] = {"n_trees": 6, "max_leaves": 6, "min_docs_in_leaf": 3}


@pytest.fixture(scope="module")
def data() -> RankingDataset:
    """Labels follow the first feature; the second is noise; the third is the same for all documents of a query."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(50), 12)
    features = np.stack([rng.normal(size=600), rng.normal(size=600), rng.normal(size=50)[qid], np.ones(600)], axis=1)
    labels = np.clip(np.round(features[:, 0] + 1), 0, 3)
    order = rng.permutation(600)
    return RankingDataset.from_arrays(features[order], labels[order], qid=qid[order])


@pytest.fixture(scope="module")
def ranker(data):
    return rw.LambdaMART(**SMALL).fit(data)


@pytest.mark.parametrize("within_queries", [False, True])
def test_it_is_the_drop_of_the_metric_with_the_feature_shuffled(ranker, data, within_queries):
    found = rw.permutation_importance(ranker, data, "ndcg@5", repeats=3, within_queries=within_queries, seed=4)
    assert found.baseline == rw.evaluate(ranker.predict(data), data, ["ndcg@5"])["ndcg@5"].mean
    assert found.drops.shape == (4, 3)
    assert found.ordered()[0] == 0
    assert found.mean[0] > 0.1
    assert found.spread == pytest.approx([np.std(row) for row in found.drops])
    assert found.drops[0].min() < found.drops[0].max()


def test_one_shuffle_by_hand(ranker, data):
    found = rw.permutation_importance(ranker, data, "map", repeats=2, seed=7)
    order = np.random.default_rng([7, 0, 1]).permutation(data.n_docs)
    features = data.features.copy()
    features[:, 0] = features[order, 0]
    shuffled = replace(data, features=features)
    after = rw.evaluate(ranker.predict(shuffled), shuffled, ["map"])["map"].mean
    assert found.drops[0, 1] == found.baseline - after


def test_the_data_is_left_as_it_was(ranker, data):
    before = data.features.copy()
    rw.permutation_importance(ranker, data, repeats=1)
    assert np.array_equal(before, data.features)


def test_what_tells_no_documents_apart_within_a_query_loses_nothing_there(data):
    both = rw.LambdaMART(**SMALL).fit(data)
    within = rw.permutation_importance(both, data, repeats=2, within_queries=True)
    assert within.drops[2].tolist() == [0, 0]


def test_features_not_split_on_are_never_scored(ranker, data, monkeypatch):
    calls: list[Any] = []
    predict = type(ranker).predict

    def counted(self, X, qid=None):
        calls.append(X)
        return predict(self, X, qid)

    monkeypatch.setattr(type(ranker), "predict", counted)
    found = rw.permutation_importance(ranker, data, repeats=3)
    used = int(ranker.used_features().sum())
    assert not ranker.used_features()[3]
    assert len(calls) == 1 + 3 * used
    assert found.drops[3].tolist() == [0, 0, 0]


def test_a_seed_is_all_the_chance_there_is(ranker, data):
    first, again, threaded, other = (
        rw.permutation_importance(ranker, data, seed=seed, threads=threads).drops
        for seed, threads in ((1, 1), (1, 1), (1, 7), (2, 1))
    )
    assert np.array_equal(first, again)
    assert np.array_equal(first, threaded)
    assert not np.array_equal(first, other)


def test_a_metric_where_less_is_better_drops_upwards(ranker, data):
    found = rw.permutation_importance(ranker, data, "pair-error")
    assert found.mean[0] > 0.1


def test_names_and_dictionary(data):
    named = replace(data, feature_names=("good", "noise", "query", "one"))
    found = rw.permutation_importance(rw.MART(**SMALL).fit(named), named, "ndcg@10:letor", repeats=1)
    told = found.to_dict()
    assert (told["metric"], told["repeats"]) == ("ndcg@10:letor", 1)
    assert told["features"][0] == {"feature": "good", "mean": found.mean[0], "spread": 0.0}
    assert {entry["feature"] for entry in told["features"]} == set(named.names)


def test_initial_scores_count(data):
    start = data.with_initial_scores(data.in_source_order(100.0 * data.features[:, 0]))
    ranker = rw.LambdaMART(**SMALL).fit(data)
    found = rw.permutation_importance(ranker, start, repeats=1)
    assert np.abs(found.drops).max() < 0.01  # the start decides the order, whatever the trees say


def test_what_cannot_be_measured_is_refused(ranker, data):
    with pytest.raises(SettingError, match="repeats must be 1 or more, got 0"):
        rw.permutation_importance(ranker, data, repeats=0)
    with pytest.raises(InputError, match="data must be a RankingDataset, got ndarray"):
        rw.permutation_importance(ranker, data.features)
    with pytest.raises(InputError, match="no labels"):
        rw.permutation_importance(ranker, RankingDataset.from_arrays(data.features, qid=data.qid))
    nothing = replace(data, labels=np.zeros(data.n_docs, np.float32))
    with pytest.raises(InputError, match="no query of the data counts for ndcg@10:skip-empty"):
        rw.permutation_importance(ranker, nothing, "ndcg@10:skip-empty")


def test_it_prints_the_most_important_features_first():
    data = rw.synthetic.web_search(n_queries=20, seed=0)
    found = rw.permutation_importance(rw.LambdaMART(n_trees=3, max_leaves=4).fit(data), data, repeats=2)
    title, header, first, *_, last = str(found).splitlines()
    best = int(found.ordered()[0])
    assert title == f"{found.metric} {found.baseline:.4f}; what it loses with a feature shuffled"
    assert header.split() == ["feature", "mean", "spread"]
    assert first.split() == [found.feature_names[best], f"{found.mean[best]:+.4f}", f"{found.spread[best]:.4f}"]
    assert last == f"and {data.n_features - 20} more"
    assert found.to_frame()["mean"].tolist() == sorted(found.mean.tolist(), reverse=True)
