"""A mailbox: tasks on any node leave their reports and log lines in it, and the driver collects them."""

from __future__ import annotations

import asyncio
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

Letter = tuple[int, Any]  # number of the task, what it posted

SECONDS_TO_CLOSE = 5.0


class Mailbox:
    """Letters, from when they are posted until they are taken."""

    def __init__(self) -> None:
        self._letters: list[Letter] = []
        self._some = asyncio.Event()

    async def post(self, letter: Letter) -> None:
        """Leave a letter."""
        self._letters.append(letter)
        self._some.set()

    async def take(self) -> list[Letter]:
        """All letters that are there; there may be none."""
        letters, self._letters = self._letters, []
        self._some.clear()
        return letters

    async def wait(self) -> None:
        """Return when there is a letter, or when nobody will wait any more."""
        await self._some.wait()

    async def close(self) -> None:
        """Let `wait` return."""
        self._some.set()


class Letters:
    """The driver's access to a mailbox on its own node, which stays when another node is lost."""

    def __init__(self) -> None:
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        actor = ray.remote(Mailbox).options(num_cpus=0, max_restarts=-1, max_task_retries=-1, scheduling_strategy=here)
        self.mailbox = actor.remote()
        self.arrival = self.mailbox.wait.remote()  # ready when there is a letter

    def take(self) -> list[Letter]:
        """All letters that are there; there may be none."""
        letters: list[Letter] = ray.get(self.mailbox.take.remote())
        if ray.wait([self.arrival], timeout=0)[0]:
            self.arrival = self.mailbox.wait.remote()
        return letters

    def close(self) -> None:
        """Let the mailbox end: Ray ends an actor that nobody waits for or can reach."""
        ray.wait([self.mailbox.close.remote()], timeout=SECONDS_TO_CLOSE)


class Sender:
    """Sends the messages of one task to the mailbox."""

    def __init__(self, mailbox: Any, number: int) -> None:
        self._mailbox, self._number = mailbox, number
        self._sent: list[Any] = []  # not known to have arrived
        self.has_posted = False

    def post(self, message: Any) -> None:
        """Send a message, without waiting for it to arrive."""
        if self._sent:
            self._sent = ray.wait(self._sent, num_returns=len(self._sent), timeout=0)[1]
        self._sent.append(self._mailbox.post.remote((self._number, message)))
        self.has_posted = True

    def arrive(self) -> None:
        """Wait until all that was sent is in the mailbox."""
        if self._sent:
            ray.wait(self._sent, num_returns=len(self._sent))
