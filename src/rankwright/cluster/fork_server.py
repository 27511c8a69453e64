"""A process that loads what workers need once, and becomes a worker as often as it is asked.

Workers that are forked from it share the memory of what was loaded, PyTorch above all, and are there at once. It has
one thread, so that forking does no harm; the driver itself, which may have many, is never forked.

driver                                          server
  FORK, then the worker's end of a socket  ────►  forks
  ◄──────────────────────────────────────────── the number of the new process
  the number of a process  ────────────────────►  ends it, if it still runs
  ◄──────────────────────────────────────────── its exit code
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import struct
from contextlib import suppress

from rankwright.cluster import worker
from rankwright.cluster.processes import start_python

FORK = 0
_NUMBER = struct.Struct("<q")  # every message is one


class ForkServer:
    """The server as the driver sees it."""

    def __init__(self, threads: int) -> None:
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._process = start_python("rankwright.cluster.fork_server", theirs, threads)
        self._unnumbered: list[ForkedProcess] = []  # processes whose numbers the server has not told yet
        self.is_alive = True  # as far as is known: it has answered so far

    def fork(self, channel: socket.socket) -> ForkedProcess:
        """Ask for a worker at the other end of that socket, without waiting for it to start."""
        born = ForkedProcess(self)
        self._unnumbered.append(born)
        with suppress(OSError):  # where the server is dead, so are its workers
            socket.send_fds(self._channel, [_NUMBER.pack(FORK)], [channel.fileno()])
        return born

    def tell_numbers(self) -> None:
        """Wait until the server has told the numbers of all processes that it was asked for."""
        while self._unnumbered:
            self._unnumbered.pop(0).number = self._answer()

    def end(self, number: int) -> int:
        """End a process, and return its exit code."""
        self.tell_numbers()
        with suppress(OSError):
            self._channel.sendall(_NUMBER.pack(number))
        return self._answer()

    def _answer(self) -> int:
        """The next number that the server tells; minus that of a signal, as in exit codes, if the server is dead."""
        told = b""
        with suppress(OSError):
            told = self._channel.recv(_NUMBER.size, socket.MSG_WAITALL)
        self.is_alive = len(told) == _NUMBER.size
        return int(_NUMBER.unpack(told)[0]) if self.is_alive else -signal.SIGKILL

    def close(self) -> None:
        """End the server; its workers end when their own sockets are closed."""
        self._channel.close()
        self._process.kill()
        self._process.wait()


class ForkedProcess:
    """A worker's process, in the manner of `subprocess.Popen`."""

    def __init__(self, server: ForkServer) -> None:
        self._server = server
        self.number: int | None = None
        self._code: int | None = None

    @property
    def pid(self) -> int:
        """The number of the process; waits until it is there."""
        if self.number is None:
            self._server.tell_numbers()
        assert self.number is not None
        return self.number

    def kill(self) -> None:
        """Do nothing: `wait` ends the process. Only its parent knows that the number still stands for it."""

    def wait(self) -> int:
        """Have the process end, and return its exit code."""
        if self._code is None:
            self._code = self._server.end(self.pid) if self.pid > 0 else self.pid
        return self._code


def main(descriptor: int) -> None:
    """Serve the driver at the other end of that socket until it is gone."""
    with suppress(ImportError):  # whoever needs it will be told
        from rankwright.cluster import gloo  # noqa: F401
    gc.collect()
    gc.freeze()  # a collection in a worker would write to every object, and so copy its page
    with socket.socket(fileno=descriptor) as channel, suppress(ConnectionError):
        while _serve(channel):
            pass


def _serve(channel: socket.socket) -> bool:
    """Do what the driver asks for next; False where it is gone."""
    request, sent, _, _ = socket.recv_fds(channel, _NUMBER.size, 1)
    if len(request) < _NUMBER.size:
        return False
    number = _NUMBER.unpack(request)[0]
    if number != FORK:
        channel.sendall(_NUMBER.pack(_ended(number)))
        return True
    born = os.fork()
    if born == 0:
        channel.close()
        worker.main(sent[0])  # never returns
    os.close(sent[0])
    channel.sendall(_NUMBER.pack(born))
    return True


def _ended(number: int) -> int:
    """The exit code of a child, which is ended if it still runs."""
    os.kill(number, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
