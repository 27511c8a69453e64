"""Where bytes come from and where they go: plain, .gz and .zst files, here or elsewhere, standard input and output.

The path `-` means standard input when reading and standard output when writing. Compressed files are recognised by
their first bytes when read, by their name when written; Zstandard needs its package.
"""

from __future__ import annotations

import io
import os
import sys
import threading
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePath
from queue import Queue
from typing import IO, TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankwright.container.atomic import NamedOutput, atomic_file, errors_name
from rankwright.container.locks import scratch_folder
from rankwright.errors import FileFormatError, InputError, MissingExtraError, require_input, require_type
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


@dataclass(frozen=True, slots=True)
class Compression:
    """One way to compress a file."""

    suffix: str
    magic: bytes  # how a compressed file begins
    chunk_size: int  # compressed bytes taken at a time: bounds the memory that hostile data can claim
    padding: bytes  # bytes that may come between and after members
    decoder: Callable[[], Any]  # makes what decompresses one member or frame, as `zlib` and `zstandard` have it
    damage: Callable[[], type[Exception]]  # what the decoder raises on damaged data
    writer: Callable[[IO[bytes]], Any]  # a file that compresses into the given one, and does not close it


def _gzip_writer(file: IO[bytes]) -> Any:
    from gzip import GzipFile

    return GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0)  # same data, same bytes


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("reading and writing .zst files", "zstandard", "zstd") from None
    return zstandard


GZIP = Compression(
    suffix=".gz",
    magic=b"\x1f\x8b",
    chunk_size=1 << 16,
    padding=b"\0",
    decoder=lambda: zlib.decompressobj(wbits=16 + zlib.MAX_WBITS),
    damage=lambda: zlib.error,
    writer=_gzip_writer,
)
ZSTANDARD = Compression(
    suffix=".zst",
    magic=b"\x28\xb5\x2f\xfd",
    chunk_size=1 << 12,
    padding=b"",
    decoder=lambda: _zstandard().ZstdDecompressor().decompressobj(),
    damage=lambda: _zstandard().ZstdError,
    writer=lambda file: _zstandard().ZstdCompressor(level=3, write_checksum=True).stream_writer(file, closefd=False),
)
COMPRESSIONS = (GZIP, ZSTANDARD)
LONGEST_MAGIC = 4
UNSUPPORTED = {b"BZh": "bzip2", b"\xfd7zX": "xz", b"PK\x03\x04": "zip"}


def compression_of_bytes(first: bytes) -> Compression | None:
    """The compression of a file that begins with `first`, None for a plain one."""
    return next((kind for kind in COMPRESSIONS if first.startswith(kind.magic)), None)


def compression_of_name(path: str) -> Compression | None:
    """The compression that a file of this name should have, None for none."""
    suffix = PurePath(path).suffix.lower()
    return next((kind for kind in COMPRESSIONS if suffix == kind.suffix), None)


def decompressed(chunks: Iterable[bytes], kind: Compression, name: str) -> Iterator[bytes]:
    """The decompressed bytes, chunk by chunk, of a file of one or more members, which is checked to its end."""
    decoder = kind.decoder()
    for chunk in chunks:
        rest = chunk
        while rest:
            if decoder.eof:
                rest = rest.lstrip(kind.padding) if kind.padding else rest
                if not rest:
                    break
                decoder = kind.decoder()
            try:
                plain = decoder.decompress(rest)
            except kind.damage() as error:
                raise FileFormatError(name, f"has damaged {kind.suffix} data: {error}") from None
            if plain:
                yield plain
            rest = decoder.unused_data if decoder.eof else b""
    if not decoder.eof:
        raise FileFormatError(name, f"ends in the middle of its {kind.suffix} data: the file is truncated")


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
        require_input(name != "", "the name of a file is empty")
    return [os.fspath(path) for path in names]


def plain_size(paths: Sequence[FilePath]) -> int:
    """The bytes of all files together, 0 where they are not known without reading."""
    if any(is_standard(path) or compression_of_name(os.fspath(path)) or not is_file(path) for path in paths):
        return 0
    return sum(map(size_of, paths))


def open_input(path: FilePath) -> io.BufferedIOBase:
    """The decompressed content of a file or of standard input, to be read once from its beginning."""
    name = input_name(path)
    raw: Any = _StandardInput() if is_standard(path) else opened(path)
    file: io.BufferedReader = io.BufferedReader(raw, BINARY_CHECK)
    try:
        first = file.read(LONGEST_MAGIC)
        tool = next((tool for magic, tool in UNSUPPORTED.items() if first.startswith(magic)), None)
        if tool is not None:
            raise FileFormatError(name, f"is compressed with {tool}; wanted plain text, .gz or .zst")
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
    return is_standard(name) or (not is_address(name) and path.exists() and not path.is_file() and not path.is_dir())
