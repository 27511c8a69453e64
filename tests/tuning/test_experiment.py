"""Experiments: what training by hand gives, and what goes on from a smaller budget is as if it had never stopped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import rankwright as rw
from rankwright.catalog.rankers import RANKERS
from rankwright.rankers.ranker import Ranker
from rankwright.tuning.experiment import ExperimentTask, prepare, run_experiment, takes_bins
from rankwright.tuning.folds import Part, given_folds, measuring_folds, validation_folds
from rankwright.tuning.trials import Experiment

SMALL: dict[str, Any] = {
    "n_trees": 6,
    "max_leaves": 5,
    "min_docs_in_leaf": 5,
    "epochs": 6,
    "max_iter": 4,
    "n_bags": 3,
    "n_rounds": 6,
    "n_sweeps": 4,
}
METRICS = ("ndcg@5", "map")


def small(name: str, **settings: Any) -> Ranker:
    """A ranker of that name that trains in no time."""
    kind = RANKERS[name]
    known = kind().get_params(deep=False)
    given = {key: value for key, value in SMALL.items() if key in known}
    if name == "bagging":
        given["ranker"] = rw.LambdaMART(n_trees=4, max_leaves=4, min_docs_in_leaf=5)
    if name == "blend":
        given["rankers"] = [small("lambdamart"), small("ranksvm")]
    if name == "sortnet":
        given |= {"epochs": 4, "hidden": 4}
    return kind(**(given | {key: value for key, value in settings.items() if key in known}))


def queries_of(part: Part | None) -> set[int]:
    assert part is not None
    assert part.queries is not None
    return set(part.queries.tolist())


COUNTING = [name for name, kind in RANKERS.items() if kind.budget is not None]


@pytest.mark.parametrize("name", COUNTING)
def test_a_continued_experiment_is_what_it_would_have_been_at_once(name, learnable):
    ranker = small(name, query_fraction=0.5, feature_fraction=0.5, dropout=0.2)
    prepared = prepare(ranker, {}, validation_folds(learnable, 2), METRICS, select="ndcg@5")
    first, whole = (Experiment({}, 1, 3, budget) for budget in (2, 4))
    begun = run_experiment(prepared, ExperimentTask(first, keeps_state=True), None)
    assert begun.state or begun.finished
    continued = run_experiment(prepared, ExperimentTask(whole, begun.state, begun.steps), None)
    at_once = run_experiment(prepared, ExperimentTask(whole), None)
    assert continued.new_steps == at_once.steps - begun.steps
    same: dict[str, Any] = {"memory_mb": 0.0, "state": None, "new_steps": 0}
    assert replace(continued, **same) == replace(at_once, **same)


@pytest.mark.parametrize("name", COUNTING)
def test_steps_that_nobody_watched_are_counted(name, learnable):
    prepared = prepare(small(name), {}, measuring_folds(learnable, 2), METRICS, select=None)
    begun = run_experiment(prepared, ExperimentTask(Experiment({}, 0, 0, 2), keeps_state=True), None)
    assert (begun.steps, bool(begun.state)) == (2 + (name == "sortnet"), not begun.finished)


def test_what_found_nothing_more_to_learn_is_finished_though_nobody_watched(learnable):
    prepared = prepare(small("ranksvm", max_iter=200), {}, measuring_folds(learnable, 2), METRICS, select=None)
    outcome = run_experiment(prepared, ExperimentTask(Experiment({}, 0, 0, 200), keeps_state=True), None)
    assert outcome.finished
    assert outcome.steps == outcome.kept < 200


def test_what_stopped_early_is_finished_and_keeps_no_state(learnable):
    ranker = small("lambdamart", n_trees=200, early_stopping=3, smoothing=0.0)
    prepared = prepare(ranker, {}, validation_folds(learnable, 2), METRICS, select="ndcg@5")
    outcome = run_experiment(prepared, ExperimentTask(Experiment({}, 0, 0), keeps_state=True), None)
    assert outcome.finished
    assert outcome.steps == outcome.kept + 3 < 200
    assert outcome.state is None


@pytest.mark.parametrize("name", ["lambdamart", "mart", "bl-mart", "ranknet"])
@pytest.mark.parametrize("with_bins", [True, False])
def test_an_experiment_is_fitting_the_fold_by_hand(name, with_bins, learnable):
    ranker = small(name, select="map")
    space = {} if with_bins else {"max_bins": rw.LambdaMART.space["max_leaves"]}
    folds = validation_folds(learnable, 3)
    prepared = prepare(ranker, space, folds, METRICS, select="ndcg@5")
    assert (prepared.binned is not None) == takes_bins(ranker, space)
    outcome = run_experiment(prepared, ExperimentTask(Experiment({}, 2, 7)), None)
    fold = folds.fold(2)
    by_hand = small(name, select="ndcg@5", seed=7).fit(fold.train, valid=fold.watched)
    evaluation = rw.evaluate(by_hand.predict(fold.measured), fold.measured, METRICS)
    assert outcome.value == pytest.approx(evaluation["ndcg@5"].mean)
    assert outcome.per_query["map"] == pytest.approx(evaluation["map"].values.tolist())
    assert outcome.steps == len(by_hand.history_.values)


def test_folds_validate_every_query_once_and_never_train_on_it(learnable):
    folds = validation_folds(learnable, 4)
    measured = [query for number in range(4) for query in folds.measured_ids(number)]
    assert sorted(measured) == list(range(learnable.n_queries))
    for plan in folds.plans:
        assert plan.watched is plan.measured
        assert not queries_of(plan.train) & queries_of(plan.measured)


def test_queries_held_back_to_choose_steps_are_neither_trained_on_nor_measured(learnable):
    for plan in measuring_folds(learnable, 4, valid=0.25).plans:
        parts = [queries_of(part) for part in (plan.train, plan.watched, plan.measured)]
        assert sum(map(len, parts)) == len(set.union(*parts)) == learnable.n_queries


def test_other_folds_have_another_fingerprint(learnable):
    digests = {
        validation_folds(learnable, 3).digest(),
        validation_folds(learnable, 4).digest(),
        validation_folds(learnable, 3, seed=1).digest(),
        given_folds([(learnable, learnable, learnable)]).digest(),
    }
    assert len(digests) == 4
    assert validation_folds(learnable, 3).digest() in digests
