"""Compressed streams: gzip, and Zstandard where its package is installed.

Files are recognised by their first bytes when read, by their name when written.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import IO, Any, Protocol

from rankwright.errors import FileFormatError, MissingExtraError


class Decoder(Protocol):
    """What decompresses one gzip member or Zstandard frame; `zlib` and `zstandard` have such objects."""

    @property
    def eof(self) -> bool:
        """Whether the end of the member or frame was reached."""

    @property
    def unused_data(self) -> bytes:
        """The bytes that were given beyond that end."""

    def decompress(self, data: bytes, /) -> bytes:
        """What `data` adds to the decompressed bytes."""


@dataclass(frozen=True, slots=True)
class Compression:
    """One way to compress a file."""

    suffix: str
    magic: bytes  # how a compressed file begins
    chunk_size: int  # compressed bytes taken at a time: bounds the memory that hostile data can claim
    padding: bytes  # bytes that may come between and after members
    decoder: Callable[[], Decoder]
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

UNSUPPORTED: Mapping[bytes, str] = {b"BZh": "bzip2", b"\xfd7zX": "xz", b"PK\x03\x04": "zip"}


def compression_of_bytes(first: bytes) -> Compression | None:
    """The compression of a file that begins with `first`, None for a plain one."""
    return next((kind for kind in COMPRESSIONS if first.startswith(kind.magic)), None)


def compression_of_name(path: str) -> Compression | None:
    """The compression that a file of this name should have, None for none."""
    suffix = PurePath(path).suffix.lower()
    return next((kind for kind in COMPRESSIONS if suffix == kind.suffix), None)


def check_supported(first: bytes, name: str) -> None:
    """Raise an error where a file that begins with `first` is compressed in a way that cannot be read."""
    for magic, tool in UNSUPPORTED.items():
        if first.startswith(magic):
            raise FileFormatError(name, f"is compressed with {tool}; wanted plain text, .gz or .zst")


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
            plain = _decompress(decoder, rest, kind, name)
            if plain:
                yield plain
            rest = decoder.unused_data if decoder.eof else b""
    if not decoder.eof:
        raise FileFormatError(name, f"ends in the middle of its {kind.suffix} data: the file is truncated")


def _decompress(decoder: Decoder, data: bytes, kind: Compression, name: str) -> bytes:
    try:
        return decoder.decompress(data)
    except kind.damage() as error:
        raise FileFormatError(name, f"has damaged {kind.suffix} data: {error}") from None
