"""How much memory is free, and a clear error before an allocation that would exceed it.

The system grants memory that it does not have, and ends the process when it is written to: so large needs are compared
with what is free before they are asked for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from rankwright.errors import NotEnoughMemoryError

BYTES_PER_WEIGHT = 40  # of a net in training: the weight, its derivative, what steps remember, the best so far
SMALL = 256 << 20  # bytes: smaller allocations are not checked
SYSTEM = Path("/proc/meminfo")
OWN_PAGES = Path("/proc/self/statm")
OWN_GROUPS = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")


# The files in which a control group says what its processes may use and what they use, and the entry of its statistics
# that says what could be dropped.
VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
VERSION_2 = ("memory.max", "memory.current", "inactive_file")


def require_memory(n_bytes: int, what: str) -> None:
    """Raise where `what`, which is about to be allocated, needs more memory than is free."""
    if n_bytes > SMALL and n_bytes > (free := free_memory()):
        raise NotEnoughMemoryError(f"{what} needs {gigabytes(n_bytes)} of memory, and {gigabytes(free)} are free")


def require_weights(n_weights: int, n_features: int) -> None:
    """Raise where a net of so many weights could not be trained in the memory that is free."""
    require_memory(BYTES_PER_WEIGHT * n_weights, f"training a net of {n_features:,} features and {n_weights:,} weights")


def gigabytes(n_bytes: float) -> str:
    """A number of bytes in words."""
    return f"{n_bytes / 1e9:,.1f} GB"


def free_memory() -> int:
    """The bytes that this process can still use: what the system, its own limit and its control groups leave."""
    return max(0, min([_free_in_system(), free_address_space(), *_free_in_groups()]))


def free_address_space() -> int:
    """The bytes that this process may still map, which `ulimit -v` limits; `sys.maxsize` where nothing does."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        mapped = int(OWN_PAGES.read_text().split()[0]) * resource.getpagesize()
    except (ModuleNotFoundError, OSError):  # Windows has no limits, and macOS does not hold processes to this one
        return sys.maxsize
    return sys.maxsize if limit == resource.RLIM_INFINITY else max(0, limit - mapped)


def _free_in_system() -> int:
    try:
        lines = SYSTEM.read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):  # another system: all there is
        if not hasattr(os, "sysconf"):  # Windows, where the limit is not known
            return sys.maxsize
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def peak_memory() -> int:
    """The most bytes that this process has had so far; 0 where the system does not tell (Windows)."""
    try:
        import resource
    except ModuleNotFoundError:
        return 0
    # macOS counts bytes, others units of 1,024.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _free_in_groups() -> Iterator[int]:
    try:
        lines = OWN_GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, kinds, path = line.split(":", 2)
        if kinds == "" or "memory" in kinds.split(","):
            root, files = (GROUPS, VERSION_2) if kinds == "" else (GROUPS / "memory", VERSION_1)
            own = root / path.lstrip("/")
            for folder in (own, *own.parents):  # a limit holds for all groups below
                yield from _free_in_group(folder, *files)
                if folder == root:
                    break


def _free_in_group(folder: Path, limit_file: str, used_file: str, droppable: str) -> Iterator[int]:
    """What the group leaves; nothing where it has no limit, or is not to be seen from inside a container."""
    try:
        limit, used = (int((folder / name).read_text()) for name in (limit_file, used_file))
        statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):  # no limit is the word "max"
        return
    yield limit - used + int(statistics.get(droppable, 0))
