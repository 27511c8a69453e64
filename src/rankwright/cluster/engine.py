"""What every engine can do.

with open_engine() as engine:
    shared = engine.share(data)
    for done in engine.run(function, tasks, shared=shared):
        results[done.number] = done.result
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from rankwright.arrays import core_count
from rankwright.errors import require

Report = Callable[[Any], None]  # what a task calls to tell the driver of its progress
TaskFunction = Callable[[Any, Any, Report], Any]  # shared value, the task's own, report -> result
TaskListener = Callable[[int, Any], None]  # number of the task, what it reported

MAX_TRIES = 3  # a task whose worker died this often is itself the likely cause


@dataclass(frozen=True, slots=True)
class Done:
    """A finished task.

    Attributes
    ----------
    number : int
        The task's place in the order given, from 0.
    result : object
        What the function returned.
    seconds : float
        How long the task took.
    host : str
        The name of the machine that it ran on.
    """

    number: int
    result: Any
    seconds: float
    host: str


class Engine(AbstractContextManager["Engine"], Protocol):
    """Runs tasks. Leaving its `with` block ends what is still running and frees what was shared."""

    @property
    def workers(self) -> int:
        """How many tasks run at a time."""

    @property
    def threads(self) -> int:
        """How many threads each of them should use; in a worker, `threads=None` means this number."""

    def share(self, value: Any, *, key: str | None = None) -> object:
        """Put a value where all tasks can read it.

        Parameters
        ----------
        value : object
            Anything that can be pickled. Its arrays are kept once per machine, and tasks cannot write to them.
        key : str, optional
            What the value is known by: another one of the same key is not shared again, the first takes its place.

        Returns
        -------
        object
            A handle to give to `run`.
        """

    def free(self) -> None:
        """Give back the memory of all that was shared: an engine may serve one set of data after another."""

    def run(
        self, function: TaskFunction, tasks: Iterable[Any], *, shared: Any = None, listener: TaskListener | None = None
    ) -> Generator[Done, None, None]:
        """Run `function(shared value, task, report)` for each task, and yield the results as they are ready.

        A task that raises an error ends the run with that error. A task whose worker dies is tried again, `MAX_TRIES`
        times in all. When the generator is closed, running tasks are ended and the others do not begin.

        Parameters
        ----------
        function : callable
            A function at the top of a module, which workers import.
        tasks : iterable
            The values to call it with. They are taken as workers become free.
        shared : object, optional
            A handle that `share` returned.
        listener : callable, optional
            Called with a task's number and with what the task gave to `report`, while a result is awaited. What a task
            logs goes to the loggers of this process.

        Yields
        ------
        Done
            A finished task and its result.
        """


def worker_count(workers: int | None) -> int:
    """How many tasks run at a time: as many as asked for, or one per core."""
    require(workers is None or workers >= 1, f"workers must be 1 or more, got {workers}")
    return core_count() if workers is None else workers
