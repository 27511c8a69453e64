"""A process that works on one task after another, until the driver that started it is gone.

driver                                  worker
  Share, then the memory itself  ────►  maps it
  Work  ─────────────────────────────►  performs it
  Ping  ─────────────────────────────►  posts it back at once
  ◄─────────────────────────────────── Posted, as often as the task has something to tell; then Done or Failure
"""

from __future__ import annotations

import os
import pickle
import socket
import threading
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from rankwright.cluster.engine import Done
from rankwright.cluster.shared_memory import Layout, mapped_value
from rankwright.cluster.tasks import Failure, Ping, Posted, Share, Work, failure, perform
from rankwright.errors import ClusterError


def main(descriptor: int) -> None:
    """Work on what comes through the connection of that descriptor; never returns."""
    connection, inbox = Connection(descriptor), SimpleQueue[Any]()
    driver, shared = _Driver(connection), _Shared()
    threading.Thread(target=_listen, args=(connection, inbox, driver), daemon=True).start()
    while True:
        message = inbox.get()
        if isinstance(message, Work):
            driver.finish(message.number, perform(message, shared.value, driver.post))
        else:
            shared = message


def _listen(connection: Connection, inbox: SimpleQueue[Any], driver: _Driver) -> None:
    """Pass on the messages of the driver; when it is gone, end the process, even in the middle of a task."""
    try:
        with socket.fromfd(connection.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as channel:
            while True:
                message: Any = connection.recv()
                if isinstance(message, Ping):
                    driver.post(message)
                    continue
                if isinstance(message, Share):
                    memory = -1 if message.layout is None else socket.recv_fds(channel, 1, 1)[1][0]
                    message = _Shared(message.layout, memory)
                inbox.put(message)
    except (EOFError, OSError):
        os._exit(0)


class _Driver:
    """Sends messages to the driver; tasks may post from several threads."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._lock = connection, threading.Lock()

    def post(self, message: Any) -> None:
        self._send(Posted(message))

    def finish(self, number: int, outcome: Done | Failure) -> None:
        try:
            self._send(outcome)
        except Exception as error:  # what cannot be pickled fails before any of it is sent
            self._send(failure(number, ClusterError(f"the result of a task cannot be sent: {error}")))

    def _send(self, message: Any) -> None:
        content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
        with self._lock:
            self._connection.send_bytes(content)


class _Shared:
    """The shared value. The first task opens it: this may fail, and only a task can report an error."""

    def __init__(self, layout: Layout | None = None, descriptor: int = -1) -> None:
        self._layout, self._descriptor = layout, descriptor
        self._value: Any = None

    def value(self) -> Any:
        if self._layout is not None:
            self._value, self._layout = mapped_value(self._descriptor, self._layout), None
            os.close(self._descriptor)
        return self._value
