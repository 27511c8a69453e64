"""Runs go on where they were, and give the same results however they were run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.here_engine import HereEngine

from rankwright.errors import FileFormatError, InputError
from rankwright.reproduce.experiment import TINY, RunPart, Setup
from rankwright.reproduce.experiment_table import experiment_named
from rankwright.reproduce.running import PARTS_THAT_TELL, Pace, reproduce

NAME = "ranknet-table2"  # four parts
TIMES = ("seconds", "processor_seconds")
RUN = f"""
import sys
from rankwright.reproduce.experiment import Setup
from rankwright.reproduce.running import reproduce
if __name__ == "__main__":
    reproduce(["{NAME}"], Setup("{TINY}"), out=sys.argv[1], workers=1)
"""


class Interrupted(HereEngine):
    """Ends in the middle, as Ctrl-C does."""

    def run(self, *given, **more):
        for number, done in enumerate(super().run(*given, **more)):
            if number == 3:
                raise KeyboardInterrupt
            yield done


def untimed(found):
    return [{name: value for name, value in one.to_dict().items() if name not in TIMES} for one in found]


def run(out, engine=None, **more):
    return untimed(reproduce([NAME], Setup(TINY), out=out, engine=engine or HereEngine(), **more))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return run(tmp_path_factory.mktemp("whole"))


def test_a_run_that_was_interrupted_goes_on(tmp_path, whole):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Interrupted())
    engine = HereEngine()
    assert run(tmp_path, engine) == whole
    assert engine.ran == len(experiment_named(NAME).parts(Setup(TINY))) - 3
    assert run(tmp_path, again := HereEngine()) == whole
    assert again.ran == 0


def test_a_run_that_was_killed_goes_on(tmp_path, whole):
    process = subprocess.Popen([sys.executable, "-c", RUN, str(tmp_path)], start_new_session=True)
    deadline = time.monotonic() + 120
    while not (kept := list(tmp_path.glob("parts/*/*.json"))) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert kept
    engine = HereEngine()
    assert run(tmp_path, engine) == whole
    assert engine.ran <= len(experiment_named(NAME).parts(Setup(TINY))) - len(kept)
    assert json.loads((tmp_path / f"{NAME}.json").read_text())["verdict"] == whole[0]["verdict"]


@pytest.mark.parametrize("workers", [1, 2])
def test_results_do_not_depend_on_the_number_of_jobs(tmp_path, whole, workers):
    found = untimed(reproduce([NAME], Setup(TINY), out=tmp_path, workers=workers))
    assert found == whole


def test_experiments_take_the_parts_of_others(tmp_path):
    engine = HereEngine()
    reproduce(["sortnet-table1"], Setup(TINY), out=tmp_path, engine=engine)
    ran = engine.ran
    reproduce(["sortnet-figure3"], Setup(TINY), out=tmp_path, engine=engine)
    assert engine.ran == ran


def test_a_folder_belongs_to_one_size_and_seed(tmp_path):
    run(tmp_path)
    with pytest.raises(InputError, match=r"seed 0, synthetic data, and size tiny, seed 3.*choose another --out"):
        reproduce([NAME], Setup(TINY, seed=3), out=tmp_path, engine=HereEngine())


def test_a_damaged_result_is_named(tmp_path):
    run(tmp_path)
    path = next(tmp_path.glob("parts/*/no_ties__100__draw_0.json"))
    path.write_text("{")
    with pytest.raises(FileFormatError, match=r"draw_0\.json: is not a result that was kept here; remove it"):
        run(tmp_path)


def test_a_part_that_has_other_work_now_is_run_again(tmp_path, whole):
    run(tmp_path)
    path = next(tmp_path.glob("parts/*/no_ties__100__draw_0.json"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"part": {"row": "another"}}))
    assert run(tmp_path, engine := HereEngine()) == whole
    assert engine.ran == 1


@pytest.mark.slow
def test_results_are_the_same_on_ray(tmp_path, whole):
    pytest.importorskip("ray")
    assert untimed(reproduce([NAME], Setup(TINY), out=tmp_path, cluster="auto", workers=1)) == whole


def test_a_long_run_says_once_how_long_the_rest_takes():
    seconds = iter(range(0, 10_000, 60))
    parts = [RunPart("any", f"{number}", {}, cost=1 if number < PARTS_THAT_TELL else 3) for number in range(20)]
    pace = Pace(parts, clock=lambda: float(next(seconds)))
    told = [pace.after(part) for part in parts]
    assert [number for number, one in enumerate(told, 1) if one] == [PARTS_THAT_TELL]
    assert "the first 10 of 20 parts took 10 min 0 s, so the rest will take about 30 min 0 s" in str(told[9])


def test_a_short_run_says_nothing_of_it():
    pace = Pace(parts := [RunPart("any", f"{number}", {}) for number in range(20)])
    assert not any(pace.after(part) for part in parts)
