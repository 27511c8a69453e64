"""Tuning: every ranker can be, workers do not matter, and the refit is what is told."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.tuning.test_experiment import small

import rankwright as rw
from rankwright.catalog.rankers import RANKERS
from rankwright.cluster.opening import open_engine
from rankwright.errors import RankwrightError, SettingError
from rankwright.settings.spaces import Choice, Real
from rankwright.tuning.strategies import TuningPlan
from rankwright.tuning.studies.store import read_records
from rankwright.tuning.tuner import tune

SPACE = {"max_leaves": Choice((3, 5, 8)), "learning_rate": Choice((0.05, 0.2)), "query_fraction": Choice((0.5, 1.0))}


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_can_be_tuned(name, learnable, here):
    tuned = tune(small(name), learnable, strategy="random", trials=2, folds=2, metric="ndcg@5", engine=here)
    assert here.ran == 2 * 2
    assert len(tuned.trials) == 2
    assert set(tuned.settings) == set(RANKERS[name].space)
    assert tuned.best.value == max(trial.value for trial in tuned.trials)
    assert len(tuned.ranker.predict(learnable)) == learnable.n_docs


@pytest.mark.parametrize("strategy", ["halving", pytest.param("tpe", marks=pytest.mark.slow)])
def test_where_experiments_run_and_how_many_at_a_time_does_not_matter(strategy, learnable, here, tmp_path):
    plan = TuningPlan(strategy=strategy, trials=6, batch_size=4, folds=2, seeds=2, metric="ndcg@5")
    found = []
    with open_engine(workers=2) as processes:
        for name, engine in (("here", here), ("processes", processes)):
            study = tmp_path / name
            tuned = tune(rw.LambdaMART(n_trees=9), learnable, space=SPACE, plan=plan, study=study, engine=engine)
            records = {key: one.lasting() for key, one in sorted(read_records(study).items())}
            found.append((records, tuned.settings, tuned.ranker.forest_))
    assert found[0][:2] == found[1][:2]
    assert found[0][2].equals(found[1][2])


def test_halving_takes_fewer_steps_and_does_no_step_twice(learnable, here, tmp_path):
    ranker = rw.LambdaMART(n_trees=27, min_docs_in_leaf=5)
    options = {"space": SPACE, "folds": 2, "metric": "ndcg@5", "engine": here, "refits": False}
    grid = tune(ranker, learnable, strategy="grid", **options)
    halved = tune(ranker, learnable, strategy="halving", study=tmp_path, **options)
    assert grid.steps_taken == 12 * 2 * 27
    # 12 configurations for 3 trees, 4 for 9, 1 for 27; each on two folds.
    assert halved.steps_taken == 2 * (12 * 3 + 4 * (9 - 3) + 1 * (27 - 9))
    assert sum(record.new_steps for record in read_records(tmp_path).values()) == halved.steps_taken
    by_settings = {str(trial.trial.settings): trial.value for trial in grid.trials}
    assert halved.best.value == by_settings[str(halved.settings)]


def test_searches_of_one_study_share_its_experiments(learnable, here, tmp_path):
    options = {"space": SPACE, "folds": 2, "metric": "ndcg@5", "engine": here, "refits": False, "study": tmp_path}
    tune(rw.LambdaMART(n_trees=3), learnable, strategy="grid", **options)
    assert here.ran == 12 * 2
    tune(rw.LambdaMART(n_trees=3), learnable, strategy="random", trials=5, **options)
    assert here.ran == 12 * 2


def test_the_refit_takes_the_mean_of_the_chosen_steps(learnable, here):
    tuned = tune(
        rw.LambdaMART(n_trees=20, early_stopping=5), learnable, space=SPACE, strategy="grid", folds=3, engine=here
    )
    kept = [record.kept for record in tuned.best.records]
    assert tuned.refit is not None
    assert tuned.refit.steps == tuned.ranker.n_trees_ == math.ceil(np.mean(kept))
    again = rw.LambdaMART(**tuned.settings, n_trees=tuned.refit.steps, select="ndcg@10").fit(learnable)
    assert again.forest_.equals(tuned.ranker.forest_)


def test_given_validation_data_chooses_the_steps_of_the_refit(learnable, here):
    train, valid = learnable.split(valid=0.3)
    tuned = tune(rw.LambdaMART(n_trees=10), train, valid=valid, space=SPACE, strategy="grid", engine=here)
    assert here.ran == 12
    assert tuned.refit is not None
    assert tuned.refit.steps is None
    by_hand = rw.LambdaMART(n_trees=10, **tuned.settings).fit(train, valid=valid)
    assert by_hand.forest_.equals(tuned.ranker.forest_)
    assert by_hand.history_.best_value == pytest.approx(tuned.best.value)


def test_a_metric_where_less_is_better_is_made_small(learnable, here):
    tuned = tune(
        rw.LambdaMART(n_trees=5), learnable, space=SPACE, strategy="grid", metric="pair-error", folds=2, engine=here
    )
    assert tuned.best.value == min(trial.value for trial in tuned.trials)


def test_settings_of_a_bags_ranker_can_be_searched(learnable, here):
    ranker = rw.Bagging(rw.LambdaMART(n_trees=3), n_bags=2)
    tuned = tune(ranker, learnable, space={"ranker__max_leaves": Choice((3, 6))}, strategy="grid", folds=2, engine=here)
    assert tuned.ranker.ranker.max_leaves == tuned.settings["ranker__max_leaves"]


@pytest.mark.parametrize(("options", "message"), [
    ({"space": {"leaves": Choice((3,))}}, "has no setting 'leaves'"),
    ({"strategy": "best"}, "unknown strategy"),
    ({"strategy": "random"}, "how many"),
    ({"strategy": "grid", "space": {"l2": Real(0.0, 1.0)}}, "l2 has a range"),
    ({"strategy": "halving", "space": {"n_trees": Choice((3, 4))}}, "halving sets n_trees itself"),
    ({"space": {}, "trials": 2}, "nothing to search"),
    ({"metric": "ndgc"}, "unknown metric"),
])  # fmt: skip
def test_wrong_searches_are_refused_before_anything_is_trained(options, message, learnable, here):
    with pytest.raises(RankwrightError, match=message):
        tune(rw.LambdaMART(), learnable, engine=here, **({"space": SPACE} | options))
    assert here.ran == 0


def test_halving_of_a_ranker_without_steps_is_refused(learnable, here, monkeypatch):
    monkeypatch.setattr(rw.MART, "budget", None)
    with pytest.raises(SettingError, match="counts its steps"):
        tune(rw.MART(), learnable, space=SPACE, strategy="halving", engine=here)


def test_the_ranker_given_is_left_as_it_was(learnable, here):
    ranker = rw.LambdaMART(n_trees=3)
    tune(ranker, learnable, space=SPACE, strategy="random", trials=1, folds=2, engine=here)
    assert ranker.get_params() == rw.LambdaMART(n_trees=3).get_params()
    assert not hasattr(ranker, "forest_")
