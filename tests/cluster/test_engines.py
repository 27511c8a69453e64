"""What every engine promises: processes of this machine, a Ray started here, and a Ray cluster of two nodes."""

from __future__ import annotations

import logging
import os
import threading
import time

import jobs
import numpy as np
import pytest

from rankwright.cluster.engine import MAX_TRIES
from rankwright.cluster.opening import open_engine
from rankwright.errors import ClusterError, InputError, SettingError


@pytest.fixture(scope="module", params=["local", pytest.param("auto", marks=pytest.mark.slow), "two nodes"])
def engine(request):
    cluster = request.param
    if cluster == "two nodes":
        nodes = request.getfixturevalue("ray_cluster")
        nodes.complete()
        cluster = nodes.address
    with open_engine(cluster, workers=2) as engine:
        yield engine


def results(engine, function, tasks, **options):
    return [done.result for done in sorted(engine.run(function, tasks, **options), key=lambda done: done.number)]


def test_every_task_is_done_once(engine):
    assert results(engine, jobs.add, range(20)) == list(range(20))


def test_results_come_as_they_are_ready(engine, tmp_path):
    numbers = []
    for done in engine.run(jobs.wait_for, [str(tmp_path / "go on"), str(tmp_path)]):
        numbers.append(done.number)
        (tmp_path / "go on").touch()  # the first task waits for what the second one's result brings about
    assert numbers == [1, 0]


def test_arrays_are_shared_and_cannot_be_written_to(engine):
    values = np.arange(1000.0)
    shared = engine.share({"values": values, "offset": 3})
    facts = results(engine, jobs.array_facts, range(6), shared=shared)
    assert {fact[:3] for fact in facts} == {(values.sum(), False, False)}
    assert os.getpid() not in {fact[3] for fact in facts}
    assert results(engine, jobs.add, [1], shared=shared) == [1 + 3]
    assert results(engine, jobs.add, [1], shared=engine.share({"offset": 4})) == [1 + 4]
    assert results(engine, jobs.add, [1]) == [1]


def test_reports_and_logs_come_back(engine, caplog):
    heard = []
    with caplog.at_level(logging.INFO, "rankwright"):
        results(engine, jobs.tell, range(3), listener=lambda *report: heard.append(report))
    assert sorted(heard, key=str) == [(number, {"half": number / 2}) for number in range(3)]
    assert sorted(caplog.messages) == [f"task {number} was here" for number in range(3)]


def test_an_error_keeps_its_type_names_its_task_and_ends_the_others(engine):
    start = time.monotonic()
    with pytest.raises(InputError, match="one is too many") as caught:
        results(engine, jobs.refuse, range(5))
    assert any(note.startswith("in task 1 on ") for note in caught.value.__notes__)
    assert time.monotonic() - start < 30  # the others would sleep for a minute
    assert results(engine, jobs.add, [1]) == [1]  # and the engine goes on


@pytest.mark.parametrize(
    ("function", "message"), [(jobs.stubborn, "StubbornError: not picklable"), (jobs.unsendable, "_thread.lock")]
)
def test_what_cannot_be_sent_back_is_told(engine, function, message):
    with pytest.raises(ClusterError, match=message):
        results(engine, function, [0])


def test_what_cannot_be_sent_out_is_told(engine):
    with pytest.raises(ClusterError, match="task 0 cannot be sent to a worker"):
        results(engine, jobs.add, [threading.Lock()])


def test_a_task_whose_worker_dies_is_tried_again(engine, tmp_path):
    assert results(engine, jobs.die_first, range(4), shared=engine.share(str(tmp_path))) == list(range(4))


def test_a_task_that_kills_its_workers_is_given_up(engine):
    with pytest.raises(ClusterError, match=f"task 0 was tried {MAX_TRIES} times"):
        results(engine, jobs.die, [0])


def test_workers_share_the_cores(engine):
    assert results(engine, jobs.threads, [0]) == [engine.threads]


def test_tasks_are_asked_for_when_a_worker_is_free(engine):
    taken = []

    def tasks():
        for number in range(10):
            taken.append(number)
            yield number

    run = engine.run(jobs.add, tasks())
    next(run)
    assert len(taken) <= 2 + 1
    run.close()


@pytest.mark.parametrize("cluster", ["local", "auto"])
def test_a_worker_at_least(cluster):
    with pytest.raises(SettingError, match="workers must be 1 or more, got 0"):
        open_engine(cluster, workers=0)
