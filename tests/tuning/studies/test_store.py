"""The store of a study: nothing but what was under way is lost, and nothing is done twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rankwright as rw
from rankwright.container.file import write_container
from rankwright.errors import InputError
from rankwright.settings.spaces import Choice
from rankwright.tuning.strategies import TuningPlan
from rankwright.tuning.studies.store import STATE_KIND, Store, read_records
from rankwright.tuning.trials import Experiment, Record
from rankwright.tuning.tuner import tune

SPACE = {"max_leaves": Choice((3, 5, 8)), "learning_rate": Choice((0.05, 0.2))}
PLAN = TuningPlan(strategy="halving", folds=2, metric="ndcg@5")
IDENTITY = {"ranker": "lambdamart", "data": "abc"}

# A search that another process makes, slowed down so that it can be caught in the middle.
SEARCH = """
import sys, time
import rankwright as rw
from rankwright.tuning.tuner import tune
from tests.here_engine import HereEngine
from tests.tuning.studies.test_store import PLAN, SPACE

def slowly(progress):
    print(progress.done, flush=True)
    time.sleep(float(sys.argv[3]))

if __name__ == "__main__":
    tune(rw.LambdaMART(n_trees=9), rw.read(sys.argv[1]), space=SPACE, plan=PLAN, study=sys.argv[2],
         refits=False, engine=HereEngine(), listeners=[slowly])
"""


def record(fold: int = 0, budget: int | None = None, **changes: object) -> Record:
    made = Record({"a": 1}, fold, 0, budget, 0.5, {"m": [0.5, None]}, 3, 3, 2, 7, False, "", "", 1.5, 2.5, "host")
    return replace(made, **changes)  # type: ignore[arg-type]


def started(data: Path, study: Path, pause: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SEARCH, str(data), str(study), str(pause)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3])


def lasting(study: Path) -> dict[str, dict[str, object]]:
    return {key: one.lasting() for key, one in read_records(study).items()}


@pytest.fixture
def data(learnable, tmp_path):
    path = tmp_path / "train.txt"
    rw.write(learnable, str(path))
    return path


def test_records_are_found_again(tmp_path):
    first = Store(tmp_path, IDENTITY)
    first.add(record(), None)
    first.add(record(fold=1), None)
    first.close()
    again = Store(tmp_path, IDENTITY)
    assert again.find(Experiment({"a": 1}, 1, 0)) == record(fold=1)
    assert again.find(Experiment({"a": 2}, 1, 0)) is None
    assert len(again.all_records()) == 2


def test_half_a_line_is_no_record_and_harms_none(tmp_path):
    store = Store(tmp_path, IDENTITY)
    store.add(record(), None)
    store.close()
    (path,) = (tmp_path / "records").glob("*.jsonl")
    whole = path.read_bytes()
    for cut in range(len(whole), 2 * len(whole) - 1, 37):
        path.write_bytes((whole + whole)[:cut])
        assert len(Store(tmp_path, IDENTITY).all_records()) == 1
        assert len(read_records(tmp_path)) == 1


def test_what_others_add_is_taken_in(tmp_path):
    mine, theirs = Store(tmp_path, IDENTITY), Store(tmp_path, IDENTITY)
    theirs.add(record(), None)
    assert mine.find(record().experiment) is None
    mine.refresh()
    assert mine.find(record().experiment) == record()


def test_another_study_in_the_folder_is_refused(tmp_path):
    Store(tmp_path, IDENTITY).close()
    with pytest.raises(InputError, match="its data differ"):
        Store(tmp_path, IDENTITY | {"data": "other"})
    (tmp_path / "study.json").write_text("{")
    with pytest.raises(InputError, match="damaged"):
        Store(tmp_path, IDENTITY)


def test_a_state_is_continued_by_a_larger_budget_alone(tmp_path):
    store = Store(tmp_path, IDENTITY)
    store.add(record(budget=3), {"checkpoint.rw": b"state", "bag-0000/checkpoint.rw": b"more"})
    for budget, wanted in ((3, (None, 0)), (2, (None, 0)), (None, (None, 0))):
        assert store.earlier(Experiment({"a": 1}, 0, 0, budget)) == wanted
    state, steps = store.earlier(Experiment({"a": 1}, 0, 0, 9))
    assert state == {"checkpoint.rw": b"state", "bag-0000/checkpoint.rw": b"more"}
    assert steps == 3
    assert store.earlier(Experiment({"a": 1}, 1, 0, 9)) == (None, 0)


def test_a_finished_trial_serves_for_larger_budgets(tmp_path):
    store = Store(tmp_path, IDENTITY)
    store.add(record(budget=3, finished=True), None)
    assert store.find(Experiment({"a": 1}, 0, 0, 9)) == record(budget=3, finished=True)
    assert store.find(Experiment({"a": 1}, 0, 0, None)) is not None
    assert store.find(Experiment({"a": 1}, 0, 0, 2)) is None


def test_other_data_or_another_space_in_a_studys_folder_is_refused(learnable, here, tmp_path):
    tune(rw.LambdaMART(n_trees=3), learnable, space=SPACE, plan=PLAN, study=tmp_path, engine=here, refits=False)
    ran = here.ran
    other, narrower = learnable.split(valid=0.5)[0], SPACE | {"max_leaves": Choice((3, 5))}
    with pytest.raises(InputError, match="its data differ"):
        tune(rw.LambdaMART(n_trees=3), other, space=SPACE, plan=PLAN, study=tmp_path, engine=here)
    with pytest.raises(InputError, match="its space differ"):
        tune(rw.LambdaMART(n_trees=3), learnable, space=narrower, plan=PLAN, study=tmp_path, engine=here)
    assert here.ran == ran


def test_a_killed_search_goes_on_and_finds_what_it_would_have_found(data, here, tmp_path):
    killed = started(data, tmp_path / "killed", pause=0.1)
    assert killed.stdout is not None
    while int(killed.stdout.readline()) < 5:
        pass
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    killed.stdout.close()
    kept = lasting(tmp_path / "killed")
    assert 5 <= len(kept) < 18
    train = rw.read(str(data))
    options = {"space": SPACE, "plan": PLAN, "engine": here}
    again = tune(rw.LambdaMART(n_trees=9), train, study=tmp_path / "killed", **options)
    ran_again = here.ran
    whole = tune(rw.LambdaMART(n_trees=9), train, study=tmp_path / "whole", **options)
    assert ran_again == here.ran - ran_again - len(kept)  # what was kept was not run again
    assert lasting(tmp_path / "killed") == lasting(tmp_path / "whole")
    assert again.settings == whole.settings
    assert again.ranker.forest_.equals(whole.ranker.forest_)
    for name in ("searches", "refit.json"):
        paths = [tmp_path / study / name for study in ("killed", "whole")]
        texts = [
            [one.read_text() for one in sorted(path.iterdir())] if path.is_dir() else path.read_text() for path in paths
        ]
        assert texts[0] == texts[1]


def test_several_processes_work_on_one_study_and_do_nothing_twice(data, tmp_path):
    study = tmp_path / "study"
    both = [started(data, study, pause=0.05) for _ in range(2)]
    for process in both:
        process.communicate(timeout=120)
        assert process.returncode == 0
    lines = [path.read_text().splitlines() for path in (study / "records").glob("*.jsonl")]
    experiments = [json.dumps([json.loads(line)[name] for name in ("settings", "fold", "seed", "budget")])
                   for own in lines for line in own]  # fmt: skip
    assert len(experiments) == len(set(experiments)) == 2 * (6 + 2 + 1)


def test_a_claim_ends_with_its_process(tmp_path):
    code = """
import sys, time
from rankwright.tuning.studies.store import Claims
from pathlib import Path
print(Claims(Path(sys.argv[1])).take("abc"), flush=True)
time.sleep(60)
"""
    other = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "True\n"
    store = Store(tmp_path, IDENTITY)
    assert not store.claims.take("abc")
    assert store.claims.take("abd")
    other.kill()
    other.wait()
    other.stdout.close()
    until = time.monotonic() + 10
    while not store.claims.take("abc"):
        assert time.monotonic() < until


@pytest.mark.parametrize("content", ["[]", "3", "{", "", '{"ranker": NaN', "\ufeff{}", "[" * 100_000, "\x00\xff"])
def test_a_damaged_identity_is_told(tmp_path, content):
    Store(tmp_path, IDENTITY).close()
    (tmp_path / "study.json").write_text(content, encoding="latin-1", errors="replace")
    with pytest.raises(InputError, match=r"study\.json is damaged"):
        Store(tmp_path, IDENTITY)


@pytest.mark.parametrize(
    "changes",
    [
        {"budget": "many"}, {"settings": None}, {"value": "high"}, {"steps": -1}, {"kept": 10**30}, {"fold": True},
        {"per_query": [1]}, {"per_query": {"m": ["x"]}}, {"finished": 1}, {"seconds": 10**400}, {"seed": 0.5},
    ],
)  # fmt: skip
def test_a_damaged_record_is_told(tmp_path, changes):
    store = Store(tmp_path, IDENTITY)
    store.add(record(), None)
    store.close()
    (path,) = tmp_path.glob("records/*.jsonl")
    path.write_text(json.dumps(json.loads(path.read_text()) | changes) + "\n")
    for read in (lambda: Store(tmp_path, IDENTITY), lambda: read_records(tmp_path)):
        with pytest.raises(InputError, match=rf"{path.name} is damaged: a line is no record of an experiment"):
            read()


@pytest.mark.parametrize("name", ["../out", "/tmp/out", "a/../../out", "", "a\x00b"])
def test_a_state_cannot_write_outside_of_its_folder(tmp_path, name):
    store = Store(tmp_path, IDENTITY)
    store.add(record(budget=2), {"checkpoint.rw": b"state"})
    continued = Experiment({"a": 1}, 0, 0, 4)
    assert store.earlier(continued) == ({"checkpoint.rw": b"state"}, 3)
    (path,) = tmp_path.glob("states/*.rw")
    write_container(path, STATE_KIND, {"budget": 2}, {name: np.zeros(3, np.uint8)})
    assert store.earlier(continued) == (None, 0)
    write_container(path, STATE_KIND, {"budget": [2]}, {"checkpoint.rw": np.zeros(3, np.uint8)})
    assert store.earlier(continued) == (None, 0)
