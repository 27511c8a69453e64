from __future__ import annotations

import sys
from pathlib import Path

import pytest
from ray.cluster_utils import Cluster

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


class TwoNodes:
    """A Ray cluster of two nodes on this machine, on the loopback address; the driver stands on the first."""

    def __init__(self) -> None:
        own = {"node_ip_address": "127.0.0.1", "num_cpus": 1, "object_store_memory": 200 << 20}
        self._cluster = Cluster(initialize_head=True, head_node_args=own | {"include_dashboard": False})
        self._second = self._cluster.add_node(**own)
        self.address = self._cluster.address

    def kill_second(self) -> None:
        """Kill the second node as a power cut would."""
        self._cluster.remove_node(self._second, allow_graceful=False)

    def close(self) -> None:
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def two_nodes():
    nodes = TwoNodes()
    yield nodes
    nodes.close()
