"""The engine of one process: threads, which share its memory as it is.

Our kernels leave Python's lock, so that threads train at full speed. A thread cannot be ended: a task that is no longer
wanted stops at its next report.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event
from types import TracebackType
from typing import Any, Self

from rankwright.arrays import core_count
from rankwright.cluster.engine import Done, TaskFunction, TaskListener
from rankwright.errors import require

AHEAD = 2  # tasks given out for each worker, so that it finds the next one waiting; one worker alone is never ahead


class StoppedError(Exception):
    """A task was told to stop before its end."""


class ThreadEngine:
    """Runs tasks on threads of this process; see `Engine`. Functions and tasks need not be picklable."""

    def __init__(self, workers: int | None = None) -> None:
        require(workers is None or workers >= 1, f"workers must be 1 or more, got {workers}")
        self.workers = core_count() if workers is None else workers
        self.threads = max(1, core_count() // self.workers)

    def share(self, value: Any) -> Any:
        """`value` itself: tasks must not write to it."""
        return value

    def run(
        self, function: TaskFunction, tasks: Iterable[Any], *, shared: Any = None, listener: TaskListener | None = None
    ) -> Generator[Done, None, None]:
        """The results of the tasks as they come; see `Engine.run`."""
        waiting, most = enumerate(tasks), 1 if self.workers == 1 else AHEAD * self.workers
        run = _ThreadRun(function, shared, listener)
        with ThreadPoolExecutor(self.workers, thread_name_prefix="rankwright-task") as pool:
            given = 0
            try:
                while True:
                    while given < most and (following := next(waiting, None)) is not None:
                        pool.submit(run.perform, *following)
                        given += 1
                    if not given:
                        return
                    yield run.next_done()
                    given -= 1
            finally:
                run.stop.set()
                pool.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class _ThreadRun:
    """What the tasks of one run share; their threads put into `_news` what the driver is to hear."""

    def __init__(self, function: TaskFunction, shared: Any, listener: TaskListener | None) -> None:
        self._function, self._shared, self._listener = function, shared, listener
        self._news = SimpleQueue[Done | BaseException | Callable[[], None]]()
        self.stop = Event()

    def perform(self, number: int, task: Any) -> None:
        """Work on a task, in a thread of its own."""
        start = time.perf_counter()
        try:
            result = self._function(self._shared, task, lambda message: self._report(number, message))
        except BaseException as error:
            self._news.put(error)
        else:
            self._news.put(Done(number, result, time.perf_counter() - start, socket.gethostname()))

    def _report(self, number: int, message: Any) -> None:
        if self.stop.is_set():
            raise StoppedError
        listener = self._listener
        if listener is not None:
            self._news.put(lambda: listener(number, message))

    def next_done(self) -> Done:
        """The next result, as soon as it is there; a task's error is raised."""
        while True:
            news = self._news.get()
            if isinstance(news, Done):
                return news
            if isinstance(news, BaseException):
                raise news
            news()
