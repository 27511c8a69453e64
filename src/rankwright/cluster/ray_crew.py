"""A crew of Ray's actors, on any machines of a cluster."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

import ray
from ray import cloudpickle
from ray.exceptions import RayActorError, RayError

from rankwright.cluster.crew import CrewFunction, Lost, MemberState, NoRoomError, Seconds, raise_error_of, results_of
from rankwright.cluster.engine import Done
from rankwright.cluster.processes import THREAD_VARIABLES
from rankwright.cluster.tasks import Failure, LogRecord, Work, hear, perform


class Member:
    """The actor: a dictionary, and calls that work on it."""

    def __init__(self, path: list[str]) -> None:
        sys.path += [place for place in path if place not in sys.path]
        self._state: MemberState = {"address": ray.util.get_node_ip_address()}

    @ray.method(concurrency_group="pings")  # type: ignore[untyped-decorator]
    def ping(self) -> str:
        """The address of the member's machine."""
        return str(self._state["address"])

    @ray.method(concurrency_group="calls")  # type: ignore[untyped-decorator]
    def act(self, work: Work) -> tuple[Done | Failure, list[LogRecord]]:
        """The result of a call or its error, and what it logged."""
        logged: list[Any] = []
        outcome = perform(work, lambda: self._state, logged.append)
        return outcome, [line for line in logged if isinstance(line, LogRecord)]

    def process_id(self) -> int:
        """The number of the actor's process."""
        return os.getpid()


def act_on(state: MemberState, task: tuple[CrewFunction, Any], report: Any) -> Any:  # noqa: ARG001
    """Call the function in a member."""
    function, own = task
    return function(state, own)


class RayCrew:
    """Members that are actors of a Ray cluster; see `Crew`."""

    def __init__(self, size: int, threads: int) -> None:
        self.size, self.threads = size, threads
        variables = {"env_vars": dict.fromkeys(THREAD_VARIABLES, str(threads))}
        self._kind = ray.remote(concurrency_groups={"calls": 1, "pings": 1})(Member).options(
            num_cpus=threads, max_restarts=0, scheduling_strategy="SPREAD", runtime_env=variables
        )
        self._call = 0
        self._members: list[Any] = []
        try:
            self._members = [self._kind.remote(sys.path) for _ in range(size)]
            self._await_start(range(size))
        except BaseException:
            self.close()
            raise

    @property
    def process_ids(self) -> list[int]:
        """The number of each member's process, on its own machine."""
        found: list[int] = ray.get([member.process_id.remote() for member in self._members])
        return found

    def _await_start(self, numbers: Sequence[int]) -> None:
        started = [self._members[number].ping.remote() for number in numbers]
        ready, missing = ray.wait(started, num_returns=len(started), timeout=Seconds.TO_START)
        for reference in ready:
            try:
                ray.get(reference)
            except RayError:
                missing.append(reference)
        if missing:
            has = int(ray.cluster_resources().get("CPU", 0))
            raise NoRoomError(
                f"{len(missing)} of {self.size} workers of {self.threads} cores did not start within "
                f"{Seconds.TO_START:.0f} seconds; the cluster has {has} cores in all"
            )

    def call(self, function: CrewFunction, tasks: Sequence[Any]) -> list[Any]:
        """The results of the members; see `Crew.call`."""
        self._call += 1
        given = {}
        for number, (member, task) in enumerate(zip(self._members, tasks, strict=True)):
            work = Work.of(act_on, (function, task), self._call, is_heard=False, dumps=cloudpickle.dumps)
            given[member.act.remote(work)] = number
        outcomes: dict[int, Done | Failure | Lost] = {}
        pings = {number: (member.ping.remote(), time.monotonic()) for number, member in enumerate(self._members)}
        given_up_at, now = float("inf"), time.monotonic()
        while given:
            before, ready = now, ray.wait(list(given), num_returns=1, timeout=Seconds.BETWEEN_PINGS)[0]
            now = time.monotonic()
            # How long the driver itself stood still, by Ctrl-Z say.
            stopped = max(0.0, now - before - Seconds.BETWEEN_PINGS)
            pings = {number: (ping, asked + stopped) for number, (ping, asked) in pings.items()}
            for reference in ready:
                number = given.pop(reference)
                outcomes[number] = _outcome(reference)
                raise_error_of(outcomes[number])
            for reference, number in list(given.items()):
                ping, asked = pings[number]
                if ray.wait([ping], timeout=0)[0]:
                    if now - asked > Seconds.BETWEEN_PINGS:
                        pings[number] = self._members[number].ping.remote(), now
                elif now > given_up_at or now - asked > Seconds.TO_ANSWER:
                    ray.kill(self._members[number])
                    outcomes[number] = Lost(f"did not answer for {Seconds.TO_ANSWER:.0f} seconds")
                    del given[reference]
            if any(not isinstance(outcome, Done) for outcome in outcomes.values()):
                given_up_at = min(given_up_at, now + Seconds.TO_GIVE_UP)
        return results_of(outcomes)

    def renew(self, members: Sequence[int]) -> None:
        """Start new actors in the places of dead ones; raises `NoRoomError` where the cluster has no room for them."""
        for number in members:
            self._kill(self._members[number])
            self._members[number] = self._kind.remote(sys.path)
        self._await_start(members)

    def close(self) -> None:
        """End all members."""
        for member in self._members:
            self._kill(member)
        self._members = []

    def _kill(self, member: Any) -> None:
        if ray.is_initialized():
            ray.kill(member)


def _outcome(reference: Any) -> Done | Failure | Lost:
    try:
        outcome, logged = ray.get(reference)
    except RayActorError as error:
        return Lost(f"died: {str(error).splitlines()[0]}")
    except RayError as error:
        return Lost(f"was lost: {str(error).splitlines()[0]}")
    for line in logged:
        hear(0, line, None)
    assert isinstance(outcome, Done | Failure)
    return outcome
