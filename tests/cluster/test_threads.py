"""Tasks of several threads."""

from __future__ import annotations

import time
from threading import Event

import pytest

from rankwright.bagging.side_by_side import SideBySide
from rankwright.training.loop import Progress

NOTHING = Progress(0, 1, None, None)


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_results_come_in_order_whoever_is_first(workers):
    def task(number, _):
        time.sleep(0.002 * (number % 3))
        return number**2

    with SideBySide(task, range(10), workers) as tasks:
        assert [tasks.result(number) for number in range(10)] == [number**2 for number in range(10)]


def test_one_worker_is_never_ahead():
    begun = []
    with SideBySide(lambda number, _: begun.append(number), range(5), 1) as tasks:
        for number in range(3):
            tasks.result(number)
    assert begun == [0, 1, 2]


def test_leaving_stops_what_is_under_way():
    reached, left = Event(), []

    def task(number, listener):
        if number == 0:
            reached.wait()
            return number
        while True:
            reached.set()
            listener(NOTHING)
            time.sleep(0.001)

    with SideBySide(task, range(50), 2) as tasks:
        left.append(tasks.result(0))
    assert left == [0]


def test_an_error_of_a_task_is_the_callers():
    def task(_, __):
        raise ValueError("no such thing")

    with pytest.raises(ValueError, match="no such thing"), SideBySide(task, range(3), 2) as tasks:
        tasks.result(0)


def test_what_is_finished_and_was_not_taken_can_still_be_had():
    done = Event()

    def task(number, _):
        if number == 0:
            done.wait(5)
            raise KeyboardInterrupt
        done.set()
        return number

    with SideBySide(task, range(2), 2) as tasks:
        with pytest.raises(KeyboardInterrupt):
            tasks.result(0)
        while not (finished := tasks.finished()):
            time.sleep(0.001)
    assert finished == {1: 1}
