"""Studies of earlier code are reported as they were, and their records count, with a word on who made them."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.compatibility.training import same_sums
from tests.compatibility.tuning import (
    ENDED,
    FINISHED,
    FOUND,
    N_BEFORE_THE_END,
    N_EXPERIMENTS,
    change_records,
    halving_search,
    random_search,
    records_of,
    without_places,
)

NOTICE = "records of this study were made by another version of the code"


@pytest.fixture
def study(request, tmp_path):
    """A copy of a recorded study whose records were surely made by other code."""
    copy = shutil.copytree(request.param, tmp_path / "study")
    change_records(copy, code="other")
    return copy


finished = pytest.mark.parametrize("study", [FINISHED], indirect=True)
ended = pytest.mark.parametrize("study", [ENDED], indirect=True)


def found_before(name):
    return json.loads(FOUND[name].read_text(encoding="utf-8"))


def printed(outcome):
    assert outcome.code == 0, outcome.stderr
    return without_places(json.loads(outcome.stdout))


@finished
def test_the_report_of_a_study_is_as_it_was(study, rankwright, caplog):
    assert printed(rankwright("tune", "--show", str(study), "--json")) == found_before("random.report")
    assert NOTICE not in caplog.text  # a report trains nothing: who made the records is not looked at


@finished
def test_records_of_other_code_count_with_a_notice(study, rankwright, tmp_path):
    before = records_of(study)
    outcome = rankwright(*random_search(study, tmp_path / "model.rw"))
    assert printed(outcome) == found_before("random.tune")
    assert records_of(study) == before
    assert outcome.stderr.count(NOTICE) == 1
    assert f"{N_EXPERIMENTS} {NOTICE}" in " ".join(outcome.stderr.split())


@finished
def test_a_search_of_other_data_is_refused(study, rankwright, tmp_path):
    command = random_search(study, tmp_path / "model.rw")
    other = [argument.replace("train.txt", "valid.txt") for argument in command]
    outcome = rankwright(*other)
    assert outcome.code == 2
    assert "holds another study: its data differ" in outcome.stderr


@same_sums
def test_a_search_made_anew_finds_the_same(rankwright, tmp_path):
    outcome = rankwright(*random_search(tmp_path / "study", tmp_path / "model.rw"))
    assert printed(outcome) == found_before("random.tune")
    how = ("code", "seconds", "memory_mb", "host")
    found, recorded = (
        [{name: value for name, value in record.items() if name not in how} for record in records_of(folder)]
        for folder in (tmp_path / "study", FINISHED)
    )
    assert found == recorded


@same_sums
@ended
def test_trials_that_other_code_began_are_continued(study, caplog):
    assert len(records_of(study)) == N_BEFORE_THE_END
    found = halving_search(study)
    assert f"{N_BEFORE_THE_END} {NOTICE}" in caplog.text
    (new,) = [record for record in records_of(study) if record["code"] != "other"]
    assert (new["steps"], new["new_steps"]) == (4, 2)
    assert found == found_before("halving.tune")
