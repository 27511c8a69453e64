"""Crews: how members are asked whether they are alive."""

from __future__ import annotations

import jobs
import pytest

from rankwright.cluster import local_crew, processes
from rankwright.cluster.local_crew import LocalCrew
from rankwright.cluster.tasks import Ping


@pytest.mark.usefixtures("leaves_nothing_behind")
def test_answers_of_members_do_not_ask_the_others_anew(monkeypatch):
    """Each member is asked once in a while, however often the others answer: asking costs processor time."""
    asked, send = [], processes.WorkerProcess.send

    def count(member, message):
        if isinstance(message, Ping):
            asked.append(member.process_id)
        send(member, message)

    monkeypatch.setattr(local_crew, "SECONDS_BETWEEN_PINGS", 0.25)
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
