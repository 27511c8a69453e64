"""A worker as the driver sees it: a process, and a socket to talk through.

Workers are never forked from the driver, so that its threads do them no harm; and the driver's main script is not run
again in them, so that it needs no guard. Their output goes to stderr: stdout is for results.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pickle import loads
from typing import Any, Protocol

from rankwright.cluster.shared_memory import SharedValue
from rankwright.cluster.tasks import Share, Work

# The search path is set first, so that workers can import what the driver can.
START = (
    "import json, sys; from importlib import import_module; sys.path[:] = json.loads(sys.argv[3]); "
    "import_module(sys.argv[1]).main(int(sys.argv[2]))"
)
POOL = {"ARROW_DEFAULT_MEMORY_POOL": "system"}  # other pools of Arrow keep tens of megabytes for later
# Libraries read these when they are loaded; our own kernels follow the first.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def start_python(module: str, channel: socket.socket, threads: int) -> subprocess.Popen[bytes]:
    """Start a process that calls the `main` of a module with its end of a socket."""
    number = channel.fileno()
    return subprocess.Popen(
        [sys.executable, "-c", START, module, str(number), json.dumps(sys.path)],
        pass_fds=[number],
        stdin=subprocess.DEVNULL,
        stdout=2,
        env=POOL | os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads)),
        process_group=0,  # Ctrl-C in the terminal is for the driver, which ends its workers itself
    )


class Process(Protocol):
    """What is asked of a process that was started, however it was."""

    @property
    def pid(self) -> int:
        """Its number."""

    def kill(self) -> None:
        """Have it end."""

    def wait(self) -> int:
        """Its exit code, once it has ended."""


class WorkerProcess:
    """A process that works on one task at a time, which is its `work`; started afresh, or by `fork`."""

    work: Work

    def __init__(self, threads: int, fork: Callable[[socket.socket], Process] | None = None) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            started = start_python("rankwright.cluster.worker", theirs, threads) if fork is None else fork(theirs)
        self._process: Process = started
        self.connection = Connection(ours.detach())
        self._shared: SharedValue | None = None

    def give(self, work: Work, shared: SharedValue | None) -> None:
        """Have the worker begin the task; if the worker is dead, `take` returns None."""
        self.work = work
        try:
            if shared is not self._shared:
                self._send_memory(shared)
            self.connection.send(work)
        except OSError:
            pass

    @property
    def process_id(self) -> int:
        """The number of the process."""
        return self._process.pid

    def send(self, message: Any) -> None:
        """Send a message to the worker; if the worker is dead, `take` returns None."""
        with suppress(OSError):
            self.connection.send(message)

    def _send_memory(self, shared: SharedValue | None) -> None:
        self._shared = shared
        self.connection.send(Share(None if shared is None else shared.layout))
        if shared is not None:
            with socket.fromfd(self.connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as channel:
                socket.send_fds(channel, [b"."], [shared.descriptor])

    def take(self) -> Any:
        """The next message of the worker; None if it is dead."""
        try:
            return loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            return None

    def kill(self) -> str:
        """End the process if it still runs, and return in words how it ended."""
        self.connection.close()
        self._process.kill()
        code = self._process.wait()
        return f"ended with exit code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"
