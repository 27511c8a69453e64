"""Room for large libraries, asked for before they are loaded.

Where the address space of a process is limited (`ulimit -v`) and none is left, Python and the libraries that it loads
abort, or never end. What is known to be too little is told in one line instead.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

from rankwright.errors import NotEnoughMemoryError
from rankwright.memory import free_address_space, gigabytes

# Bytes that each maps, with all that it loads, beside NumPy and on two cores: many times what it uses.
MAPPED = {"numpy": 130e6, "polars": 280e6, "pyarrow": 200e6, "scipy": 140e6, "sklearn": 440e6, "torch": 520e6}


class RoomFinder(MetaPathFinder):
    """Finds no module, but refuses to load a library for which no room is left."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /) -> None:  # noqa: ARG002
        """Nothing, so that the next finder is asked."""
        if MAPPED.get(fullname, 0) > (free := free_address_space()):
            raise NotEnoughMemoryError(
                f"loading {fullname} takes {gigabytes(MAPPED[fullname])} of address space, and `ulimit -v` leaves "
                f"{gigabytes(free)}; raise that limit"
            )


def watch_room() -> None:
    """Ask for room from here on, if the address space of this process is limited at all."""
    if free_address_space() < sys.maxsize:
        sys.meta_path.insert(0, RoomFinder())
