"""The engine of one machine: processes of our own, each with one task at a time.

Workers live until the engine is closed, except those that are ended with their task.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Any

from rankwright.arrays import core_count
from rankwright.cluster.engine import MAX_TRIES, Done, TaskFunction, TaskListener, worker_count
from rankwright.cluster.local_crew import LocalCrew
from rankwright.cluster.processes import WorkerProcess
from rankwright.cluster.shared_memory import SharedValue
from rankwright.cluster.tasks import Failure, Posted, Work, hear
from rankwright.errors import ClusterError, require


class LocalEngine(AbstractContextManager["LocalEngine"]):
    """Runs tasks on processes of this machine; see `Engine`."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = worker_count(workers)
        self.threads = max(1, core_count() // self.workers)
        self._idle: list[WorkerProcess] = []
        self._busy: dict[Connection, WorkerProcess] = {}
        self._values: dict[str, SharedValue] = {}  # by their keys

    def share(self, value: Any, *, key: str | None = None) -> SharedValue:
        """A handle of `value`, whose arrays are copied to memory that workers map; it is freed with the engine."""
        name = key or f"value {len(self._values)}"
        if name not in self._values:
            self._values[name] = SharedValue(value)
        return self._values[name]

    def crew(self, size: int | None = None) -> LocalCrew:
        """Start processes that keep what they have from call to call; see `Crew`."""
        return LocalCrew(size or self.workers, self.threads)

    def free(self) -> None:
        """Give back what was shared; idle workers keep what they had last until they get another value."""
        for value in self._values.values():
            value.close()
        self._values = {}

    def run(
        self,
        function: TaskFunction,
        tasks: Iterable[Any],
        *,
        shared: SharedValue | None = None,
        listener: TaskListener | None = None,
    ) -> Generator[Done, None, None]:
        """The results of the tasks as they come; see `Engine.run`."""
        require(not self._busy, "an engine runs one set of tasks at a time")
        is_heard = listener is not None
        waiting = (Work.of(function, task, number, is_heard=is_heard) for number, task in enumerate(tasks))
        try:
            self._begin(waiting, shared)
            while self._busy:
                ready = wait(list(self._busy))
                for worker in [worker for connection, worker in self._busy.items() if connection in ready]:
                    done = self._hear(worker, shared, listener)
                    if done is not None:
                        self._begin(waiting, shared)  # so that nobody is idle while the result is looked at
                        yield done
        finally:
            while self._busy:
                self._busy.popitem()[1].kill()

    def _begin(self, waiting: Iterator[Work], shared: SharedValue | None) -> None:
        """Give tasks to workers while there are tasks and free workers."""
        while len(self._busy) < self.workers and (work := next(waiting, None)) is not None:
            self._give(work, shared)

    def _give(self, work: Work, shared: SharedValue | None) -> None:
        worker = self._idle.pop() if self._idle else WorkerProcess(self.threads)
        self._busy[worker.connection] = worker
        worker.give(work, shared)

    def _hear(self, worker: WorkerProcess, shared: SharedValue | None, listener: TaskListener | None) -> Done | None:
        """The result, if the worker has finished its task; None otherwise."""
        message, work = worker.take(), worker.work
        if isinstance(message, Posted):
            hear(work.number, message.message, listener)
            return None
        del self._busy[worker.connection]
        if message is None:
            end = worker.kill()
            if work.tries == MAX_TRIES:
                raise ClusterError(f"task {work.number} was tried {MAX_TRIES} times, and each time its worker {end}")
            self._give(replace(work, tries=work.tries + 1), shared)
            return None
        self._idle.append(worker)
        if isinstance(message, Failure):
            message.raise_here()
        assert isinstance(message, Done)
        return message

    def __exit__(self, *_: object) -> None:
        for worker in [*self._busy.values(), *self._idle]:
            worker.kill()
        self.free()
        self._busy, self._idle = {}, []
