"""Laws of every registered ranker."""

from __future__ import annotations

import pickle
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import rankwright as rw
from rankwright.bagging.bagged_forest import BaggedForest
from rankwright.bagging.bagging import Bagging
from rankwright.catalog.rankers import RANKERS, load, ranker_named
from rankwright.data.dataset import RankingDataset
from rankwright.errors import ContainerError, InputError, UnknownNameError
from rankwright.trees.forest_ranker import ForestRanker

TREES = {"n_trees": 8, "max_leaves": 6, "min_docs_in_leaf": 5}
NET = {"epochs": 8, "hidden": (8,), "learning_rate": 0.02}
SORTNET = {"max_iter": 3, "epochs": 8, "hidden": 6, "learning_rate": 0.02}
BAGS = {"n_bags": 5, "threads": 1}  # one thread: bags are finished one after another
ROUNDS = [name for name, kind in RANKERS.items() if "n_rounds" in signature(kind.__init__).parameters]
SMALL: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("lambdamart", "mart"), TREES),
    **dict.fromkeys(("bl-mart", "bagboo"), TREES | BAGS),
    "bagging": BAGS | {"ranker": rw.LambdaMART(n_trees=8, max_leaves=6, min_docs_in_leaf=5)},
    **dict.fromkeys(("ranknet", "lambdarank", "net"), NET),
    "sortnet": SORTNET,
    **{key: {"epochs": 8} for key in ("prank", "crr")},
    "kernel-prank": {"epochs": 8, "max_support": 50},
    "oap-bpm": {"epochs": 8, "n_perceptrons": 5},
    "rankprop": NET | {"hidden": ()},
    "listnet": {"epochs": 8},
    **{key: {"max_iter": 8} for key in ("ranksvm", "smoothrank")},
    **{key: {"max_iter": 30} for key in ("ranksvm-struct", "svmmap")},
    "linear-regression": {},
    **{name: {"n_rounds": 8} for name in ROUNDS},
    "coordinate-ascent": {"n_sweeps": 4, "tolerance": 0.0},
    "boltzrank": {"epochs": 8, "learning_rate": 0.1},
}
FORESTS = [name for name, kind in RANKERS.items() if issubclass(kind, ForestRanker)]
BAGGED = [name for name, kind in RANKERS.items() if issubclass(kind, BaggedForest | Bagging)]
COUNTING = [name for name, kind in RANKERS.items() if kind.budget is not None]
# A way to have chance take part in a ranker's steps.
CHANCE: dict[str, dict[str, Any]] = {name: {"dropout": 0.3} for name in RANKERS}
CHANCE |= {name: {"query_fraction": 0.5, "feature_fraction": 0.5} for name in FORESTS}
CHANCE |= {"sortnet": {}, "bagging": {}, "coordinate-ascent": {}, "boltzrank": {}} | {name: {} for name in ROUNDS}
CHANCE |= {key: {} for key in ("prank", "kernel-prank", "oap-bpm", "crr", "linear-regression")}
CHANCE |= {key: {} for key in ("ranksvm-struct", "svmmap", "smoothrank")}
CHANCE |= {"ranksvm": {"kernel": "rbf", "landmarks": 10}, "listnet": {"hidden": (8,)}}
# Rankers whose training draws nothing.
SETTLED = ("linear-regression", "ranksvm-struct", "svmmap", "smoothrank", "adarank", "rankboost", "frank")
# A setting that makes another run of it.
OTHER: dict[str, dict[str, Any]] = {name: {"learning_rate": 0.5} for name in RANKERS}
OTHER["bagging"] = {"bag_fraction": 0.5}
OTHER |= {key: {"C": 0.5} for key in ("ranksvm", "ranksvm-struct", "svmmap")}
OTHER |= {key: {"l2": 0.5} for key in ("crr", "linear-regression", "smoothrank")}
OTHER |= {"prank": {"scaling": "zscore"}, "kernel-prank": {"gamma": 0.5}, "oap-bpm": {"tau": 0.5}}
OTHER |= {"adarank": {"max_uses": 2}, "rankboost": {"max_bins": 5}, "coordinate-ascent": {"slack": 0.1}}
# Bags find validation data themselves, out of the bag, and keep every step.
STOPS_EARLY = [
    name
    for name, kind in RANKERS.items()
    if "early_stopping" in signature(kind.__init__).parameters and name not in BAGGED
]


@pytest.fixture(scope="module")
def learnable() -> RankingDataset:
    """Sixty queries whose labels follow the first two features, with some values missing."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(5, 25, size=60)
    features = rng.normal(size=(int(sizes.sum()), 4)).astype(np.float32)
    worth = features[:, 0] + np.abs(features[:, 1]) + 0.3 * rng.normal(size=len(features))
    features[rng.random(len(features)) < 0.1, 3] = np.nan
    return RankingDataset.from_arrays(features, np.clip(np.round(worth), 0, 4), qid=np.repeat(np.arange(60), sizes))


def small(name, **changes):
    return ranker_named(name)(**(SMALL[name] | changes))


def after(name, n_steps, **changes):
    """A small ranker that takes so many steps."""
    budget = RANKERS[name].budget
    return small(name, **(({} if budget is None else {budget: n_steps}) | changes))


def same_files(one, other, folder):
    one.save(folder / "one.rw")
    other.save(folder / "other.rw")
    return (folder / "one.rw").read_bytes() == (folder / "other.rw").read_bytes()


def scores_of(name, data, **changes):
    return small(name, **changes).fit(data).predict(data)


def test_an_unknown_ranker_lists_the_known():
    with pytest.raises(UnknownNameError, match="did you mean 'lambdamart'"):
        ranker_named("lambdamrt")


@pytest.mark.parametrize("name", RANKERS)
class TestEveryRanker:
    def test_it_learns(self, name, learnable):
        train, test = learnable.split(valid=0.3, seed=0)
        scores = small(name).fit(train).predict(test)
        chance = rw.evaluate(np.zeros(test.n_docs), test, ["ndcg@5"])["ndcg@5"].mean
        assert rw.evaluate(scores, test, ["ndcg@5"])["ndcg@5"].mean > chance + 0.1

    def test_save_and_load_give_the_same_scores_and_the_same_file(self, name, learnable, tmp_path):
        ranker = small(name).fit(learnable)
        ranker.save(tmp_path / "model.rw")
        loaded = load(tmp_path / "model.rw")
        assert np.array_equal(loaded.predict(learnable), ranker.predict(learnable))
        loaded.save(tmp_path / "again.rw")
        assert (tmp_path / "again.rw").read_bytes() == (tmp_path / "model.rw").read_bytes()

    def test_the_model_file_tells_the_training_data_by_a_fingerprint(self, name, learnable, tmp_path):
        digests = []
        for data in (learnable, learnable, learnable.take_queries(np.arange(1, learnable.n_queries))):
            small(name).fit(data).save(tmp_path / "model.rw")
            digests.append(rw.describe_model(tmp_path / "model.rw").training_data)
        assert digests[0] == digests[1] != digests[2]
        assert all(digests)

    def test_threads_change_no_bit_of_the_model_file(self, name, learnable, tmp_path):
        files = []
        for threads in (1, 2, 7):
            small(name, threads=threads).fit(learnable).save(tmp_path / "model.rw")
            files.append((tmp_path / "model.rw").read_bytes())
        assert files[0] == files[1] == files[2]

    def test_clone_and_fit_give_the_same_model(self, name, learnable):
        ranker = small(name).fit(learnable)
        assert np.array_equal(clone(ranker).fit(learnable).predict(learnable), ranker.predict(learnable))

    def test_a_seed_is_all_the_chance_there_is(self, name, learnable):
        first, again = (scores_of(name, learnable, seed=3, **CHANCE[name]) for _ in range(2))
        other = scores_of(name, learnable, seed=4, **CHANCE[name])
        assert np.array_equal(first, again)
        assert np.array_equal(first, other) == (name in SETTLED)

    def test_rows_come_back_in_the_callers_order(self, name, learnable):
        order = np.random.default_rng(0).permutation(learnable.n_docs)
        X, y, qid = learnable.features, learnable.labels, learnable.qid
        ranker = small(name).fit(X, y, qid=qid)
        assert np.array_equal(ranker.predict(X[order], qid=qid[order]), ranker.predict(X, qid=qid)[order])

    def test_rank_is_the_order_of_the_scores(self, name, learnable):
        ranker = small(name).fit(learnable)
        rows = ranker.rank(learnable).rows
        scores = ranker.predict(learnable)
        for docs in learnable.groups.slices():
            assert (np.diff(scores[rows[docs]]) <= 0).all()

    def test_validation_keeps_the_best_step(self, name, learnable):
        train, valid = learnable.split(valid=0.3, seed=0)
        patience = {"early_stopping": 5} if name in STOPS_EARLY else {}
        ranker = after(name, 40 if patience else 4, **patience).fit(train, valid=valid)
        best = ranker.history_.best_step
        assert ranker.n_steps_ == best + 1
        assert ranker.score(valid) == pytest.approx(ranker.history_.values[best], abs=1e-12)

    def test_a_checkpoint_is_taken_up(self, name, learnable, tmp_path):
        whole = after(name, 9, **CHANCE[name]).fit(learnable)
        after(name, 4, **CHANCE[name]).fit(learnable, checkpoint=tmp_path)
        resumed = after(name, 9, **CHANCE[name]).fit(learnable, checkpoint=tmp_path)
        assert same_files(resumed, whole, tmp_path)

    def test_the_checkpoint_of_another_run_is_refused(self, name, learnable, tmp_path):
        after(name, 2).fit(learnable, checkpoint=tmp_path)
        (setting,) = OTHER[name]
        with pytest.raises(InputError, match=f"checkpoint of another run: {setting} differ"):
            after(name, 2, **OTHER[name]).fit(learnable, checkpoint=tmp_path)

    def test_an_interrupt_keeps_what_was_trained(self, name, learnable):
        def stop_after_three(progress):
            if progress.step == 2:
                raise KeyboardInterrupt

        ranker = small(name).fit(learnable, listeners=[stop_after_three])
        if name not in COUNTING:
            return  # there was no third step
        assert ranker.history_.interrupted
        best = ranker.history_.best_step  # None where nothing was watched
        assert ranker.n_steps_ == (3 if best is None else best + 1)

    def test_it_can_be_pickled_in_memory(self, name, learnable):
        ranker = small(name).fit(learnable)
        assert np.array_equal(pickle.loads(pickle.dumps(ranker)).predict(learnable), ranker.predict(learnable))

    def test_an_unfitted_ranker_says_so(self, name, learnable):
        with pytest.raises(NotFittedError):
            small(name).predict(learnable)

    def test_other_features_than_in_training_are_refused(self, name, learnable):
        ranker = small(name).fit(learnable)
        with pytest.raises(ValueError, match="features"):
            ranker.predict(learnable.features[:, :2], qid=learnable.qid)

    def test_one_query_and_one_document(self, name):
        one = RankingDataset.from_arrays([[1.0]], [1.0], qid=[7])
        assert small(name).fit(one).predict(one).shape == (1,)

    def test_unjudged_documents_take_part_only_where_asked(self, name, learnable):
        labels = learnable.labels.copy()
        labels[np.random.default_rng(0).random(len(labels)) < 0.5] = np.nan
        data = replace(learnable, labels=labels)
        as_irrelevant = replace(learnable, labels=np.nan_to_num(labels))
        none, some, all_of_them = (scores_of(name, data, unjudged=share) for share in (None, 0.2, 1.0))
        assert np.array_equal(all_of_them, scores_of(name, as_irrelevant))
        assert not np.array_equal(some, none)
        assert not np.array_equal(some, all_of_them)


@pytest.mark.parametrize("name", COUNTING)
def test_steps_that_were_watched_are_taken_up_and_chosen_among(name, learnable, tmp_path):
    train, valid = learnable.split(valid=0.3, seed=0)
    whole = after(name, 9, **CHANCE[name]).fit(train, valid=valid)
    for budget in (2, 5, 9):
        grown = after(name, budget, **CHANCE[name]).fit(train, valid=valid, checkpoint=tmp_path)
    assert same_files(grown, whole, tmp_path)


def test_the_rankers_of_one_step_count_none():
    assert set(RANKERS) - set(COUNTING) == {"linear-regression"}


@pytest.mark.parametrize("name", STOPS_EARLY)
def test_early_stopping_needs_validation_data(name, learnable):
    with pytest.raises(ValueError, match="early_stopping needs validation data"):
        small(name, early_stopping=5).fit(learnable)


@pytest.mark.parametrize("name", [name for name in FORESTS if name not in BAGGED])
class TestEveryForestThatCanGrow:
    def test_more_trees_on_a_saved_model_are_one_run(self, name, learnable, tmp_path):
        whole = small(name, n_trees=12, query_fraction=0.7).fit(learnable)
        small(name, n_trees=5, query_fraction=0.7).fit(learnable).save(tmp_path / "model.rw")
        loaded = load(tmp_path / "model.rw").set_params(n_trees=12, warm_start=True)
        assert loaded.fit(learnable).forest_.equals(whole.forest_)


@pytest.mark.parametrize("name", FORESTS)
class TestEveryForest:
    def test_stages_end_in_the_prediction(self, name, learnable):
        ranker = small(name).fit(learnable)
        stages = list(ranker.staged_predict(learnable))
        assert len(stages) == ranker.n_trees_
        assert np.array_equal(stages[-1], ranker.predict(learnable))

    def test_importances_name_the_features_that_matter(self, name, learnable):
        shares = small(name).fit(learnable).feature_importances_
        assert shares.sum() == pytest.approx(1.0)
        assert shares[:2].sum() > 0.8


@pytest.mark.parametrize("name", FORESTS)
def test_monotone_features_stay_so_in_a_saved_model(name, learnable, tmp_path):
    ranker = small(name, monotone={1: -1, "1": 1}).fit(learnable)  # the second is named "2", the first "1"
    ranker.save(tmp_path / "model.rw")
    loaded = load(tmp_path / "model.rw")
    assert dict(loaded.monotone) == {1: -1, "1": 1}
    probe = np.zeros((50, 4), np.float32)
    for feature, direction in ((0, 1), (1, -1)):
        rising = probe.copy()
        rising[:, feature] = np.linspace(-3, 3, 50)
        assert (direction * np.diff(loaded.predict(rising)) >= 0).all()


def test_a_file_that_is_no_model_is_refused(tmp_path):
    (tmp_path / "model.rw").write_bytes(b"not a model")
    with pytest.raises(ContainerError):
        load(tmp_path / "model.rw")
