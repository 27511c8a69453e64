"""Tasks for the tests of engines: a worker imports this module by its name."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from pathlib import Path

from rankwright.arrays import thread_count
from rankwright.errors import InputError


def add(shared, task, report):  # noqa: ARG001
    return task + (0 if shared is None else shared["offset"])


def array_facts(shared, task, report):  # noqa: ARG001
    values = shared["values"]
    return float(values.sum()), values.flags.writeable, values.flags.owndata, os.getpid()


def sleep(shared, seconds, report):  # noqa: ARG001
    time.sleep(seconds)
    return seconds


def tell(shared, task, report):  # noqa: ARG001
    report({"half": task / 2})
    logging.getLogger("rankwright.jobs").warning("task %d was here", task)
    logging.getLogger("rankwright.jobs").debug("nobody asked for this")
    return task


def refuse(shared, task, report):  # noqa: ARG001
    if task == 1:
        raise InputError("one is too many")
    time.sleep(60 if task > 1 else 0)


class StubbornError(Exception):
    def __init__(self, one, two):
        super().__init__(one + two)


def stubborn(shared, task, report):  # noqa: ARG001
    raise StubbornError("not ", "picklable")


def unsendable(shared, task, report):  # noqa: ARG001
    return threading.Lock()


def die_first(shared, task, report):  # noqa: ARG001
    """Task 1 dies the first time; `shared` is the folder where it remembers that it did."""
    mark = Path(shared) / "died"
    if task == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def die(shared, task, report):  # noqa: ARG001
    os.kill(os.getpid(), signal.SIGKILL)


def threads(shared, task, report):  # noqa: ARG001
    return thread_count(None)


def sleep_telling(shared, seconds, report):  # noqa: ARG001
    report(os.getpid())
    time.sleep(seconds)


def wait_for(shared, path, report):  # noqa: ARG001
    deadline = time.monotonic() + 60
    while not Path(path).exists():
        if time.monotonic() > deadline:
            raise TimeoutError(path)
        time.sleep(0.01)


def rest(state, seconds):  # noqa: ARG001
    """A function of a crew: a member that rests longer than 1.5 seconds says so first."""
    if seconds > 1.5:
        time.sleep(0.1)
        logging.getLogger("rankwright.jobs").warning("resting")
    time.sleep(seconds)
    return seconds
