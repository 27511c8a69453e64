"""How many trees a forest gets where nobody says so."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.data.splits import k_fold
from rankwright.training.loop import History
from rankwright.trees import sizing
from rankwright.trees.bins.binned import bin_dataset
from rankwright.trees.sizing import BY_SIZE, PAPER, SMALL, shape_for


@pytest.fixture(scope="module")
def data():
    """Few features: each test that leaves the length open grows four forests of hundreds of trees."""
    wide = rw.synthetic.web_search(60, docs_per_query=15, seed=3)
    return replace(wide, features=wide.features[:, ::6].copy(), feature_names=wide.feature_names[::6])


@pytest.fixture(scope="module")
def chosen(data):
    return rw.LambdaMART().fit(data)


def test_settings_left_open_go_by_the_size_of_the_data(data, chosen):
    shape = shape_for(data.n_docs)
    assert chosen.get_params()["max_leaves"] is None
    assert chosen.chosen_["max_leaves"] == chosen.value_of("max_leaves") == shape.max_leaves
    assert {"n_trees", "min_docs_in_leaf", "learning_rate", "query_fraction", "feature_fraction"} < set(chosen.chosen_)


def test_a_number_given_is_kept(data):
    ranker = rw.LambdaMART(n_trees=7, max_leaves=3, learning_rate=0.2).fit(data)
    assert ranker.n_trees_ == 7
    assert not {"n_trees", "max_leaves", "learning_rate"} & set(ranker.chosen_)
    assert np.count_nonzero(ranker.forest_.feature < 0) <= 7 * 3


def test_the_length_is_the_best_for_queries_of_other_folds(data, chosen):
    """The choice made again by hand: three forests, each measured on the fold it never saw."""
    rng = np.random.default_rng([0, sizing.LENGTH_STREAM])
    ordered = data.in_key_order()
    folds = k_fold(ordered.groups, sizing.N_FOLDS, seed=rng)
    binned = bin_dataset(data)
    n_steps = chosen.n_trees_ + 30
    scores = np.zeros((n_steps, data.n_docs))
    for fold in folds:
        single = rw.LambdaMART(n_trees=n_steps, **{k: v for k, v in chosen.chosen_.items() if k != "n_trees"})
        single.fit_binned(binned, queries=fold.train)
        rows = ordered.groups.rows_of(fold.test)
        for step, found in single.forest_.staged_predict(ordered.features):
            scores[step - 1, rows] = found[rows]
    labels = ordered.labels
    plain = rw.RankingDataset.from_arrays(ordered.features, labels, group=ordered.groups.sizes)
    means = [rw.evaluate(one, plain, ["ndcg@10"])["ndcg@10"].mean for one in scores]
    best = History(values=means, smoothing=chosen.smoothing).best_step
    assert best is not None
    assert abs(best + 1 - chosen.n_trees_) <= 0.3 * chosen.n_trees_ + 10  # later steps belong to the mean, too


def test_the_forest_is_that_of_its_length_on_all_queries(data, chosen):
    again = rw.LambdaMART(**chosen.chosen_).fit(data)
    np.testing.assert_array_equal(again.predict(data), chosen.predict(data))


def test_the_choice_does_not_depend_on_threads_or_order(data, chosen):
    order = np.random.default_rng(1).permutation(data.n_queries)
    other = rw.LambdaMART(threads=3).fit(data.take_queries(order))
    assert other.chosen_ == chosen.chosen_
    np.testing.assert_array_equal(other.predict(data), chosen.predict(data))


def test_what_was_chosen_is_in_the_model_file(chosen, tmp_path):
    chosen.save(tmp_path / "model.rw")
    assert rw.load(tmp_path / "model.rw").chosen_ == chosen.chosen_
    assert rw.describe_model(tmp_path / "model.rw").chosen == chosen.chosen_


def test_forged_choices_are_refused(chosen):
    header, arrays = chosen.to_state()
    forged: Any
    for forged in ({"n_trees": -1}, {"n_trees": "many"}, {"no_such": 1}, {"max_leaves": [[]]}, [1]):
        with pytest.raises(rw.errors.RankwrightError):
            rw.LambdaMART.from_state(header | {"chosen": forged}, arrays)


def test_the_papers_mode_has_fixed_numbers(data):
    ranker = rw.LambdaMART(mode="paper", n_trees=5).fit(data)
    assert ranker.value_of("max_leaves") == PAPER.max_leaves
    assert ranker.value_of("query_fraction") == 1.0


def test_validation_data_takes_the_place_of_held_out_queries(data):
    train, valid = data.split(valid=0.3, seed=0)
    ranker = rw.LambdaMART(early_stopping=20).fit(train, valid=valid)
    assert ranker.chosen_["n_trees"] == SMALL.most_trees
    assert ranker.history_.stopped_early
    assert ranker.n_trees_ == (ranker.history_.best_step or 0) + 1 < len(ranker.history_.values)


def test_few_queries_get_the_length_of_the_table():
    few = rw.synthetic.web_search(sizing.LEAST_QUERIES - 1, docs_per_query=10, seed=0)
    assert rw.LambdaMART().fit(few).chosen_["n_trees"] == SMALL.n_trees


def test_a_warm_start_keeps_the_trees_there_are(data):
    ranker = rw.LambdaMART(n_trees=200, warm_start=True, max_leaves=3).fit(data)
    before = ranker.predict(data)
    ranker.set_params(n_trees=None).fit(data)
    assert ranker.n_trees_ >= 200
    assert ranker.n_trees_ > 200 or (ranker.predict(data) == before).all()


def test_shapes_are_for_ever_more_documents():
    limits = [most for most, _ in BY_SIZE]
    assert limits == sorted(limits)
    assert limits[-1] == float("inf")


def test_a_killed_search_goes_on(data, chosen, tmp_path, monkeypatch):
    """The search for a length is interrupted once; the next run goes on from its checkpoint to the same model."""
    monkeypatch.setattr("rankwright.training.driver.SECONDS_BETWEEN", 0.0)
    take_step = sizing.FoldedForests.take_step

    def killed(self, step):
        if step == 20:
            raise MemoryError
        return take_step(self, step)

    monkeypatch.setattr(sizing.FoldedForests, "take_step", killed)
    with pytest.raises(MemoryError):
        rw.LambdaMART().fit(data, checkpoint=tmp_path)
    first = []

    def counted(self, step):
        first.append(step)
        return take_step(self, step)

    monkeypatch.setattr(sizing.FoldedForests, "take_step", counted)
    ranker = rw.LambdaMART().fit(data, checkpoint=tmp_path)
    assert first[0] == 20
    np.testing.assert_array_equal(ranker.predict(data), chosen.predict(data))


def test_a_shape_for_each_size_of_data_races_against_symmetric_trees_but_for_the_most():
    raced = {n_docs: [shape.growth for shape in sizing.shapes_to_try(n_docs)] for n_docs in (1000, 200_000, 2_000_000)}
    assert raced == {1000: ["best-first", "symmetric"], 200_000: ["best-first", "symmetric"], 2_000_000: ["best-first"]}
    assert [sizing.is_little(n_docs) for n_docs in raced] == [True, False, False]
