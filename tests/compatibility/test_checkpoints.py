"""Training that earlier code began is taken up where it stood and ends as training in one go does."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest
from tests.compatibility.cases import INTERRUPTED
from tests.compatibility.training import (
    CHECKPOINTS,
    assert_same_model,
    file_of,
    must_be_exact,
    same_sums,
    train,
    with_budget,
)

import rankwright as rw

BAGS = [name for name, interrupted in INTERRUPTED.items() if interrupted.budget == "n_bags"]


@pytest.fixture
def begun(name, tmp_path):
    """A copy of the folder that earlier code left."""
    return shutil.copytree(CHECKPOINTS / name, tmp_path / "checkpoint")


def test_every_checkpoint_has_its_case():
    assert {path.name for path in CHECKPOINTS.iterdir()} == set(INTERRUPTED)


@same_sums
@pytest.mark.parametrize("name", INTERRUPTED)
def test_what_was_begun_ends_as_in_one_go(name, begun, tmp_path):
    interrupted = INTERRUPTED[name]
    case = with_budget(interrupted, interrupted.ended)
    continued = file_of(train(case, checkpoint=begun), tmp_path)
    assert_same_model(continued, file_of(train(case), tmp_path), exact=must_be_exact(case))


@pytest.mark.parametrize("name", [name for name in INTERRUPTED if name not in BAGS])
def test_no_step_is_taken_twice(name, begun):
    interrupted, taken = INTERRUPTED[name], []
    train(
        with_budget(interrupted, interrupted.ended),
        checkpoint=begun,
        listeners=[lambda progress: taken.append(progress.step)],
    )
    assert len(taken) == interrupted.ended - interrupted.begun
    assert min(taken) >= interrupted.begun


@pytest.mark.parametrize("name", BAGS)
def test_no_bag_is_trained_twice(name, begun):
    before = {path: path.stat().st_mtime_ns for path in begun.rglob("*.rw")}
    interrupted = INTERRUPTED[name]
    train(with_budget(interrupted, interrupted.ended), checkpoint=begun)
    assert len(before) == interrupted.begun
    assert len(list(begun.rglob("*.rw"))) == interrupted.ended
    assert before == {path: path.stat().st_mtime_ns for path in before}


@pytest.mark.parametrize("name", INTERRUPTED)
def test_a_checkpoint_of_other_settings_is_refused(name, begun):
    interrupted = INTERRUPTED[name]
    other = with_budget(interrupted, interrupted.ended)
    other = replace(other, settings=dict(other.settings) | {"seed": 4})
    with pytest.raises(rw.RankwrightError, match="checkpoint of another run: seed"):
        train(other, checkpoint=begun)
