"""The engine of systems whose processes cannot hand each other open files (Windows): one task after another, here."""

from __future__ import annotations

import socket
import time
from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager
from typing import Any, NoReturn

from rankwright.arrays import core_count
from rankwright.cluster.engine import Done, TaskFunction, TaskListener, worker_count
from rankwright.errors import ClusterError


class SerialEngine(AbstractContextManager["SerialEngine"]):
    """Runs tasks in this process, each with all cores; see `Engine`. However many workers are asked for, it is one."""

    def __init__(self, workers: int | None = None) -> None:
        worker_count(workers)
        self.workers, self.threads = 1, core_count()
        self._values: dict[str, Any] = {}  # by their keys

    def share(self, value: Any, *, key: str | None = None) -> Any:
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
