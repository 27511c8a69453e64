"""The engine of many machines: tasks of a Ray cluster.

Ray copies the shared value once to the object store of each node, where tasks read it in place. Tasks on any node leave
their reports and log lines in a mailbox, and the driver collects them. Tasks that are lost with their worker or node
are given out again here, not by Ray, so that both engines count tries in the same way.

A Ray of our own listens on the loopback address alone, has no dashboard, sends no usage statistics, and keeps its files
in a folder that is removed at the end.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import ray
from ray import cloudpickle
from ray._private import ray_constants
from ray.exceptions import NodeDiedError, ObjectLostError, OutOfMemoryError, RayError, WorkerCrashedError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from rankwright.arrays import core_count
from rankwright.cluster.engine import MAX_TRIES, Done, TaskFunction, TaskListener, worker_count
from rankwright.cluster.ray_crew import RayCrew
from rankwright.cluster.tasks import Failure, Work, hear, perform
from rankwright.container.locks import scratch_folder
from rankwright.errors import ClusterError, require

Letter = tuple[int, Any]  # number of the task, what it posted

LOST = (WorkerCrashedError, NodeDiedError, OutOfMemoryError, ObjectLostError)
AHEAD = 2  # tasks given out for each that can run, so that a worker finds the next one waiting
SECONDS_TO_CLOSE = 5.0
LOOPBACK = "127.0.0.1"
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # the default of later versions; without it this version warns
}
SECONDS_TO_ANSWER = 10.0
LONGEST_FOLDER = 40  # letters: Ray puts sockets below it, whose names the system limits to 107


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


class RayEngine(AbstractContextManager["RayEngine"]):
    """Runs tasks on a Ray cluster; see `Engine`."""

    def __init__(self, cluster: str, workers: int | None = None) -> None:
        most = worker_count(workers)
        self._most = workers
        self.threads = 1
        self._open = ExitStack()
        if cluster == "auto":
            self.threads = max(1, core_count() // most)
            self._open.enter_context(_started_ray(most * self.threads))
        else:
            self._open.enter_context(_joined_ray(cluster))
        self._letters = Letters()
        self._values: dict[str, Any] = {}  # by their keys
        self._perform = ray.remote(_perform).options(num_cpus=self.threads, max_retries=0)

    @property
    def workers(self) -> int:
        """How many tasks run at a time: as many as asked for, or as the cluster's cores at this moment allow."""
        if self._most is not None:
            return self._most
        return max(1, int(ray.cluster_resources().get("CPU", 0)) // self.threads)

    def share(self, value: Any, *, key: str | None = None) -> object:
        """A handle of `value`, copied to this node's object store, and to that of another node with its first task."""
        if key is None:
            return ray.put(value)
        if key not in self._values:
            self._values[key] = ray.put(value)
        return self._values[key]

    def crew(self, size: int | None = None) -> RayCrew:
        """Start actors that keep what they have from call to call; see `Crew`."""
        return RayCrew(size or self.workers, self.threads)

    def free(self) -> None:
        """Forget the handles: Ray frees what nobody refers to."""
        self._values = {}

    def run(
        self, function: TaskFunction, tasks: Iterable[Any], *, shared: Any = None, listener: TaskListener | None = None
    ) -> Generator[Done, None, None]:
        """The results of the tasks as they come; see `Engine.run`."""
        run = _RayRun(self._perform, self._letters, shared)
        # Ray's pickle also takes what the main script defines.
        options: dict[str, Any] = {"is_heard": listener is not None, "dumps": cloudpickle.dumps}
        waiting = (Work.of(function, task, number, **options) for number, task in enumerate(tasks))
        try:
            run.give_out(waiting, self._most_given())
            while run.given:
                for outcome in run.finished(listener):
                    run.give_out(waiting, self._most_given())
                    yield outcome
        finally:
            run.cancel()

    def _most_given(self) -> int:
        return AHEAD * self.workers if self._most is None else self._most

    def __exit__(self, *_: object) -> None:
        if ray.is_initialized():
            self._letters.close()
        del self._letters
        self.free()
        self._open.close()


class _RayRun:
    """The tasks of one `run` that Ray was given and has not finished."""

    def __init__(self, perform: Any, letters: Letters, shared: Any) -> None:
        self.given: dict[Any, Work] = {}
        self._perform, self._letters, self._shared = perform, letters, shared

    def give_out(self, waiting: Iterator[Work], most: int) -> None:
        """Give out tasks until `most` of them are under way."""
        while len(self.given) < most and (following := next(waiting, None)) is not None:
            self._give(following)

    def _give(self, work: Work) -> None:
        self.given[self._perform.remote(work, sys.path, self._shared, self._letters.mailbox)] = work

    def finished(self, listener: TaskListener | None) -> Iterator[Done]:
        """Wait until something happens, and yield the results that are there."""
        ready, _ = ray.wait([self._letters.arrival, *self.given], num_returns=1)
        if self._letters.arrival in ready:
            self._hear(listener)
        for reference in ray.wait(list(self.given), num_returns=len(self.given), timeout=0)[0]:
            done = self._outcome(reference, self.given.pop(reference), listener)
            if done is not None:
                yield done

    def _outcome(self, reference: Any, work: Work, listener: TaskListener | None) -> Done | None:
        """The result of a task that ended; None if it was lost and was given out again."""
        try:
            outcome, posted = ray.get(reference)
        except LOST as error:
            if work.tries == MAX_TRIES:
                told = f"task {work.number} was tried {MAX_TRIES} times, and each time its worker or node died: {error}"
                raise ClusterError(told) from None
            self._give(replace(work, tries=work.tries + 1))
            return None
        except RayError as error:
            cause = getattr(error, "cause", error)
            raise ClusterError(f"task {work.number} could not be run, or its result not sent: {cause}") from None
        if posted:
            self._hear(listener)
        if isinstance(outcome, Failure):
            outcome.raise_here()
        assert isinstance(outcome, Done)
        return outcome

    def _hear(self, listener: TaskListener | None) -> None:
        for number, message in self._letters.take():
            hear(number, message, listener)

    def cancel(self) -> None:
        """End the tasks under way."""
        for reference in self.given if ray.is_initialized() else ():
            ray.cancel(reference, force=True)
        self.given = {}


def _perform(work: Work, path: list[str], shared: Any, mailbox: Any) -> tuple[Done | Failure, bool]:
    """The result or the error of the task, and whether it posted anything; all of that has arrived in the mailbox."""
    sys.path += [place for place in path if place not in sys.path]
    sender = Sender(mailbox, work.number)
    outcome = perform(work, lambda: shared, sender.post)
    sender.arrive()
    return outcome, sender.has_posted


@contextmanager
def _started_ray(n_cpus: int) -> Iterator[None]:
    """A Ray on this machine while the block lasts."""
    usual = tempfile.gettempdir()
    with scratch_folder("ray", usual if len(usual) <= LONGEST_FOLDER - 23 else "/tmp") as folder:
        try:
            with _on_loopback():
                places = {"_node_ip_address": LOOPBACK, "_temp_dir": folder}
                _init(address="local", num_cpus=n_cpus, include_dashboard=False, **places)
            yield
        finally:
            ray.shutdown()


@contextmanager
def _joined_ray(address: str) -> Iterator[None]:
    """The cluster at `address` while the block lasts; one that this process has joined already stays joined."""
    if ray.is_initialized():
        yield
        return
    _check_reachable(address)
    on_loopback = _on_loopback() if address.startswith(f"{LOOPBACK}:") else nullcontext()
    try:
        with on_loopback:
            _init(address=address)
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise where nobody listens at `address`: Ray itself would ask again for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    told = f"a cluster is local, auto, or the HOST:PORT of a Ray cluster, got {address!r}"
    require(bool(host) and port.isdecimal(), told)
    try:
        socket.create_connection((host, int(port)), SECONDS_TO_ANSWER).close()
    except OSError as error:
        raise ClusterError(f"there is no Ray cluster to join at {address}: {error}") from None


@contextmanager
def _on_loopback() -> Iterator[None]:
    """Have Ray keep the loopback address, as it does on systems where it knows no clusters.

    Elsewhere it takes "127.0.0.1" for the address that others see, and listens there: whoever reaches it can run code.
    """
    earlier, ray_constants.ENABLE_RAY_CLUSTER = ray_constants.ENABLE_RAY_CLUSTER, False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = earlier
    if ray.util.get_node_ip_address() != LOOPBACK:
        raise ClusterError(f"this version of Ray, {ray.__version__}, cannot be kept to {LOOPBACK}")


def _init(**options: object) -> None:
    """Start or join; what workers print stays in Ray's files, since stdout here is for results."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        where = options["address"]
        what = "Ray cannot be started here" if where == "local" else f"there is no Ray cluster to join at {where}"
        raise ClusterError(f"{what}: {error}") from None
