"""A process beside a server that reads its changed models, and hands each over as memory that lies ready.

A thread that reads would hold the interpreter while requests want it, and on a busy processor would take slices of
several milliseconds. This process gives way to others, and who serves maps what it has read.
"""

from __future__ import annotations

import logging
import mmap
import os
import pickle
import signal
import socket
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

log = logging.getLogger(__name__)

ALIGNED = 64  # bytes: where an array may begin
LOWEST = 19  # of priorities: the largest niceness
WHERE = struct.Struct("<QQ")  # where in the memory the rest of an object begins, and how long it is


class ProcessBeside:
    """A forked process that hands over what an iterator gives; it ends with the process that made it.

    `found` is called there, with a function that waits some seconds and tells whether to end. To be made while the
    process has no threads.
    """

    def __init__(self, found: Callable[[Callable[[float], bool]], Iterable[Any]]) -> None:
        self._socket, theirs = socket.socketpair()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                _stand_alone(theirs)
                for one in found(lambda seconds: _is_readable(theirs, seconds)):
                    hand_over(theirs, one)
            except OSError:
                pass  # who served is gone
            except Exception:
                log.exception("the process that reads changed models failed")
            finally:
                os._exit(0)
        theirs.close()

    def __iter__(self) -> Iterator[Any]:
        """What the process hands over, until it ends."""
        while True:
            found = handed_over(self._socket)
            if found is None:
                return
            yield found

    def end(self) -> None:
        """End the process; whoever waits for what it hands over waits no longer."""
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, os.WNOHANG)  # on a busy machine even its end may take a while


def _stand_alone(own: socket.socket) -> None:
    """Let go of all that belongs to the server, whose sockets would stay open here, and give way to everybody."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the server's end is this one's
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for one in list(Path("/dev/fd").iterdir()):  # on Linux and macOS; as many as are open, not as many as may be
        if int(one.name) not in (0, 1, 2, own.fileno()):
            with suppress(OSError):  # the listing's own
                os.close(int(one.name))
    os.nice(LOWEST)


def _is_readable(connection: socket.socket, seconds: float) -> bool:
    """Wait some seconds, or until the other side is gone, since it never writes."""
    import select

    return bool(select.select([connection], [], [], seconds)[0])


def hand_over(connection: socket.socket, thing: Any) -> None:
    """Put an object into memory that both sides map, its arrays as they are."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    with _anonymous_file() as file:
        places = []
        for buffer in buffers:
            file.write(bytes(-file.tell() % ALIGNED))
            raw = buffer.raw()
            places.append((file.tell(), raw.nbytes))
            file.write(raw)
        begin, rest = file.tell(), pickle.dumps((head, places))
        file.write(rest)
        file.flush()
        socket.send_fds(connection, [WHERE.pack(begin, len(rest))], [file.fileno()])


def handed_over(connection: socket.socket) -> Any:
    """The next object, its arrays read-only where they lie; None where the other side is gone."""
    told, descriptors, _, _ = socket.recv_fds(connection, WHERE.size, 1)
    if not descriptors:
        return None
    try:
        memory = memoryview(mmap.mmap(descriptors[0], 0, prot=mmap.PROT_READ))
    finally:
        os.close(descriptors[0])
    begin, size = WHERE.unpack(told)
    head, places = pickle.loads(memory[begin : begin + size])
    return pickle.loads(head, buffers=[memory[start : start + length] for start, length in places])


def _anonymous_file() -> BinaryIO:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("model"), "w+b")
    return cast("BinaryIO", tempfile.TemporaryFile())
