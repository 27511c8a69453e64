"""A study that an earlier version wrote: its records count, its states are continued, and it can be reported on.

`old_study` was written by the version before the rooms were moved; it is kept as it is.
"""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest

import rankwright as rw
from rankwright.training.spaces import Choice
from rankwright.tuning.plan import TuningPlan
from rankwright.tuning.studies.store import read_records
from rankwright.tuning.studies.summary import summarise
from rankwright.tuning.tuner import tune

SPACE = {"max_leaves": Choice((2, 3, 5))}
PLAN = TuningPlan(strategy="halving", folds=2, metric="ndcg@5")


@pytest.fixture
def study(tmp_path):
    return Path(shutil.copytree(Path(__file__).parent / "old_study", tmp_path / "study"))


def search(data, study, engine, plan=PLAN):
    return tune(rw.LambdaMART(n_trees=6, min_docs_in_leaf=5), data, space=SPACE, plan=plan, study=study, engine=engine)


def test_its_records_count_and_other_code_is_told_of(learnable, here, study, caplog):
    with caplog.at_level(logging.WARNING, "rankwright"):
        found = search(learnable, study, here)
    assert here.ran == 0
    assert caplog.messages == ["8 records of this study were made by another version of the code"]
    assert found.settings == {"max_leaves": 5}


def test_the_same_search_finds_the_same_today(learnable, here, study, tmp_path):
    search(learnable, tmp_path / "new", here)
    assert here.ran == 8
    today, before = (
        {key: {**record.lasting(), "code": ""} for key, record in read_records(folder).items()}
        for folder in (tmp_path / "new", study)
    )
    assert today == before
    for name in ("study.json", "refit.json", "searches/halving.json"):
        assert (tmp_path / "new" / name).read_text() == (study / name).read_text()


def test_a_larger_budget_goes_on_from_its_states(learnable, here, study):
    found = search(learnable, study, here, TuningPlan(strategy="halving", folds=2, metric="ndcg@5", min_budget=3))
    continued = [
        record.new_steps
        for trial in found.trials
        for record in trial.records
        if (record.settings["max_leaves"], record.budget) == (2, 3)
    ]
    assert continued == [1, 1]  # two steps were taken before


def test_it_can_be_reported_on(study):
    summary = summarise(study)
    assert (summary.ranker, summary.metric, summary.n_experiments) == ("lambdamart", "ndcg@5", 8)
    assert summary.best[0].trial.settings == {"max_leaves": 5}
    assert summary.refit is not None
