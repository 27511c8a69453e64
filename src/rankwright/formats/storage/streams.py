"""Where bytes come from and where they go: plain, .gz and .zst files, here or elsewhere, standard input and output.

The path `-` means standard input when reading and standard output when writing.
"""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from itertools import chain
from pathlib import Path, PurePath
from queue import Queue
from typing import IO, TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankwright.container.atomic import NamedOutput, atomic_file, errors_name
from rankwright.container.locks import scratch_folder
from rankwright.errors import FileFormatError, InputError, require_type
from rankwright.formats.storage.compressed import (
    LONGEST_MAGIC,
    Compression,
    check_supported,
    compression_of_bytes,
    compression_of_name,
    decompressed,
)
from rankwright.formats.storage.places import FilePath, is_address, is_file, opened, size_of

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Paths: TypeAlias = FilePath | Sequence[FilePath]
ByteArray: TypeAlias = NDArray[np.uint8]
Item = TypeVar("Item")

STANDARD = "-"
BLOCK_SIZE = 4 << 20  # bytes: large enough for threads to share, small enough to stay in the cache
LONGEST_LINE = 32 << 20  # bytes: a longer line is taken for a file that is not lines of text
BLOCKS_AHEAD = 2  # read or decompressed while the consumer works
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
COPIED_AT_ONCE = 1 << 20  # bytes
BINARY_CHECK = 1 << 16  # bytes looked at to tell a binary file from text


class LongLineError(FileFormatError):
    """A line is too long; the code that counts lines adds its number."""


def is_standard(path: FilePath) -> bool:
    """Whether `path` means standard input or output."""
    require_type(path, (str, os.PathLike), "a file", "named by a text or a Path")
    return os.fspath(path) == STANDARD


def input_name(path: FilePath) -> str:
    """What messages call the input: its path as given, or `standard input`."""
    return "standard input" if is_standard(path) else os.fspath(path)


def input_names(paths: Sequence[FilePath]) -> str:
    """What messages call several inputs."""
    return ", ".join(map(input_name, paths))


def list_of_paths(paths: Paths) -> list[str]:
    """The path or paths as a list of texts."""
    require_type(paths, (str, os.PathLike, Iterable), "a file", "named by a text, a Path, or a list of them")
    names = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not names:
        raise InputError("there is no file to read: paths must name at least one file")
    for name in names:
        require_type(name, (str, os.PathLike), "a file", "named by a text or a Path")
    return [os.fspath(path) for path in names]


def plain_size(paths: Sequence[FilePath]) -> int:
    """The bytes of all files together, 0 where they are not known without reading."""
    n_bytes = 0
    for path in paths:
        if is_standard(path) or compression_of_name(os.fspath(path)) is not None or not is_file(path):
            return 0
        n_bytes += size_of(path)
    return n_bytes


def open_input(path: FilePath) -> io.BufferedIOBase:
    """The decompressed content of a file or of standard input, to be read once from its beginning."""
    name = input_name(path)
    raw: Any = _StandardInput() if is_standard(path) else opened(path)
    file: io.BufferedReader = io.BufferedReader(raw, BINARY_CHECK)
    try:
        first = file.read(LONGEST_MAGIC)
        check_supported(first, name)
        kind = compression_of_bytes(first)
        if kind is None and file.seekable():
            file.seek(0)
            return file
        return io.BufferedReader(_ChunkReader(file, first, kind, name), BINARY_CHECK)
    except BaseException:
        file.close()
        raise


def open_line_blocks(
    path: FilePath, block_size: int = BLOCK_SIZE, longest_line: int = LONGEST_LINE
) -> Generator[ByteArray, None, None]:
    """The text of a file or of standard input in blocks of whole lines, read ahead in a thread.

    Blocks have about `block_size` bytes, more where a line is longer. Every block ends with a newline, except the last
    one where the file does not. A byte order mark is dropped; a binary file or an endless line is an error. A block
    may be used until the next one is asked for: then its memory is filled again.
    """
    free_buffers: list[ByteArray] = []
    for buffer, length in _ahead(_line_blocks(path, block_size, longest_line, free_buffers)):
        yield buffer[:length]
        free_buffers.append(buffer)


@contextmanager
def atomic_output(path: FilePath) -> Iterator[IO[bytes]]:
    """A binary file that appears under its name, complete, when the block ends, and not at all where it fails.

    Names that end in .gz or .zst are compressed. Standard output and special files are written to directly.
    """
    if is_standard(path):
        yield sys.stdout.buffer
        with errors_name("standard output"):
            sys.stdout.buffer.flush()
        return
    if Path(path).exists() and not Path(path).is_file():
        with io.BufferedWriter(NamedOutput(path, "wb", path)) as device:
            yield device
        return
    kind = compression_of_name(os.fspath(path))
    with atomic_file(path) as file, nullcontext(file) if kind is None else kind.writer(file) as output:
        yield output


@contextmanager
def atomic_text_output(path: FilePath) -> Iterator[IO[str]]:
    """The same as `atomic_output` for UTF-8 text."""
    with atomic_output(path) as output:
        text = io.TextIOWrapper(output, encoding="utf-8", newline="\n")
        try:
            yield text
        finally:
            text.detach()  # flushes, and leaves closing to the outer block


class _StandardInput(io.RawIOBase):
    """Standard input as a file whose closing leaves standard input open."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        stream: Any = sys.stdin.buffer
        return int(stream.readinto(buffer))


class _ChunkReader(io.RawIOBase):
    """A file whose bytes come in chunks of any size: decompressed, or read from a pipe."""

    def __init__(self, file: io.BufferedReader, first: bytes, kind: Compression | None, name: str) -> None:
        super().__init__()
        self._file = file
        size = BINARY_CHECK if kind is None else kind.chunk_size
        chunks = chain([first], iter(lambda: file.read1(size), b""))
        self._chunks = chunks if kind is None else decompressed(chunks, kind, name)
        self._chunk = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        if not self._chunk:
            self._chunk = memoryview(next(self._chunks, b""))
        target = memoryview(buffer).cast("B")
        count = min(len(target), len(self._chunk))
        target[:count] = self._chunk[:count]
        self._chunk = self._chunk[count:]
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _line_blocks(
    path: FilePath, block_size: int, longest_line: int, free_buffers: list[ByteArray]
) -> Iterator[tuple[ByteArray, int]]:
    """Buffers, and how many of their bytes are whole lines; buffers that come back are used again."""
    name = input_name(path)
    with open_input(path) as file:
        first = file.read(len(BYTE_ORDER_MARK))
        # The beginning of a line whose end was not read yet.
        carried: ByteArray = np.frombuffer(b"" if first == BYTE_ORDER_MARK else first, np.uint8)
        is_first = True
        while True:
            buffer = _buffer_of(max(block_size, min(2 * len(carried), longest_line)), free_buffers)
            buffer[: len(carried)] = carried
            length = len(carried) + file.readinto(buffer[len(carried) :].data)  # stops short only at the end
            if is_first and (buffer[: min(length, BINARY_CHECK)] == 0).any():
                raise FileFormatError(name, "is a binary file; wanted text")
            is_first = False
            if length < len(buffer):
                if length:
                    yield buffer, length
                return
            lines_end = _after_last_newline(buffer)
            carried = buffer[lines_end:]
            if len(carried) >= longest_line:
                raise LongLineError(name, f"the line has more than {longest_line} bytes; wanted lines of text")
            if lines_end:
                yield buffer, lines_end


def _buffer_of(size: int, free_buffers: list[ByteArray]) -> ByteArray:
    """A buffer of `size` bytes: one that came back if possible, because the system has to clear fresh memory."""
    while free_buffers:
        buffer = free_buffers.pop()
        if len(buffer) == size:
            return buffer
    return np.empty(size, np.uint8)


def _after_last_newline(block: ByteArray) -> int:
    """The place after the last newline, 0 where there is none; most lines end near the end of the block."""
    for window in (BINARY_CHECK, len(block)):
        start = max(0, len(block) - window)
        place = block[start:].tobytes().rfind(b"\n")
        if place >= 0:
            return start + place + 1
    return 0


def _ahead(items: Iterator[Item]) -> Generator[Item, None, None]:
    """The same items, made in a thread while the consumer works on earlier ones."""
    ready: Queue[tuple[Item | None, BaseException | None]] = Queue(BLOCKS_AHEAD)
    abandoned = threading.Event()

    def produce() -> None:
        try:
            for item in items:
                ready.put((item, None))
                if abandoned.is_set():
                    return
            ready.put((None, None))
        except BaseException as error:
            ready.put((None, error))
        finally:
            if isinstance(items, Generator):
                items.close()  # closes the file

    # A daemon, because a thread that waits for standard input must not keep the program from ending.
    threading.Thread(target=produce, name="rankwright-read-ahead", daemon=True).start()
    try:
        while True:
            item, error = ready.get()
            if error is not None:
                raise error
            if item is None:
                return
            yield item
    finally:
        abandoned.set()
        while not ready.empty():  # so that a producer that waits to put something sees that no one wants more
            ready.get_nowait()


@contextmanager
def spooled(paths: Paths) -> Iterator[list[str]]:
    """The same paths, with standard input and pipes replaced by temporary files that hold their content.

    Errors still name the input.
    """
    name_of: dict[str, str] = {}  # of the input that a temporary file holds
    with ExitStack() as files:
        names = []
        for name in list_of_paths(paths):
            spool = files.enter_context(_copied(name)) if is_read_once(name) else name
            names.append(spool)
            name_of[spool] = name
        try:
            yield names
        except FileFormatError as error:
            if name_of.get(error.path, error.path) == error.path:
                raise
            raise FileFormatError(input_name(name_of[error.path]), error.problem, error.line) from None


@contextmanager
def _copied(name: str) -> Iterator[str]:
    from shutil import copyfileobj  # loads much, and is seldom needed

    with scratch_folder("spool") as folder:
        copy = Path(folder, "input").with_suffix(PurePath(name).suffix)  # with the ending that may tell the format
        told = f"the copy of {input_name(name)} in {copy.parent.parent}"
        with open_input(name) as source, io.BufferedWriter(NamedOutput(copy, "xb", told)) as file:
            copyfileobj(source, file, COPIED_AT_ONCE)  # decompressed
        yield str(copy)


def is_read_once(name: str) -> bool:
    """Whether the path can be read only once, as standard input and pipes can."""
    path = Path(name)
    if is_address(name):
        return False
    return is_standard(name) or (path.exists() and not path.is_file() and not path.is_dir())
