"""Laws of bagged forests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.bagging import bag_training
from rankwright.bagging.bag_members import repeat_queries, weighted
from rankwright.bagging.bag_training import BagLearner
from rankwright.bagging.samples import BagPlan
from rankwright.errors import SettingError
from rankwright.mart.length_search import UnseenForests
from rankwright.objectives import lambdarank
from rankwright.training.loop import History
from rankwright.trees.bins.binned import bin_dataset

SMALL: dict[str, Any] = {"n_trees": 6, "max_leaves": 5, "min_docs_in_leaf": 3}
KINDS = pytest.mark.parametrize("kind", [rw.BLMART, rw.BagBoo])
SINGLE = {rw.BLMART: rw.LambdaMART, rw.BagBoo: rw.MART}


def bags(kind=rw.BLMART, **changes):
    return kind(**(SMALL | {"n_bags": 4} | changes))


@KINDS
def test_the_forest_says_the_mean_of_the_bags(kind, small_data):
    ranker = bags(kind, n_bags=3).fit(small_data)
    alone = [ranker.base_score_ + ranker.bag(number).predict(small_data.features) for number in range(3)]
    assert np.allclose(ranker.predict(small_data), np.mean(alone, axis=0), rtol=0, atol=1e-6)
    assert ranker.forest_.n_trees == ranker.trees_of_bags_.sum()


@KINDS
def test_one_bag_of_everything_is_the_single_ranker_bit_for_bit(kind, small_data):
    one = bags(kind, n_bags=1, bootstrap=False, seed=3).fit(small_data)
    assert one.forest_.equals(one.single().fit(small_data).forest_)
    assert isinstance(one.single(), SINGLE[kind])
    assert one.oob_score_ is None
    assert np.isnan(one.oob_scores_).all()


@KINDS
@pytest.mark.parametrize("overfit", [False, True])
def test_threads_change_no_bit(kind, overfit, small_data):
    one, two, seven = (bags(kind, overfit=overfit, threads=threads).fit(small_data) for threads in (1, 2, 7))
    assert one.forest_.equals(two.forest_)
    assert one.forest_.equals(seven.forest_)
    assert one.history_.values == two.history_.values == seven.history_.values
    assert np.array_equal(one.oob_scores_, two.oob_scores_, equal_nan=True)


def test_a_bag_is_what_the_single_ranker_learns_from_weighted_queries(small_data):
    """The engine's own rounding aside: it is drawn by row, and the rows of a copy are others."""
    ranker = bags(n_bags=2, overfit=True, query_fraction=1.0, feature_fraction=1.0).fit(small_data)
    plan = BagPlan(n_bags=2)
    binned = bin_dataset(small_data)
    for number in range(2):
        sample = plan.sample(number, small_data.n_queries)
        alone = ranker.single(seed=plan.seed_of(number)).fit_binned(weighted(binned, sample), queries=sample.queries)
        assert np.allclose(alone.forest_.predict(small_data.features), ranker.bag(number).predict(small_data.features))


def test_a_weight_pushes_as_copies_do(small_data):
    small_data = small_data.in_key_order()
    objective = lambdarank()  # which draws nothing: a copy has the same forces
    sample = BagPlan(n_bags=1).sample(0, small_data.n_queries)
    scores = np.random.default_rng(0).normal(size=small_data.n_docs)
    heavy = weighted(bin_dataset(small_data), sample)
    by_weight = objective.bind(heavy)(scores, key=1).gradient
    copies = repeat_queries(small_data, sample.repeated)
    rows = small_data.groups.rows_of(sample.repeated)
    by_copy = np.zeros(small_data.n_docs)
    np.add.at(by_copy, rows, objective.bind(copies)(scores[rows], key=1).gradient)
    assert np.allclose(by_weight, by_copy, atol=1e-6)


def test_rows_out_of_the_bag_teach_a_bag_nothing(small_data):
    """A bag on the same bins is the same whatever the judges say of queries it does not have."""
    small_data = small_data.in_key_order()
    binned = bin_dataset(small_data)
    sample = BagPlan(n_bags=1).sample(0, small_data.n_queries)
    labels = small_data.labels.copy()
    labels[small_data.groups.rows_of(sample.others)] = 0
    other = replace(binned, documents=replace(binned.documents, labels=labels))
    one, two = (rw.LambdaMART(**SMALL).fit_binned(weighted(data, sample), queries=sample.queries)
                for data in (binned, other))  # fmt: skip
    assert one.forest_.equals(two.forest_)


@pytest.mark.parametrize("overfit", [False, True])
def test_out_of_bag_scores_come_from_bags_that_never_saw_the_query(overfit, small_data):
    small_data = small_data.in_key_order()  # by which queries are numbered in samples
    small_data = replace(small_data, source_rows=None)
    ranker = bags(overfit=overfit).fit(small_data)
    samples = [BagPlan(n_bags=4).sample(number, small_data.n_queries) for number in range(4)]
    scores = [ranker.bag(number).predict(small_data.features) for number in range(4)]
    for query, docs in enumerate(small_data.groups.slices()):
        unseen = [score[docs] for score, sample in zip(scores, samples, strict=True) if sample.counts[query] == 0]
        expected = np.mean(unseen, axis=0) if unseen else np.nan
        assert np.allclose(ranker.oob_scores_[docs], expected, atol=1e-6, equal_nan=True)
    judged = small_data.take_queries([q for q in range(40) if any(sample.counts[q] == 0 for sample in samples)])
    found = rw.evaluate(ranker.oob_scores_[~np.isnan(ranker.oob_scores_)], judged, ["ndcg@10"])["ndcg@10"].mean
    assert ranker.oob_score_ == pytest.approx(found, abs=1e-12)
    assert ranker.history_.values[-1] == ranker.oob_score_


def test_out_of_bag_scores_stand_in_the_callers_order(small_data):
    order = np.random.default_rng(0).permutation(small_data.n_docs)
    X, y, qid = small_data.features[order], small_data.labels[order], small_data.qid[order]
    ranker = bags().fit(X, y, qid=qid)
    moved = rw.RankingDataset.from_arrays(X, y, qid=qid)
    again = bags().fit(replace(moved, source_rows=None))
    assert np.array_equal(moved.in_source_order(again.oob_scores_), ranker.oob_scores_, equal_nan=True)


def test_bags_that_do_not_overfit_are_the_beginnings_of_those_that_do(small_data):
    short, long = (bags(overfit=overfit, n_trees=20).fit(small_data) for overfit in (False, True))
    assert (long.trees_of_bags_ == 20).all()
    assert (short.trees_of_bags_ < 20).any()
    for number in range(4):
        cut = long.bag(number).truncated(int(short.trees_of_bags_[number]))
        assert cut.equals(short.bag(number))


OPEN: dict[str, Any] = {"max_leaves": 5, "min_docs_in_leaf": 3, "seed": 1}  # nobody says how many trees


def test_the_first_bags_find_the_number_of_trees_of_the_others(small_data, monkeypatch):
    monkeypatch.setattr(bag_training, "N_THAT_SEARCH", 2)
    ranker = rw.BLMART(n_bags=4, **OPEN).fit(small_data)
    first, others = ranker.trees_of_bags_[:2], ranker.trees_of_bags_[2:]
    assert others.tolist() == [round(first.mean())] * 2
    assert rw.BLMART(n_bags=2, **OPEN).fit(small_data).trees_of_bags_.tolist() == first.tolist()
    long = rw.BLMART(n_bags=4, overfit=True, n_trees=int(others[0]), learning_rate=0.1, **OPEN).fit(small_data)
    assert long.bag(3).equals(ranker.bag(3))


@pytest.mark.parametrize(
    ("given", "rate"),
    [({}, 0.1), ({"n_trees": 3}, 0.05), ({"overfit": True}, 0.05), ({"learning_rate": 0.2}, None)],
)
def test_bags_that_find_their_number_of_trees_learn_quicker(given, rate, small_data):
    ranker = rw.BLMART(n_bags=1, **OPEN, **given).fit(small_data)
    assert ranker.chosen_.get("learning_rate") == rate


@pytest.mark.parametrize("given", [{"n_trees": 20}, {"early_stopping": 2}])
def test_each_bag_finds_its_own_number_of_trees_where_a_setting_says_how(given, small_data, monkeypatch):
    ranker = rw.BLMART(n_bags=4, **OPEN, **given).fit(small_data)
    monkeypatch.setattr(bag_training, "N_THAT_SEARCH", 1)
    assert rw.BLMART(n_bags=4, **OPEN, **given).fit(small_data).forest_.equals(ranker.forest_)


def test_validation_data_chooses_in_place_of_queries_out_of_the_bag(small_data):
    train, valid = small_data.split(valid=0.3, seed=0)
    ranker = bags(n_trees=20, smoothing=0.0).fit(train, valid=valid)
    long = bags(n_trees=20, overfit=True).fit(train, valid=valid)
    for number in range(4):
        stages = [scores for _, scores in long.bag(number).staged_predict(valid.features)]
        means = [rw.evaluate(scores, valid, ["ndcg@10"])["ndcg@10"].mean for scores in stages]
        assert ranker.trees_of_bags_[number] == 1 + int(np.argmax(means))
    assert ranker.score(valid) == pytest.approx(ranker.history_.values[-1], abs=1e-12)


def test_bags_may_stop_early(small_data):
    ranker = bags(n_trees=200, early_stopping=3).fit(small_data)
    assert (ranker.trees_of_bags_ < 200).all()
    with pytest.raises(SettingError, match="overfit keeps every tree and early_stopping does not"):
        bags(overfit=True, early_stopping=3).fit(small_data)


def test_preferences_are_bagged_too(small_data):
    pairs = rw.Preferences(small_data.groups.offsets[:-1][small_data.groups.sizes > 1],
                           small_data.groups.offsets[:-1][small_data.groups.sizes > 1] + 1)  # fmt: skip
    ranker = bags(objective="ranknet").fit(replace(small_data, labels=None, preferences=pairs))
    assert ranker.oob_score_ is None
    assert ranker.history_.values == []
    assert np.isfinite(ranker.predict(small_data)).all()


@KINDS
def test_initial_scores_are_what_every_bag_starts_from(kind, small_data):
    start = np.random.default_rng(0).normal(size=small_data.n_docs)
    ranker = bags(kind).fit(small_data.with_initial_scores(start))
    assert not np.array_equal(ranker.predict(small_data), bags(kind).fit(small_data).predict(small_data))
    assert ranker.base_score_ == 0.0


def test_the_file_tells_of_its_bags(small_data, tmp_path):
    ranker = bags().fit(small_data)
    ranker.save(tmp_path / "model.rw")
    loaded = rw.load(tmp_path / "model.rw")
    assert loaded.facts() == ranker.facts()
    assert loaded.facts()["bags"] == 4
    assert all(loaded.bag(number).equals(ranker.bag(number)) for number in range(4))
    with pytest.raises(SettingError, match="bags are numbered from 0 to 3, got 4"):
        loaded.bag(4)


def test_a_name_needs_no_hyphen():
    assert rw.BLMART.name == "bl-mart"
    assert type(rw.BLMART().single()) is rw.LambdaMART


def test_ctrl_c_between_a_bag_and_its_measure_keeps_both(small_data, monkeypatch):
    measure = BagLearner._measure_out_of_bag
    calls: list[BagLearner] = []

    def interrupted_once(growing):
        calls.append(growing)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return measure(growing)

    monkeypatch.setattr(BagLearner, "_measure_out_of_bag", interrupted_once)
    ranker = rw.BLMART(n_bags=8, n_trees=3, max_leaves=4, threads=1).fit(small_data)
    assert ranker.history_.interrupted
    assert 3 <= len(ranker.history_.values) == ranker.n_bags_ < 8


@pytest.mark.parametrize(("symmetric_is_worth", "growth"), [(0.515, "best-first"), (0.6, "symmetric")])
def test_bags_have_symmetric_trees_where_these_are_far_better_unseen(
    symmetric_is_worth, growth, small_data, monkeypatch
):
    worth = {"best-first": 0.5, "symmetric": symmetric_is_worth}

    def grow(self, n_trees):  # noqa: ARG001
        self.history = History(watched="ndcg@10", values=[worth[self.shape.growth]])

    monkeypatch.setattr(UnseenForests, "grow", grow)
    ranker = rw.BLMART(n_bags=2, early_stopping=2).fit(small_data)
    assert ranker.chosen_["growth"] == growth
    assert ranker.chosen_["max_leaves"] == {"best-first": 7, "symmetric": 64}[growth]


def test_bags_keep_what_they_are_given(small_data):
    ranker = rw.BLMART(n_bags=2, max_leaves=5, early_stopping=2).fit(small_data)
    assert "max_leaves" not in ranker.chosen_
    assert ranker.chosen_["growth"] == "best-first"
