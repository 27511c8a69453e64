"""Tasks worked on by several threads, whose results come in order.

The kernels leave Python's lock, so threads train at full speed and share the data as it lies in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from types import TracebackType
from typing import Generic, Self, TypeVar

from rankwright.training.loop import Listener, Progress

Result = TypeVar("Result")
AHEAD = 2  # tasks a worker may be ahead of the one whose result is awaited, where there are several workers


class StoppedError(Exception):
    """A task was told to stop before its end."""


class SideBySide(Generic[Result]):
    """The results of `task` for each of `numbers`, taken in their order while later ones are worked on.

    A task gets its number and a listener to call now and then: the listener raises where the task is no longer wanted.
    When the block is left, tasks under way stop at their next call, and those not begun never begin.
    """

    def __init__(self, task: Callable[[int, Listener], Result], numbers: Sequence[int], workers: int) -> None:
        self._task, self._waiting = task, list(numbers)
        self._ahead = 1 if workers == 1 else AHEAD * workers
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="rankwright-bag")
        self._begun: dict[int, Future[Result]] = {}
        self._stop = Event()

    def result(self, number: int) -> Result:
        """What the task made of `number`, as soon as it is there."""
        while self._waiting and (len(self._begun) < self._ahead or number not in self._begun):
            following = self._waiting.pop(0)
            self._begun[following] = self._pool.submit(self._task, following, self._check)
        result = self._begun[number].result()
        del self._begun[number]
        return result

    def finished(self) -> dict[int, Result]:
        """The results that are there and were not taken."""
        done = {number: future for number, future in sorted(self._begun.items()) if future.done()}
        return {
            number: future.result()
            for number, future in done.items()
            if not future.cancelled() and future.exception() is None
        }

    def _check(self, _: Progress) -> None:
        if self._stop.is_set():
            raise StoppedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
