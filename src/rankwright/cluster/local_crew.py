"""A crew of processes on this machine."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import wait
from typing import Any

from rankwright.cluster.crew import (
    SECONDS_BETWEEN_PINGS,
    SECONDS_TO_ANSWER,
    SECONDS_TO_GIVE_UP,
    SECONDS_TO_START,
    CrewFunction,
    Lost,
    MemberState,
    raise_error_of,
    results_of,
)
from rankwright.cluster.engine import Done, Report
from rankwright.cluster.fork_server import ForkServer
from rankwright.cluster.processes import WorkerProcess
from rankwright.cluster.tasks import Failure, Ping, Posted, Work, hear

CAN_FORK = sys.platform == "linux"  # on a Mac, libraries of the system may not be used after a fork
LOOPBACK = "127.0.0.1"
_STATE: MemberState = {"address": LOOPBACK}  # the state of this process, if it is a member of a crew


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
        silent_since = [now + (SECONDS_TO_START if new else 0.0) for new in self._is_new]
        asked_at = [now] * self.size
        given_up_at = float("inf")
        while len(outcomes) < self.size:
            waiting = {
                self._members[number].connection: number for number in range(self.size) if number not in outcomes
            }
            before, ready = now, wait(list(waiting), timeout=SECONDS_BETWEEN_PINGS)
            now = time.monotonic()
            stopped = max(
                0.0, now - before - SECONDS_BETWEEN_PINGS
            )  # how long the driver itself stood still, by Ctrl-Z say
            silent_since = [since + stopped for since in silent_since]
            for connection, number in waiting.items():
                if connection in ready:
                    silent_since[number] = now
                    outcome = self._hear(number)
                elif now > given_up_at or now - silent_since[number] > SECONDS_TO_ANSWER:
                    self._members[number].kill()
                    outcome = Lost(f"did not answer for {SECONDS_TO_ANSWER:.0f} seconds")
                else:
                    # The wait also ends when one member answers: if the others were asked each time, they would
                    # always be answering.
                    if now - asked_at[number] >= SECONDS_BETWEEN_PINGS:
                        self._members[number].send(Ping())
                        asked_at[number] = now
                    continue
                if outcome is not None:
                    raise_error_of(outcome)
                    outcomes[number] = outcome
                    self._is_new[number] = False
            if any(not isinstance(outcome, Done) for outcome in outcomes.values()):
                given_up_at = min(given_up_at, now + SECONDS_TO_GIVE_UP)
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
