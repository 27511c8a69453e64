"""What every engine can do, and the door to them.

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

from rankwright.errors import MissingExtraError

Report = Callable[[Any], None]  # what a task calls to tell the driver of its progress
TaskFunction = Callable[[Any, Any, Report], Any]  # shared value, the task's own, report -> result
TaskListener = Callable[[int, Any], None]  # number of the task, what it reported

MAX_TRIES = 3  # a task whose worker died this often is itself the likely cause


@dataclass(frozen=True, slots=True)
class Done:
    """A finished task: its number in the order given, its result, how long it took, and where."""

    number: int
    result: Any
    seconds: float
    host: str


class Engine(AbstractContextManager["Engine"], Protocol):
    """Runs tasks. Leaving its block ends what is still running and frees what was shared."""

    @property
    def workers(self) -> int:
        """How many tasks run at a time."""

    @property
    def threads(self) -> int:
        """How many threads each of them should take; in a worker, `thread_count(None)` says the same."""

    def share(self, value: Any) -> Any:
        """A handle of `value` for `run`: its arrays are kept once a machine, and tasks cannot write to them."""

    def run(
        self, function: TaskFunction, tasks: Iterable[Any], *, shared: Any = None, listener: TaskListener | None = None
    ) -> Generator[Done, None, None]:
        """The results of `function(shared value, task, report)` for each task, as they come.

        `function` must be importable: one at the top of a module. What a task gives to `report` goes to `listener`,
        and what it logs to the loggers here, both only while a result is awaited. A task that raises ends the run with
        its error; one whose worker dies is tried again, `MAX_TRIES` times in all. When the iterator is closed, tasks
        under way are ended, and those not begun never begin.
        """


def open_engine(cluster: str | None = None, workers: int | None = None) -> Engine:
    """The engine for `cluster`: None or "local" for processes here, "auto" for Ray started here, else Ray's address.

    `workers` is how many tasks run at a time; the default is a task a core.
    """
    if cluster is None or cluster == "local":
        from rankwright.cluster.local import LocalEngine

        return LocalEngine(workers)
    try:
        from rankwright.cluster.ray_engine import RayEngine
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise MissingExtraError("a cluster", "ray", "cluster") from None
    return RayEngine(cluster, workers)
