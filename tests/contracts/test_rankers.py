"""Laws of every registered ranker."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.contracts.trained import COUNTING, after, another_setting, chance, scores, small, trained
from tests.contracts.trained import learnable as learnable_data

import rankwright as rw
from rankwright.bagging.settings import BagSettings
from rankwright.catalog.rankers import RANKERS, load, load_trained, ranker_named
from rankwright.data.dataset import RankingDataset
from rankwright.errors import ContainerError, InputError, UnknownNameError
from rankwright.mart.forest_ranker import ForestRanker
from rankwright.settings.shared import DebiasedSettings

FORESTS = [name for name, kind in RANKERS.items() if issubclass(kind, ForestRanker)]
BAGGED = [name for name, kind in RANKERS.items() if issubclass(kind, BagSettings)]
# Bags find validation data themselves, out of the bag, and keep every step.
STOPS_EARLY = [name for name, kind in RANKERS.items() if "early_stopping" in kind.settings() and name not in BAGGED]


@pytest.fixture(scope="module")
def learnable() -> RankingDataset:
    return learnable_data()


def file_of(ranker, folder):
    ranker.save(folder / "model.rw")
    return (folder / "model.rw").read_bytes()


def same_files(one, other, folder):
    return file_of(one, folder) == file_of(other, folder)


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

    def test_clicks_are_weighed_by_inverse_propensity_or_refused(self, name, learnable):
        clicked = replace(learnable, labels=(learnable.labels > 1).astype(np.float32))
        propensities = np.where(np.arange(clicked.n_docs) % 3, 0.2, 0.9).astype(np.float32)
        weights = rw.clicks.propensity_weights(clicked.labels, propensities).weights
        if not (RANKERS[name].takes_document_weights and RANKERS[name].takes_propensities):
            with pytest.raises(InputError, match="measures whole lists, in which"):
                small(name).fit(replace(clicked, propensities=propensities))
            return
        unchecked = {"debias": "none"} if issubclass(RANKERS[name], DebiasedSettings) else {}
        found = small(name).set_params(**unchecked).fit(replace(clicked, propensities=propensities))
        # Weights alone do not tell LambdaMART that labels are clicks, for which it has other forces.
        of_clicks = {"objective": "lambdarank"} if name in ("lambdamart", "bl-mart") else {}
        weighed = scores_of(name, replace(clicked, document_weights=weights), **of_clicks)
        assert np.array_equal(found.predict(clicked), weighed)
        assert not np.array_equal(found.predict(clicked), scores_of(name, clicked, **of_clicks))
        found_weights = found.propensity_weights_
        assert found_weights is not None
        assert 0 < found_weights.effective_size < found_weights.n_clicks

    def test_save_and_load_give_the_same_scores_and_the_same_file(self, name, learnable, tmp_path):
        written = file_of(trained(name), tmp_path)
        loaded = load(tmp_path / "model.rw")
        assert np.array_equal(loaded.predict(learnable), scores(name))
        assert np.array_equal(load_trained(tmp_path / "model.rw").predict(learnable), scores(name))
        assert file_of(loaded, tmp_path) == written

    def test_the_model_file_tells_the_training_data_by_a_fingerprint(self, name, learnable, tmp_path):
        trained(name).save(tmp_path / "one.rw")
        small(name).fit(learnable.take_queries(np.arange(1, learnable.n_queries))).save(tmp_path / "other.rw")
        digests = [rw.describe_model(tmp_path / file).training_data for file in ("one.rw", "other.rw")]
        assert all(digests)
        assert digests[0] != digests[1]

    def test_threads_change_no_bit_of_the_model_file(self, name, learnable, tmp_path):
        for threads in (2, 7):
            assert same_files(small(name, threads=threads).fit(learnable), trained(name), tmp_path)

    def test_clone_and_fit_give_the_same_model(self, name, learnable, tmp_path):
        assert same_files(clone(trained(name)).fit(learnable), trained(name), tmp_path)

    def test_a_seed_is_all_the_chance_there_is(self, name, learnable):
        # That the same seed gives the same model, a checkpoint that is taken up shows with the same settings.
        one, other = (scores_of(name, learnable, seed=seed, **chance(name)) for seed in (3, 4))
        assert np.array_equal(one, other) == (RANKERS[name].chance is None)

    def test_rows_come_back_in_the_callers_order(self, name, learnable):
        order = np.random.default_rng(0).permutation(learnable.n_docs)
        X, qid = learnable.features, learnable.qid
        assert np.array_equal(trained(name).predict(X[order], qid=qid[order]), scores(name)[order])

    def test_rank_is_the_order_of_the_scores(self, name, learnable):
        rows = trained(name).rank(learnable).rows
        for docs in learnable.groups.slices():
            assert (np.diff(scores(name)[rows[docs]]) <= 0).all()

    def test_validation_keeps_the_best_step(self, name, learnable):
        train, valid = learnable.split(valid=0.3, seed=0)
        patience = {"early_stopping": 5} if name in STOPS_EARLY else {}
        ranker = after(name, 40 if patience else 4, **patience).fit(train, valid=valid)
        best = ranker.history_.best_step
        assert best is not None
        assert ranker.n_steps_ == best + 1
        assert ranker.score(valid) == pytest.approx(ranker.history_.values[best], abs=1e-12)

    def test_a_checkpoint_is_taken_up(self, name, learnable, tmp_path):
        whole = after(name, 9, **chance(name)).fit(learnable)
        after(name, 4, **chance(name)).fit(learnable, checkpoint=tmp_path)
        resumed = after(name, 9, **chance(name)).fit(learnable, checkpoint=tmp_path)
        assert same_files(resumed, whole, tmp_path)

    def test_the_checkpoint_of_another_run_is_refused(self, name, learnable, tmp_path):
        after(name, 2).fit(learnable, checkpoint=tmp_path)
        other = another_setting(name)
        with pytest.raises(InputError, match=f"checkpoint of another run: {next(iter(other))}.* differ"):
            after(name, 2, **other).fit(learnable, checkpoint=tmp_path)

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
        assert np.array_equal(pickle.loads(pickle.dumps(trained(name))).predict(learnable), scores(name))

    def test_an_unfitted_ranker_says_so(self, name, learnable):
        with pytest.raises(NotFittedError):
            small(name).predict(learnable)

    def test_other_features_than_in_training_are_refused(self, name, learnable):
        with pytest.raises(ValueError, match="features"):
            trained(name).predict(learnable.features[:, :2], qid=learnable.qid)

    def test_one_query_and_one_document(self, name):
        one = RankingDataset.from_arrays([[1.0]], [1.0], qid=[7])
        assert small(name).fit(one, allow_empty=True).predict(one).shape == (1,)

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
    whole = after(name, 9, **chance(name)).fit(train, valid=valid)
    for budget in (2, 5, 9):
        grown = after(name, budget, **chance(name)).fit(train, valid=valid, checkpoint=tmp_path)
    assert same_files(grown, whole, tmp_path)


def test_the_rankers_of_one_step_count_none():
    assert set(RANKERS) - set(COUNTING) == {"linear-regression", "blend"}


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
        stages = list(trained(name).staged_predict(learnable))
        assert len(stages) == trained(name).n_trees_
        assert np.array_equal(stages[-1], scores(name))

    def test_importances_name_the_features_that_matter(self, name):
        shares = trained(name).feature_importances_
        assert shares.sum() == pytest.approx(1.0)
        assert shares[:2].sum() > 0.8


@pytest.mark.parametrize("name", FORESTS)
def test_monotone_features_stay_so_in_a_saved_model(name, learnable, tmp_path):
    ranker = small(name, monotone={2: -1, "1": 1}).fit(learnable)
    ranker.save(tmp_path / "model.rw")
    loaded = load(tmp_path / "model.rw")
    assert dict(loaded.monotone) == {"2": -1, "1": 1}
    probe = np.zeros((50, 4), np.float32)
    for feature, direction in ((0, 1), (1, -1)):
        rising = probe.copy()
        rising[:, feature] = np.linspace(-3, 3, 50)
        assert (direction * np.diff(loaded.predict(rising)) >= 0).all()


def test_a_file_that_is_no_model_is_refused(tmp_path):
    (tmp_path / "model.rw").write_bytes(b"not a model")
    with pytest.raises(ContainerError):
        load(tmp_path / "model.rw")
