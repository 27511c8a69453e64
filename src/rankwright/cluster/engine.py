"""What every engine can do, and how to open one.

with open_engine() as engine:
    shared = engine.share(data)
    for done in engine.run(function, tasks, shared=shared):
        results[done.number] = done.result
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from rankwright.arrays import core_count
from rankwright.errors import MissingExtraError, require

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

    def share(self, value: Any, *, key: str | None = None) -> Any:
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


def open_engine(cluster: str | None = None, workers: int | None = None) -> Engine:
    """Open an engine that runs many tasks at a time, on processes of this machine or on a Ray cluster.

    Parameters
    ----------
    cluster : str, optional
        Where tasks run: None or "local" for processes of this machine (on Windows, one task after another in this
        process), "auto" for a Ray that is started here and ends with the engine, or the HOST:PORT of a running Ray
        cluster.
    workers : int, optional
        How many tasks run at a time, 1 or more. By default one per core.

    Returns
    -------
    Engine
        An engine to use in a `with` block. Give it to `tune`, `cross_validate` and `nested_cross_validation`, or to the
        `on` method of a bagged ranker; or call its own `share` and `run`.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=20, seed=0)
    >>> with rw.open_engine(workers=1) as engine:
    ...     bags = rw.BLMART(n_bags=2, n_trees=3).on(engine).fit(data)
    >>> bags.n_bags_
    2
    """
    if cluster is None or cluster == "local":
        if not hasattr(socket, "send_fds"):
            from rankwright.cluster.serial import SerialEngine

            return SerialEngine(workers)
        from rankwright.cluster.local import LocalEngine

        return LocalEngine(workers)
    try:
        from rankwright.cluster.ray_engine import RayEngine
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise MissingExtraError("a cluster", "ray", "cluster") from None
    return RayEngine(cluster, workers)
