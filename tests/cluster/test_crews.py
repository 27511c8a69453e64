"""Crews: how members are started, and asked whether they are alive."""

from __future__ import annotations

import os
import signal
import time
from multiprocessing.connection import wait
from pathlib import Path

import jobs
import pytest

from rankwright.cluster import local_engine, processes
from rankwright.cluster.crew import LostMembersError, Seconds
from rankwright.cluster.local_engine import LocalCrew
from rankwright.cluster.tasks import Ping


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_answers_of_members_do_not_ask_the_others_anew(monkeypatch):
    """Each member is asked once in a while, however often the others answer: asking costs processor time."""
    asked, send = [], processes.WorkerProcess.send

    def count(member, message):
        if isinstance(message, Ping):
            asked.append(member.process_id)
        send(member, message)

    monkeypatch.setattr(Seconds, "BETWEEN_PINGS", 0.25)
    monkeypatch.setattr(processes.WorkerProcess, "send", count)
    crew = LocalCrew(2, 1)
    try:
        crew.call(jobs.rest, [0.0, 0.0])  # they are there
        asked.clear()
        assert crew.call(jobs.rest, [1.5, 1.6]) == [1.5, 1.6]
        assert 2 <= len(asked) <= 2 * 7
        assert set(asked) == set(crew.process_ids)
    finally:
        crew.close()


@pytest.mark.usefixtures("leaves_nothing_behind")
@pytest.mark.parametrize("server_dies", [False, True])
def test_a_member_that_dies_is_replaced(server_dies):
    """Also where the process died that they were forked from."""
    crew = LocalCrew(2, 1)
    try:
        crew.call(jobs.rest, [0.0, 0.0])
        first, lost = crew.process_ids
        if server_dies:
            os.kill(parent_of(first), signal.SIGKILL)
        os.kill(lost, signal.SIGKILL)
        with pytest.raises(LostMembersError, match="worker 1 was ended by SIGKILL") as raised:
            crew.call(jobs.rest, [0.0, 0.0])
        assert raised.value.members == (1,)
        crew.renew([1])
        assert crew.call(jobs.rest, [0.1, 0.2]) == [0.1, 0.2]
        assert crew.process_ids[0] == first
        assert crew.process_ids[1] not in (first, lost)
    finally:
        crew.close()


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_a_driver_that_was_stopped_does_not_blame_its_members(monkeypatch):
    """After Ctrl-Z and `fg`, minutes may have gone by in which nobody could answer."""
    crew, stops = LocalCrew(1, 1), [True]

    def stopping_wait(connections, timeout):
        if stops.pop():
            clock.append(clock[-1] + 1000.0)
            stops.append(False)
            return []
        stops.append(False)
        return wait(connections, timeout)

    clock = [0.0]
    monkeypatch.setattr(local_engine, "wait", stopping_wait)
    monkeypatch.setattr(time, "monotonic", lambda: clock[-1])
    try:
        assert crew.call(jobs.rest, [0.0]) == [0.0]
    finally:
        monkeypatch.undo()
        crew.close()


def parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
