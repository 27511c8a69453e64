"""Cross-validation, plain and nested: folds by hand give the same, and nobody sees the queries it is measured on."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import rankwright as rw
from rankwright.data.keys import key_order
from rankwright.data.splits import k_fold
from rankwright.errors import SettingError
from rankwright.settings.spaces import Choice
from rankwright.tuning.cross_validation import cross_validate
from rankwright.tuning.folds import given_folds
from rankwright.tuning.strategies import TuningPlan
from rankwright.tuning.tuner import nested_cross_validation, tune

METRICS = ("ndcg@5", "map")


def test_cross_validation_is_training_on_all_folds_but_one(learnable, here):
    found = cross_validate(rw.LambdaMART(n_trees=5), learnable, folds=3, metrics=METRICS, seeds=2, engine=here)
    assert here.ran == 3 * 2
    for number, (train, test) in enumerate(learnable.k_fold(3)):
        of_seeds = [
            rw.evaluate(rw.LambdaMART(n_trees=5, seed=seed).fit(train).predict(test), test, METRICS) for seed in (0, 1)
        ]
        for metric in METRICS:
            by_hand = np.mean([evaluation[metric].mean for evaluation in of_seeds])
            assert found.fold_mean(metric, number) == pytest.approx(by_hand)
    means = [found.fold_mean("map", fold) for fold in range(3)]
    assert found.mean("map") == pytest.approx(np.mean(means))
    low, high = found.interval("map")
    assert low < found.mean("map") < high
    assert sorted(row["query"] for row in found.per_query()) == list(range(40))
    assert found.to_dict()["metrics"]["map"]["folds"] == pytest.approx(means)


def test_early_stopping_needs_a_share_held_back(learnable, here):
    ranker = rw.LambdaMART(n_trees=30, early_stopping=3)
    with pytest.raises(SettingError, match="early_stopping needs validation data"):
        cross_validate(ranker, learnable, engine=here)
    found = cross_validate(ranker, learnable, folds=2, valid=0.25, engine=here)
    assert all(record.steps < 30 for record in found.records)


def test_folds_of_ones_own(learnable, here):
    train, valid, test = learnable.split(valid=0.25, test=0.25)
    own = given_folds([(train, valid, test), (test, None, valid)])
    found = cross_validate(rw.MART(n_trees=5), own, metrics=["map"], engine=here)
    assert [len(ids) for ids in found.query_ids] == [test.n_queries, valid.n_queries]
    by_hand = rw.MART(n_trees=5).fit(train, valid=valid)
    assert found.fold_mean("map", 0) == pytest.approx(rw.evaluate(by_hand.predict(test), test)["map"].mean)


def test_query_weights_count(learnable, here):
    weights = np.arange(40, dtype=np.float32)
    weighted = cross_validate(rw.MART(n_trees=3), replace(learnable, query_weights=weights), folds=2, engine=here)
    values, own = weighted.values("map", 0), weighted.weights[0]
    assert set(own) <= set(weights)
    assert weighted.fold_mean("map", 0) == pytest.approx(np.average(values, weights=own))
    assert weighted.records[0].value == pytest.approx(weighted.fold_mean("ndcg@10", 0))


def test_queries_that_do_not_count_are_left_out(learnable, here):
    none_relevant = replace(learnable, labels=np.where(learnable.qid < 20, 0, learnable.labels).astype(np.float32))
    metric = "ndcg@5:standard(empty=skip)"
    found = cross_validate(rw.MART(n_trees=3), none_relevant, folds=2, metrics=[metric], engine=here)
    skipped = [row["query"] for row in found.per_query() if row[metric] is None]
    assert set(range(20)) <= set(skipped)
    assert not math.isnan(found.mean(metric))


def test_nested_cross_validation_measures_what_tuning_on_the_rest_gives(learnable, here, tmp_path):
    plan = TuningPlan(strategy="grid", folds=2, metric="ndcg@5")
    space = {"max_leaves": Choice((3, 6))}
    found = nested_cross_validation(
        rw.LambdaMART(n_trees=6), learnable, folds=3, space=space, plan=plan, study=tmp_path, engine=here
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outer-1", "outer-2", "outer-3"]
    everything = []
    for number, fold in enumerate(k_fold(learnable.groups, 3, seed=0, order=key_order(learnable).queries)):
        rest, held_out = learnable.take_queries(fold.train), learnable.take_queries(fold.test)
        tuned = tune(rw.LambdaMART(n_trees=6), rest, space=space, plan=plan, engine=here)
        assert tuned.settings == found.tuned[number].settings
        values = rw.evaluate(tuned.ranker.predict(held_out), held_out, ["ndcg@5"])["ndcg@5"].values
        everything.append(values)
    assert found.mean == pytest.approx(np.concatenate(everything).mean())
    low, high = found.interval()
    assert low < found.mean < high
    assert len(found.to_dict()["folds"]) == 3
