"""What is left when an engine ends, or when its driver does: nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jobs
import pytest

from rankwright.cluster.opening import open_engine
from rankwright.container.locks import SCRATCH, remove_abandoned, scratch_folder
from rankwright.errors import ClusterError


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_an_engine_leaves_nothing_behind():
    with open_engine(workers=2) as engine:
        list(engine.run(jobs.add, range(4), shared=engine.share({"offset": 1})))
        with pytest.raises(ClusterError, match="each time its worker was ended by SIGKILL"):
            list(engine.run(jobs.die, [0]))


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_leaving_early_ends_what_runs():
    start = time.monotonic()
    with open_engine(workers=2) as engine:
        for _ in engine.run(jobs.sleep, [0.0, 60.0, 60.0]):
            break
    assert time.monotonic() - start < 30


SCRIPT = """
import sys
import jobs
from rankwright.cluster.opening import open_engine

with open_engine(sys.argv[1], workers=2) as engine:  # no guard: workers do not run this script
    shared = engine.share(bytes(10))
    list(engine.run(jobs.sleep_telling, [60.0, 60.0], shared=shared, listener=lambda _, pid: print(pid, flush=True)))
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("cluster", ["local", pytest.param("auto", marks=pytest.mark.slow)])
def test_workers_go_when_the_driver_does(cluster, ending):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (Path(__file__).parent, *sys.path)))}
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, cluster], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as driver:
        assert driver.stdout is not None
        workers = [int(driver.stdout.readline()) for _ in range(2)]
        driver.send_signal(ending)
        driver.wait(timeout=30)
        deadline = time.monotonic() + 30
        while any(Path(f"/proc/{pid}").exists() for pid in workers):
            assert time.monotonic() < deadline, "workers outlive their driver"
            time.sleep(0.02)


@pytest.mark.slow
def test_the_folder_of_a_killed_ray_is_removed_by_the_next():
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (Path(__file__).parent, *sys.path)))}
    with tempfile.TemporaryDirectory(prefix="rw", dir="/tmp") as own:
        with subprocess.Popen(
            [sys.executable, "-c", SCRIPT, "auto"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment | {"TMPDIR": own},
        ) as driver:
            assert driver.stdout is not None
            driver.stdout.readline()
            assert len(list(Path(own).glob("rankwright-ray-*"))) == 1
            driver.kill()
        with scratch_folder("ray", own) as new:
            deadline = time.monotonic() + 30
            while list(Path(own).glob("rankwright-ray-*")) != [Path(new)]:  # Ray's own processes end a little later
                assert time.monotonic() < deadline, "what a killed Ray left stays"
                time.sleep(0.2)
                remove_abandoned(own, SCRATCH)


@pytest.mark.slow
def test_a_ray_of_our_own_keeps_to_this_machine_and_takes_its_files_along(monkeypatch):
    import ray

    # Ray's sockets need short paths; other tests may have a Ray of their own in /tmp itself at the same time.
    with tempfile.TemporaryDirectory(prefix="rw", dir="/tmp") as own:
        monkeypatch.setattr(tempfile, "tempdir", own)
        with open_engine("auto", workers=1) as engine:
            assert [done.result for done in engine.run(jobs.add, [1])] == [1]
            assert {node["NodeManagerAddress"] for node in ray.nodes()} == {"127.0.0.1"}
            assert len(list(Path(own).glob("rankwright-ray-*"))) == 1
        assert not list(Path(own).glob("rankwright-ray-*"))
    assert not ray.is_initialized()
