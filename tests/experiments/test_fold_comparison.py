"""Rankers compared over the folds of a LETOR folder."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import MissingExtraError, SettingError
from rankwright.experiments import fold_comparison
from rankwright.experiments.fold_comparison import TRIALS, ComparisonPlan, compare_on_folds
from rankwright.formats.reading import fold_folders, read_fold
from rankwright.tuning.tuner import tune

pytestmark = pytest.mark.usefixtures("experiments_here")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two small folds of the LETOR layout, one with twice as many test queries as the other."""
    top = tmp_path_factory.mktemp("letor")
    for number, n_test in ((1, 4), (2, 8)):
        own = top / f"Fold{number}"
        own.mkdir()
        for part, n_queries in (("train", 8), ("vali", 6), ("test", n_test)):
            rng = np.random.default_rng([number, n_queries])
            features = rng.normal(size=(10 * n_queries, 4))
            labels = np.clip(np.round(features[:, 0] + rng.normal(size=len(features))), 0, 2)
            data = rw.RankingDataset.from_arrays(features, labels, qid=np.repeat(np.arange(n_queries), 10))
            rw.write(data, own / f"{part}.txt")
    return top


@pytest.fixture
def searches(monkeypatch):
    """The searches that were made, in their order."""
    found = []

    def remembering(*arguments, **options):
        found.append(tune(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(fold_comparison, "tune", remembering)
    return found


def test_a_mean_is_that_of_the_folds_of_rankers_chosen_on_vali(folder, searches):
    plan = ComparisonPlan(metrics=("ndcg@5", "map"), select="ndcg@5", trials=3, seed=4)
    told: list[str] = []
    found = compare_on_folds(folder, ["linear-regression", "prank"], plan=plan, workers=1, tell=told.append)
    folds = [read_fold(path) for path in fold_folders(folder)]
    assert len(told) == 4
    own = [tuned for tuned in searches if tuned.ranker.name == "linear-regression"]
    for metric in plan.metrics:
        of_folds = []
        for fold, tuned in zip(folds, own, strict=True):
            assert tuned.plan.metric == "ndcg@5:letor"
            assert len(tuned.trials) == 3
            assert tuned.best.value == max(trial.value for trial in tuned.trials)
            by_hand = rw.LinearRegression(**tuned.settings).fit(fold.train)
            of_folds.append(rw.evaluate(by_hand.predict(fold.test), fold.test, [metric], "letor")[metric].mean)
        assert found.comparison.evaluations["linear-regression"][metric].mean == pytest.approx(np.mean(of_folds))
    chosen = found.to_dict()["chosen"]["linear-regression"]
    assert [chosen[fold.name]["settings"] for fold in folds] == [tuned.settings for tuned in own]


def test_of_all_rankers_those_whose_extra_is_missing_are_left_out(folder, monkeypatch):
    kept = ("linear-regression", "prank")

    def without_extras(ranker, *arguments, **options):
        if ranker.name not in kept:
            raise MissingExtraError(f"ranker {ranker.name}", "torch", "nets")
        return tune(ranker, *arguments, **options)

    monkeypatch.setattr(fold_comparison, "tune", without_extras)
    told: list[str] = []
    found = compare_on_folds(folder, plan=ComparisonPlan(trials=1), workers=1, tell=told.append)
    assert tuple(found.comparison.evaluations) == kept
    assert any(line.startswith("ranknet is left out: ") for line in told)
    with pytest.raises(MissingExtraError, match="ranknet"):
        compare_on_folds(folder, ["prank", "ranknet"], plan=ComparisonPlan(trials=1), workers=1)


def test_a_grid_knows_its_own_number_of_trials():
    assert ComparisonPlan(strategy="grid").search.trials is None
    assert ComparisonPlan(strategy="halving").search.trials == ComparisonPlan().search.trials == TRIALS
    assert ComparisonPlan(trials=3).search.trials == 3
    assert ComparisonPlan(trials=TRIALS).to_dict() == ComparisonPlan().to_dict() != ComparisonPlan(trials=3).to_dict()


@pytest.mark.parametrize("names", [[], ["prank"], ["prank", "prank"]])
def test_one_ranker_alone_is_refused_before_it_is_trained(folder, searches, names):
    with pytest.raises(SettingError, match="two rankers or more"):
        compare_on_folds(folder, names)
    assert not searches


def test_ctrl_c_while_the_chosen_ranker_is_trained_keeps_no_result(folder, monkeypatch, tmp_path):
    whole = rw.LinearRegression.fit

    def interrupted(ranker, *arguments, **options):
        whole(ranker, *arguments, **options)
        ranker.history_.interrupted = True
        return ranker

    arguments: dict[str, Any] = {"plan": ComparisonPlan(trials=1), "results": tmp_path, "workers": 1}
    with monkeypatch.context() as patch:
        patch.setattr(rw.LinearRegression, "fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            compare_on_folds(folder, ["prank", "linear-regression"], **arguments)
    assert [path.name for path in tmp_path.glob("*.json")] == ["Fold1-prank.json"]
    told: list[str] = []
    compare_on_folds(folder, ["prank", "linear-regression"], tell=told.append, **arguments)
    assert len(told) == 3
