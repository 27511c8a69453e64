"""One copy of a value's arrays for all processes of a machine.

The memory is a file without a name, which lives while a process has it open: a killed one leaves nothing behind. It
holds the pickled value without its arrays, then the arrays, each on its own alignment:

    | pickle | padding | array | padding | array |
"""

from __future__ import annotations

import mmap
import os
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ALIGNMENT = 64  # a cache line, and the widest registers


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the parts of a shared value lie: the pickle first, then its arrays."""

    sizes: tuple[int, ...]

    @property
    def ranges(self) -> Iterator[slice]:
        """The place of each part."""
        start = 0
        for size in self.sizes:
            yield slice(start, start + size)
            start += -(-size // ALIGNMENT) * ALIGNMENT

    @property
    def length(self) -> int:
        """The bytes of all parts; a mapping cannot be empty, and a pickle never is."""
        return max(int(place.stop) for place in self.ranges)


class SharedValue:
    """A value laid out in memory that other processes can map; `descriptor` is that memory."""

    def __init__(self, value: Any) -> None:
        arrays: list[pickle.PickleBuffer] = []
        head = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
        parts = [memoryview(head), *(array.raw() for array in arrays)]
        self.layout = Layout(tuple(part.nbytes for part in parts))
        self.descriptor = _nameless_file()
        os.ftruncate(self.descriptor, self.layout.length)
        with mmap.mmap(self.descriptor, self.layout.length) as memory:
            for place, part in zip(self.layout.ranges, parts, strict=True):
                memory[place] = part

    def close(self) -> None:
        """Give the memory back, once no process maps it any more; closing twice does nothing."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _nameless_file() -> int:
    """The descriptor of a file without a name: in memory, or on systems that have no such thing, on the disk."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("rankwright", os.MFD_CLOEXEC)
    from tempfile import mkstemp

    descriptor, path = mkstemp(prefix="rankwright-")  # macOS: the file lives on while it is open
    Path(path).unlink()
    return descriptor


def mapped_value(descriptor: int, layout: Layout) -> Any:
    """The value that another process shares; its arrays are views of that memory, and keep it alive."""
    memory = memoryview(mmap.mmap(descriptor, layout.length, access=mmap.ACCESS_READ))
    head, *arrays = [memory[place] for place in layout.ranges]
    return pickle.loads(head, buffers=arrays)
