"""The engine of threads: what every engine promises, as far as threads can."""

from __future__ import annotations

import logging
import time
from threading import Event

import jobs
import pytest

from rankwright.cluster.in_process import ThreadEngine
from rankwright.errors import InputError, SettingError


def results(engine, function, tasks, **options):
    return [done.result for done in sorted(engine.run(function, tasks, **options), key=lambda done: done.number)]


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_every_task_is_done_once(workers):
    assert results(ThreadEngine(workers), jobs.add, range(20)) == list(range(20))


def test_results_come_as_they_are_ready(tmp_path):
    numbers = []
    for done in ThreadEngine(2).run(jobs.wait_for, [str(tmp_path / "go on"), str(tmp_path)]):
        numbers.append(done.number)
        (tmp_path / "go on").touch()  # the first task waits for what the second one's result brings about
    assert numbers == [1, 0]


def test_what_is_shared_is_the_value_itself():
    value = {"offset": 3}
    with ThreadEngine(2) as engine:
        assert engine.share(value) is value
        assert results(engine, jobs.add, [1, 2], shared=engine.share(value)) == [4, 5]


def test_reports_and_logs_come_back(caplog):
    heard = []
    with caplog.at_level(logging.INFO, "rankwright"):
        results(ThreadEngine(2), jobs.tell, range(3), listener=lambda *report: heard.append(report))
    assert sorted(heard, key=str) == [(number, {"half": number / 2}) for number in range(3)]
    assert sorted(caplog.messages) == [f"task {number} was here" for number in range(3)]


def test_one_worker_is_never_ahead():
    begun = []
    run = ThreadEngine(1).run(lambda _, task, __: begun.append(task), range(5))
    for _ in range(3):
        next(run)
    run.close()
    assert begun == [0, 1, 2]


def test_leaving_stops_what_is_under_way_at_its_next_report():
    reached = Event()

    def work(_, task, report):
        if task == 0:
            reached.wait()
            return
        while True:
            reached.set()
            report("still here")
            time.sleep(0.001)

    run = ThreadEngine(2).run(work, range(50))
    assert next(run).number == 0
    run.close()


def test_an_error_of_a_task_is_the_callers_and_ends_the_others():
    begun = []

    def refuse(_, task, report):
        begun.append(task)
        if task == 1:
            raise InputError("one is too many")
        while task > 1:
            report("waiting")

    engine = ThreadEngine(2)
    with pytest.raises(InputError, match="one is too many"):
        results(engine, refuse, range(50))
    assert len(begun) < 50
    assert results(engine, jobs.add, [1]) == [1]  # and the engine goes on


def test_tasks_are_asked_for_when_a_worker_is_free():
    taken = []

    def tasks():
        for number in range(20):
            taken.append(number)
            yield number

    run = ThreadEngine(2).run(jobs.add, tasks())
    next(run)
    assert len(taken) <= 2 * 2
    run.close()


def test_a_worker_at_least():
    with pytest.raises(SettingError, match="workers must be 1 or more, got 0"):
        ThreadEngine(0)
