"""A task as a process or Ray runs it: it is timed, its errors are caught, and its log is sent to the driver."""

from __future__ import annotations

import logging
import pickle
import socket
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from rankwright.cluster.engine import Done, TaskFunction, TaskListener
from rankwright.cluster.shared_memory import Layout
from rankwright.errors import ClusterError
from rankwright.progress.stages import STAGE, diverted

OWN_LOGGER = "rankwright"
ONLY_IMPORTABLE = "functions and classes must stand in a module that workers can import, not in the main script"

Post = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Share:
    """Announces the memory that later tasks share, whose descriptor follows; None if they share nothing."""

    layout: Layout | None


@dataclass(frozen=True, slots=True)
class Work:
    """A task. `pickled` is its function and its value, to be unpickled where an error can be reported.

    `is_heard` says that somebody listens to its reports; where nobody does, they are not sent. `tries` is how often the
    task was given to a worker.
    """

    number: int
    pickled: bytes
    log_level: int
    is_heard: bool
    tries: int = 1

    @classmethod
    def of(
        cls,
        function: TaskFunction,
        task: Any,
        number: int,
        *,
        is_heard: bool,
        dumps: Callable[[Any], bytes] = pickle.dumps,
    ) -> Work:
        """The task as it is sent to a worker."""
        try:
            return cls(number, dumps((function, task)), logging.getLogger(OWN_LOGGER).getEffectiveLevel(), is_heard)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ClusterError(f"task {number} cannot be sent to a worker: {error}") from None


@dataclass(frozen=True, slots=True)
class Ping:
    """Asks a worker whether it is alive, in the middle of a task too; it posts the same back."""


@dataclass(frozen=True, slots=True)
class Posted:
    """A report or a log line of a task under way."""

    message: Any


@dataclass(frozen=True, slots=True)
class Failure:
    """The error a task ended with, and where in the worker it was raised."""

    number: int
    error: Exception
    trace: str
    host: str

    def raise_here(self) -> NoReturn:
        """Raise the task's error, of its own type, saying which task it was."""
        self.error.add_note(f"in task {self.number} on {self.host}:\n{self.trace}")
        raise self.error


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A line of a worker's log."""

    logger: str
    level: int
    message: str


def perform(work: Work, shared: Callable[[], Any], post: Post) -> Done | Failure:
    """The result of the task or its error; its reports and log lines go to `post`."""
    try:
        function, task = pickle.loads(work.pickled)
        value = shared()
    except Exception as error:
        return failure(work.number, ClusterError(f"a worker cannot open what it was sent: {error}; {ONLY_IMPORTABLE}"))
    start = time.perf_counter()
    try:
        with diverted(logging.getLogger(OWN_LOGGER), _PostingHandler(post), work.log_level):
            result = function(value, task, post if work.is_heard else _unheard)
    except Exception as error:
        return failure(work.number, error)
    return Done(work.number, result, time.perf_counter() - start, socket.gethostname())


def _unheard(message: Any) -> None:
    """Where reports go that nobody listens to."""


def failure(number: int, error: Exception) -> Failure:
    """The error in a form that can be sent; one that cannot be pickled becomes a `ClusterError` with its message."""
    trace = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = ClusterError(f"{type(error).__name__}: {error}")
    return Failure(number, error, trace, socket.gethostname())


def hear(number: int, message: Any, listener: TaskListener | None) -> None:
    """Pass on what a task posted: log lines to the loggers here, reports to the listener."""
    if isinstance(message, Ping):
        return
    if isinstance(message, LogRecord):
        logging.getLogger(message.logger).log(message.level, "%s", message.message)
    elif listener is not None:
        listener(number, message)


class _PostingHandler(logging.Handler):
    def __init__(self, post: Post) -> None:
        super().__init__()
        self._post = post

    def emit(self, record: logging.LogRecord) -> None:
        if not hasattr(record, STAGE):  # the reports of a task say how far it is
            self._post(LogRecord(record.name, record.levelno, record.getMessage()))
