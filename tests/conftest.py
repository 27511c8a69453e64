"""What every test may ask for: the real data sets, and a count of the tests that were skipped without them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from tests.here_engine import HereEngine
from tests.unwritten import fill_new_memory

from rankwright.data.dataset import RankingDataset

hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, max_examples=50)
hypothesis.settings.load_profile("ci")

DEBUG_BUILD = "compiled, with assertions"
NO_DATA = "real data not found: set RANKWRIGHT_DATA, or put it in ../shared/data"


def real_data_folder() -> Path:
    beside_checkout = Path(__file__).parents[2] / "shared" / "data"
    return Path(os.environ.get("RANKWRIGHT_DATA", beside_checkout))


@pytest.fixture(scope="session")
def real_data() -> Callable[[str], Path]:
    """A function from a name such as `MQ2008/Fold1/train.txt.gz` to its path; skips where it is absent."""

    def find(name: str) -> Path:
        path = real_data_folder() / name
        if not path.exists():
            pytest.skip(NO_DATA)
        return path

    return find


@pytest.fixture
def small_data() -> RankingDataset:
    """Forty queries of one to thirty documents, five features, labels 0 to 4."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 31, size=40)
    n_docs = int(sizes.sum())
    return RankingDataset.from_arrays(
        rng.normal(size=(n_docs, 5)), rng.integers(0, 5, size=n_docs), qid=np.repeat(np.arange(100, 140), sizes)
    )


@pytest.fixture
def here() -> HereEngine:
    return HereEngine()


@pytest.fixture
def experiments_here(monkeypatch: pytest.MonkeyPatch, here: HereEngine) -> list[tuple[str | None, int | None]]:
    """Searches and cross-validation run in this process; the cluster and the workers that each of them asked for."""
    asked: list[tuple[str | None, int | None]] = []

    def open_here(cluster: str | None = None, workers: int | None = None) -> HereEngine:
        asked.append((cluster, workers))
        return here

    for module in ("tuning.tuner", "tuning.cross_validation", "experiments.fold_comparison"):
        monkeypatch.setattr(f"rankwright.{module}.open_engine", open_here)
    return asked


@pytest.fixture(scope="session")
def quickstart() -> Any:
    """The quickstart's result: it takes seconds."""
    from rankwright.experiments.quickstart import run_quickstart

    return run_quickstart()


class TwoNodes:
    """A Ray cluster of two nodes on this machine, on the loopback address; the driver runs on the first."""

    def __init__(self) -> None:
        self._cluster: Any = None
        self._second: Any = None

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def complete(self) -> None:
        """Start what is missing: the cluster, or its second node."""
        from ray.cluster_utils import Cluster

        node = {"node_ip_address": "127.0.0.1", "num_cpus": 1, "object_store_memory": 200 << 20}
        if self._cluster is None:
            self._cluster = Cluster(initialize_head=True, head_node_args=node | {"include_dashboard": False})
        if self._second is None:
            self._second = self._cluster.add_node(**node)

    def kill_second(self) -> None:
        """End the second node, with all that runs on it, as a power cut would."""
        second, self._second = self._second, None
        self._cluster.remove_node(second, allow_graceful=False)

    def close(self) -> None:
        if self._cluster is not None:
            self._cluster.shutdown()
        self._cluster = self._second = None


RAY = TwoNodes()


@pytest.fixture(scope="session")
def ray_cluster() -> TwoNodes:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    return RAY


@pytest.fixture
def two_nodes(ray_cluster):
    """The cluster, complete whatever earlier tests did to it: give its `address` to `open_engine`."""
    ray_cluster.complete()
    return ray_cluster


def needs_ray(item: pytest.Item | None) -> bool:
    return item is not None and ("ray_cluster" in getattr(item, "fixturenames", ()) or "two nodes" in item.name)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on the Ray cluster come first: one worker gets them all, and no other starts a cluster."""
    items.sort(key=lambda item: not needs_ray(item))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """A cluster keeps a dozen processes busy even when it has nothing to do."""
    if needs_ray(item) and not needs_ray(nextitem):
        RAY.close()


def pytest_sessionfinish() -> None:
    RAY.close()  # where tests were interrupted


def pytest_report_header() -> str:
    return f"kernels: {kernels_in_use()}"


def kernels_in_use() -> str:
    if os.environ.get("RANKWRIGHT_KERNELS") == "reference":
        return "reference"
    from rankwright.kernels import _core

    return DEBUG_BUILD if _core._assertions else "compiled"


def pytest_sessionstart() -> None:
    # A shell's background jobs ignore Ctrl-C, and so do programs they start: tests that send it would wait for long.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    wanted = os.environ.get("RANKWRIGHT_EXPECT_KERNELS")
    if wanted is not None and wanted != kernels_in_use():
        pytest.exit(f"these tests are meant for kernels {wanted!r}, found {kernels_in_use()!r}", returncode=3)
    if kernels_in_use() == DEBUG_BUILD:
        fill_new_memory()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if NO_DATA in str(report.longrepr)]
    if skipped:
        terminalreporter.write_line(f"{len(skipped)} tests were skipped because the real data is absent ({NO_DATA})")
