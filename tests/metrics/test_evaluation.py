"""Evaluations: means, intervals, counts, and their shapes."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, SettingError
from rankwright.metrics.confidence_intervals import normal_interval
from rankwright.metrics.evaluation import evaluate
from rankwright.metrics.list_metrics import NDCG
from rankwright.metrics.metric_table import METRICS, parse_metric


def data_of(labels, sizes, **parts) -> RankingDataset:
    return RankingDataset.from_arrays(np.zeros((len(labels), 1)), labels, group=sizes, **parts)


def test_mean_counts_and_queries_with_nothing_relevant():
    data = data_of([1, 0, 0, 1, 0, 0], [2, 2, 2])
    scores = [1, 0, 1, 0, 1, 0]
    evaluation = evaluate(scores, data, ["mrr", "mrr:skip-empty"])
    assert evaluation["mrr"].values.tolist() == [1, 1 / 2, 0]
    assert evaluation["mrr"].mean == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert evaluation["mrr"].n_queries == 3
    assert evaluation["mrr:skip-empty"].mean == pytest.approx((1 + 1 / 2) / 2)
    assert evaluation["mrr:skip-empty"].n_queries == 2
    assert evaluation.nothing_relevant == 1
    assert evaluation.n_queries == 3


def test_scores_come_in_the_callers_order():
    labels, qid, scores = [1, 0, 0, 1], ["a", "b", "a", "b"], [2.0, 1.0, 1.0, 0.0]
    data = RankingDataset.from_arrays(np.zeros((4, 1)), labels, qid=qid)
    assert data.source_rows is not None
    assert evaluate(scores, data, ["mrr"])["mrr"].values.tolist() == [1, 1 / 2]


def test_means_go_by_the_weights_of_queries():
    data = data_of([1, 0, 0, 1, 0, 0], [2, 2, 2], query_weights=[3, 1, 0])
    evaluation = evaluate([1, 0, 1, 0, 1, 0], data, ["mrr"])
    assert evaluation.weighted
    assert evaluation["mrr"].mean == pytest.approx((3 * 1 + 1 * 1 / 2) / (3 + 1))
    assert evaluation["mrr"].n_queries == 2
    assert "weighted" in evaluation.headline


def test_weights_that_are_all_equal_change_nothing(small_data):
    scores = small_data.features[:, 0]
    weighted = replace(small_data, query_weights=np.full(small_data.n_queries, 2.0, np.float32))
    one, other = (evaluate(scores, data, ["ndcg@5"])["ndcg@5"] for data in (small_data, weighted))
    assert other.mean == pytest.approx(one.mean, rel=1e-12)
    assert other.interval == pytest.approx(one.interval, rel=1e-12)
    assert other.normal_interval == pytest.approx(one.normal_interval, rel=1e-12)


def test_the_normal_interval_is_1_96_standard_errors_wide():
    values = np.array([0.1, 0.4, 0.7, 0.9])
    low, high = normal_interval(values, np.ones(4))
    error = values.std(ddof=1) / math.sqrt(4)
    assert low == pytest.approx(values.mean() - 1.959964 * error, rel=1e-6)
    assert high == pytest.approx(values.mean() + 1.959964 * error, rel=1e-6)


def test_both_intervals_agree_on_many_queries():
    rng = np.random.default_rng(0)
    data = data_of(rng.integers(0, 3, size=20_000), np.full(2_000, 10))
    result = evaluate(rng.normal(size=20_000), data, ["ndcg@5"])["ndcg@5"]
    assert result.interval == pytest.approx(result.normal_interval, abs=2e-3)
    assert result.interval.low < result.mean < result.interval.high


def test_intervals_hold_the_true_mean_as_often_as_they_say():
    """Half of many samples of 100 queries from one with a known mean: 95 % of intervals should hold it."""
    rng = np.random.default_rng(1)
    held = {"interval": 0, "normal_interval": 0}
    for _ in range(200):
        first_is_relevant = rng.random(100) < 0.3
        labels = np.column_stack([first_is_relevant, ~first_is_relevant]).ravel()
        result = evaluate(np.tile([1, 0], 100), data_of(labels, np.full(100, 2)), ["hit@1"])["hit@1"]
        for name in held:
            interval = getattr(result, name)
            held[name] += interval.low <= 0.3 <= interval.high
    assert all(180 <= count <= 199 for count in held.values()), held


def test_the_bootstrap_depends_on_its_seed_and_on_nothing_else(small_data):
    scores = small_data.features[:, 0]
    intervals = [
        evaluate(scores, small_data, ["ndcg@5", "map"], seed=seed, threads=threads)["map"].interval
        for seed, threads in ((0, 1), (0, 2), (0, 7), (1, 1))
    ]
    assert intervals[0] == intervals[1] == intervals[2]
    assert intervals[0] != intervals[3]


def test_the_dictionary_has_the_promised_shape(small_data):
    evaluation = evaluate(small_data.features[:, 0], small_data, ["ndcg@10", "map:letor"], "lightgbm")
    document = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    assert document["convention"] == "lightgbm"
    assert document["queries"] == small_data.n_queries
    assert document["nothing_relevant"] == evaluation.nothing_relevant
    assert list(document["metrics"]) == ["ndcg@10", "map:letor"]
    for name, numbers in document["metrics"].items():
        assert numbers["mean"] == evaluation[name].mean
        assert numbers["low"] <= numbers["mean"] <= numbers["high"]
        assert numbers["queries"] == small_data.n_queries


def test_the_text_names_the_convention_and_the_queries_with_nothing_relevant(small_data):
    evaluation = evaluate(small_data.features[:, 0], small_data, ["ndcg@10"], "standard(gain=linear)")
    text = str(evaluation)
    assert "convention standard(gain=linear): 40 queries" in text
    assert f"{evaluation.nothing_relevant} with nothing relevant" in text
    assert f"{evaluation['ndcg@10'].mean:.4f}" in text


def test_per_query_gives_a_row_a_query(small_data):
    table = evaluate(small_data.features[:, 0], small_data, ["ndcg@10", "mrr"]).per_query()
    assert list(table) == ["query", "documents", "ndcg@10", "mrr"]
    assert table["query"].tolist() == list(range(100, 140))
    assert all(len(column) == 40 for column in table.values())


def test_metrics_may_be_names_or_values(small_data):
    scores = small_data.features[:, 0]
    evaluation = evaluate(scores, small_data, ["ndcg@5", NDCG(3), parse_metric("ndcg@5:letor")])
    assert list(evaluation.results) == ["ndcg@5", "ndcg@3", "ndcg@5:letor"]


def test_where_no_query_counts_there_is_no_mean():
    evaluation = evaluate([1.0, 0.0], data_of([0, 0], [2]), ["ndcg@5"], "skip-empty")
    assert math.isnan(evaluation["ndcg@5"].mean)
    assert evaluation.to_dict()["metrics"]["ndcg@5"] == {
        "mean": None,
        "low": None,
        "high": None,
        "queries": 0,
        "normal": {"low": None, "high": None},
    }


@pytest.mark.parametrize("name", [name for name, family in METRICS.items() if family.cutoff != "@k"])
def test_data_without_queries_can_be_evaluated(name):
    evaluation = evaluate([], data_of([], []), [name])
    assert evaluation.n_queries == evaluation.nothing_relevant == evaluation[name].n_queries == 0


def test_what_does_not_fit_is_refused(small_data):
    scores = small_data.features[:, 0]
    with pytest.raises(InputError, match=f"must have {small_data.n_docs} values, got 3"):
        evaluate([1.0, 2.0, 3.0], small_data)
    with pytest.raises(InputError, match="must not be NaN"):
        evaluate(np.full(small_data.n_docs, np.nan), small_data)
    with pytest.raises(InputError, match="no labels"):
        evaluate(scores, replace(small_data, labels=None))
    with pytest.raises(InputError, match="ties=input"):
        evaluate(np.zeros(small_data.n_docs), small_data, ["map"], "trec")
    with pytest.raises(SettingError, match="threads"):
        evaluate(scores, small_data, threads=0)
    with pytest.raises(KeyError, match="'map' was not evaluated"):
        evaluate(scores, small_data, ["mrr"])["map"]
