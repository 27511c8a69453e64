from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # workers import the tasks by name, along the driver's search path


def children() -> set[int]:
    """The processes that this one has started and that still run."""
    threads = Path("/proc/self/task").iterdir()
    return {int(pid) for thread in threads for pid in (thread / "children").read_text().split()}


def names_in(folder: str) -> set[str]:
    return {path.name for path in Path(folder).iterdir()}


@pytest.fixture
def leaves_nothing_behind():
    processes, segments, n_open = children(), names_in("/dev/shm"), len(names_in("/proc/self/fd"))
    yield
    assert children() <= processes
    assert names_in("/dev/shm") <= segments
    assert len(names_in("/proc/self/fd")) <= n_open
