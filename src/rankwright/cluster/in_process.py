"""Engines of one process: threads, which share its memory as it is; and one task after another.

Our kernels leave Python's lock, so that threads train at full speed. A thread cannot be ended: a task that is no longer
wanted stops at its next report. One task after another is for systems whose processes cannot hand each other open files
(Windows).
"""

from __future__ import annotations

import socket
import time
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from queue import SimpleQueue
from threading import Event
from typing import Any, NoReturn

from rankwright.arrays import core_count
from rankwright.cluster.engine import Done, TaskFunction, TaskListener, worker_count
from rankwright.errors import ClusterError

AHEAD = 2  # tasks given out for each worker, so that it finds the next one waiting; one worker alone is never ahead


class StoppedError(Exception):
    """A task was told to stop before its end."""


class ThreadEngine(AbstractContextManager["ThreadEngine"]):
    """Runs tasks on threads of this process; see `Engine`. Functions and tasks need not be picklable."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = worker_count(workers)
        self.threads = max(1, core_count() // self.workers)

    def share(self, value: Any, *, key: str | None = None) -> object:  # noqa: ARG002
        """`value` itself: tasks must not write to it."""
        return value

    def free(self) -> None:
        """Nothing to do: values are those of the caller."""

    def run(
        self, function: TaskFunction, tasks: Iterable[Any], *, shared: Any = None, listener: TaskListener | None = None
    ) -> Generator[Done, None, None]:
        """The results of the tasks as they come; see `Engine.run`."""
        waiting, most = enumerate(tasks), 1 if self.workers == 1 else AHEAD * self.workers
        news, stop = SimpleQueue[Any](), Event()  # what threads tell the driver, and what it tells them

        def perform(number: int, task: Any) -> None:
            def report(message: Any) -> None:
                if stop.is_set():
                    raise StoppedError
                if listener is not None:
                    news.put((number, message))

            start = time.perf_counter()
            try:
                result = function(shared, task, report)
                news.put(Done(number, result, time.perf_counter() - start, socket.gethostname()))
            except BaseException as error:
                news.put(error)

        given = 0
        with ThreadPoolExecutor(self.workers, thread_name_prefix="rankwright-task") as pool:
            try:
                while True:
                    while given < most and (following := next(waiting, None)) is not None:
                        pool.submit(perform, *following)
                        given += 1
                    if not given:
                        return
                    yield _next_done(news, listener)
                    given -= 1
            finally:
                stop.set()
                pool.shutdown(cancel_futures=True)

    def __exit__(self, *_: object) -> None:
        return None


def _next_done(news: SimpleQueue[Any], listener: TaskListener | None) -> Done:
    """The next result, as soon as it is there; reports before it are passed on, and a task's error is raised."""
    while not isinstance(heard := news.get(), Done):
        if isinstance(heard, BaseException):
            raise heard
        assert listener is not None
        listener(*heard)
    return heard


class SerialEngine(AbstractContextManager["SerialEngine"]):
    """Runs tasks in this process, each with all cores; see `Engine`. However many workers are asked for, it is one."""

    def __init__(self, workers: int | None = None) -> None:
        worker_count(workers)
        self.workers, self.threads = 1, core_count()
        self._values: dict[str, Any] = {}  # by their keys

    def share(self, value: Any, *, key: str | None = None) -> object:
        """The value itself, or the one of that key that was shared before."""
        return self._values.setdefault(key or f"value {len(self._values)}", value)

    def free(self) -> None:
        """Forget what was shared."""
        self._values = {}

    def crew(self, size: int | None = None) -> NoReturn:  # noqa: ARG002
        """There is none: a crew's processes are several."""
        raise ClusterError("one model on several processes needs a system that can hand over open files, or Ray")

    def run(
        self, function: TaskFunction, tasks: Iterable[Any], *, shared: Any = None, listener: TaskListener | None = None
    ) -> Generator[Done, None, None]:
        """The results of the tasks in order; see `Engine.run`."""
        for number, task in enumerate(tasks):

            def report(message: Any, number: int = number) -> None:
                if listener is not None:
                    listener(number, message)

            start = time.perf_counter()
            yield Done(number, function(shared, task, report), time.perf_counter() - start, socket.gethostname())

    def __exit__(self, *_: object) -> None:
        self.free()
