"""The journal: what was served and what users did, appended as lines of JSON, grouped, and on the disk before it is
acknowledged.

Each process has two files of its own, of lists and of events, which it holds locked: a file that nobody holds is
finished, whether its process ended or was killed. A line that a kill cut off was never acknowledged, and is left out.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from rankwright.container.locks import lock_file
from rankwright.serve.features import Id

log = logging.getLogger(__name__)

FLUSH_SECONDS = 0.05  # that a served list may wait for the disk
MOST_BYTES = 64 * 2**20  # of a file, after which another is begun
REMEMBERED_EVENTS = 100_000  # ids that a process knows again
LISTS, EVENTS = "lists", "events"  # what the names of files begin with


class ServedList(msgspec.Struct, omit_defaults=True):
    """A list as it was served: ids in the order shown, and who made it."""

    id: str
    time: float
    query: Id
    shown: list[Id]
    policy: str
    teams: str = ""  # of an interleaved list: whose choice each document was, "a" or "b"
    choices: tuple[list[Id], list[Id]] | None = None  # what both wanted to show, from which propensities follow
    features: bytes = b""  # float32 of the shown documents, where they are kept


class ClickEvent(msgspec.Struct):
    """What a user did with a list."""

    event_id: str
    list_id: str
    clicked: list[Id]
    time: float = 0.0


class Journal:
    """Appends to files of a folder; one for each process."""

    def __init__(self, folder: str | os.PathLike[str], *, file_seconds: float = 60.0) -> None:
        self.folder, self._file_seconds = Path(folder), file_seconds
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._wakes = threading.Event()
        self._stopped = False
        self._lists: list[bytes] = []
        self._events: list[bytes] = []
        self._acknowledged: list[asyncio.Future[None]] = []
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._thread: threading.Thread | None = None
        self._encode = msgspec.json.Encoder().encode

    def start(self) -> None:
        """Open this process's files."""
        self._token, self._count = uuid.uuid4().hex[:16], 0
        self._files = {kind: JournalFile(self.folder, kind) for kind in (LISTS, EVENTS)}
        self._thread = threading.Thread(target=self._write_often, name="journal", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Write what is left, and let go of the files."""
        if self._thread is None:
            return
        self._stopped = True
        self._wakes.set()
        self._thread.join()
        for file in self._files.values():
            file.close()

    def new_list_id(self) -> str:
        """An id that no other list has."""
        self._count += 1
        return f"{self._token}-{self._count:x}"

    def serve(self, served: ServedList) -> None:
        """Note a list; it is on the disk within a twentieth of a second."""
        self._lists.append(self._encode(served))

    async def keep(self, event: ClickEvent) -> bool:
        """Note an event, and return once it is on the disk; whether this process had not seen it before."""
        is_new = event.event_id not in self._seen
        self._seen[event.event_id] = None
        if len(self._seen) > REMEMBERED_EVENTS:
            self._seen.popitem(last=False)
        done = asyncio.get_running_loop().create_future()
        with self._lock:
            self._events.append(self._encode(event))
            self._acknowledged.append(done)
        self._wakes.set()
        await done
        return is_new

    def _write_often(self) -> None:
        while not self._stopped:
            self._wakes.wait(FLUSH_SECONDS)
            self._wakes.clear()
            try:
                self._write()
            except OSError:
                log.exception("the journal could not be written")
        self._write()

    def _write(self) -> None:
        """Write what came since the last time; what comes meanwhile goes together into the next write."""
        with self._lock:
            lists, self._lists = self._lists, []
            events, self._events = self._events, []
            waiting, self._acknowledged = self._acknowledged, []
        try:
            # Lists first: an event on the disk has its list there, if the same process served it.
            for kind, lines in ((LISTS, lists), (EVENTS, events)):
                if lines:
                    self._files[kind].append(lines)
                self._files[kind].finish_if_old(self._file_seconds)
        except OSError as error:
            _resolve(waiting, error)
            raise
        _resolve(waiting, None)


def _resolve(waiting: list[asyncio.Future[None]], error: OSError | None) -> None:
    for done in waiting:
        done.get_loop().call_soon_threadsafe(_settle, done, error)


def _settle(done: asyncio.Future[None], error: OSError | None) -> None:
    if done.cancelled():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)


class JournalFile:
    """A file that lines are appended to, locked while it is in use."""

    def __init__(self, folder: Path, kind: str) -> None:
        self._folder, self._kind = folder, kind
        self._open()

    def _open(self) -> None:
        final = self._folder / f"{self._kind}-{time.time_ns():020d}-{os.getpid()}.jsonl"
        hidden = final.with_name(f".{final.name}.new")
        self._file: BinaryIO = hidden.open("xb", buffering=0)
        lock_file(self._file.fileno())  # before others see it: what has its name and no lock is finished
        hidden.rename(final)
        self._size, self._since = 0, time.monotonic()

    def append(self, lines: list[bytes]) -> None:
        """Write lines, and return when they are on the disk."""
        content = b"\n".join(lines) + b"\n"
        view = memoryview(content)
        while view:
            view = view[self._file.write(view) :]
        os.fsync(self._file.fileno())
        self._size += len(content)
        if self._size > MOST_BYTES:
            self._begin_another()

    def finish_if_old(self, seconds: float) -> None:
        """Begin another file if this one has lines and was begun so long ago: only finished ones become segments."""
        if self._size and time.monotonic() - self._since > seconds:
            self._begin_another()

    def _begin_another(self) -> None:
        self.close()
        self._open()

    def close(self) -> None:
        """Let go of the file: it is finished."""
        self._file.close()


def journal_files(folder: Path, kind: str) -> list[Path]:
    """The files of a kind, the oldest first."""
    return sorted(folder.glob(f"{kind}-*.jsonl"))


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Whether nobody writes to a file, and nobody can while this lasts."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        yield False
        return
    with file:
        try:
            lock_file(file.fileno())
        except OSError:
            yield False
            return
        yield True


def read_lines(path: Path, kind: type[Any]) -> list[Any]:
    """The whole lines of a file, decoded; a last one that was cut off is left out."""
    decoder = msgspec.json.Decoder(kind)
    found = []
    for line in path.read_bytes().split(b"\n")[:-1]:
        try:
            found.append(decoder.decode(line))
        except msgspec.DecodeError:
            log.warning("%s: a line cannot be read and is left out", path.name)
    return found
