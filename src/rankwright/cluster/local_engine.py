"""The engine and the crews of one machine: processes of our own, each with one task at a time.

The workers of an engine live until it is closed, except those that are ended with their task.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Any

from rankwright.arrays import core_count
from rankwright.cluster.crew import CrewFunction, Lost, MemberState, Seconds, raise_error_of, results_of
from rankwright.cluster.engine import MAX_TRIES, Done, Report, TaskFunction, TaskListener, worker_count
from rankwright.cluster.fork_server import ForkServer
from rankwright.cluster.processes import WorkerProcess
from rankwright.cluster.shared_memory import SharedValue
from rankwright.cluster.tasks import Failure, Ping, Posted, Work, hear
from rankwright.errors import ClusterError, require

CAN_FORK = sys.platform == "linux"  # on a Mac, libraries of the system may not be used after a fork
LOOPBACK = "127.0.0.1"
_STATE: MemberState = {"address": LOOPBACK}  # the state of this process, if it is a member of a crew


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
        self, function: TaskFunction, tasks: Iterable[Any], *, shared: Any = None, listener: TaskListener | None = None
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


def act(shared: None, task: tuple[CrewFunction, Any], report: Report) -> Any:  # noqa: ARG001
    """Call the function in a member."""
    function, own = task
    return function(_STATE, own)


class LocalCrew:
    """Members that are processes of this machine; see `Crew`."""

    def __init__(self, size: int, threads: int) -> None:
        self.size, self.threads = size, threads
        self._server = ForkServer(threads) if CAN_FORK else None
        self._members = [self._started() for _ in range(size)]
        self._call = 0  # the number of the last call: late answers to calls that Ctrl-C ended are dropped
        self._is_new = [True] * size

    @property
    def process_ids(self) -> list[int]:
        """The number of each member's process."""
        return [member.process_id for member in self._members]

    def call(self, function: CrewFunction, tasks: Sequence[Any]) -> list[Any]:
        """The results of the members; see `Crew.call`."""
        self._call += 1
        for member, task in zip(self._members, tasks, strict=True):
            member.give(Work.of(act, (function, task), self._call, is_heard=False), None)
        outcomes: dict[int, Done | Failure | Lost] = {}
        now = time.monotonic()
        silent_since = [now + (Seconds.TO_START if new else 0.0) for new in self._is_new]
        asked_at = [now] * self.size
        given_up_at = float("inf")
        while len(outcomes) < self.size:
            waiting = {
                member.connection: number for number, member in enumerate(self._members) if number not in outcomes
            }
            before, ready = now, wait(list(waiting), timeout=Seconds.BETWEEN_PINGS)
            now = time.monotonic()
            # How long the driver itself stood still, by Ctrl-Z say.
            stopped = max(0.0, now - before - Seconds.BETWEEN_PINGS)
            silent_since = [since + stopped for since in silent_since]
            for connection, number in waiting.items():
                if connection in ready:
                    silent_since[number] = now
                    outcome = self._hear(number)
                elif now > given_up_at or now - silent_since[number] > Seconds.TO_ANSWER:
                    self._members[number].kill()
                    outcome = Lost(f"did not answer for {Seconds.TO_ANSWER:.0f} seconds")
                else:
                    # The wait also ends when one member answers: if the others were asked each time, they would
                    # always be answering.
                    if now - asked_at[number] >= Seconds.BETWEEN_PINGS:
                        self._members[number].send(Ping())
                        asked_at[number] = now
                    continue
                if outcome is not None:
                    raise_error_of(outcome)
                    outcomes[number] = outcome
                    self._is_new[number] = False
            if any(not isinstance(outcome, Done) for outcome in outcomes.values()):
                given_up_at = min(given_up_at, now + Seconds.TO_GIVE_UP)
        return results_of(outcomes)

    def _hear(self, number: int) -> Done | Failure | Lost | None:
        """How the member's current call ended; None if it has not ended yet."""
        message = self._members[number].take()
        if message is None:
            return Lost(self._members[number].kill())
        if isinstance(message, Posted):
            hear(number, message.message, None)
            return None
        return message if isinstance(message, Done | Failure) and message.number == self._call else None

    def _started(self) -> WorkerProcess:
        return WorkerProcess(self.threads, None if self._server is None else self._server.fork)

    def renew(self, members: Sequence[int]) -> None:
        """Start new processes in the places of dead ones."""
        for number in members:
            self._members[number].kill()
        if self._server is not None and not self._server.is_alive:
            self._server.close()
            self._server = ForkServer(self.threads)
        for number in members:
            self._members[number] = self._started()
            self._is_new[number] = True

    def close(self) -> None:
        """End all members."""
        for member in self._members:
            member.kill()
        if self._server is not None:
            self._server.close()
