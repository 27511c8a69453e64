"""The first request after a start and after each reload, beside the median of all: 100 documents × 136 features.

python -m benchmarks.serving.first_requests --times 10
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from benchmarks.helpers.records import leave
from benchmarks.serving.kills import free_port
from benchmarks.serving.load import wait_until_open
from benchmarks.serving.soak import N_DOCS, N_FEATURES

import rankwright as rw
from rankwright.client import RankClient

REQUESTS = 200
SECONDS_TO_BE_READY = 1.0  # a port is open before the process that answers there has begun


def timed(client: RankClient, features: np.ndarray) -> tuple[float, str]:
    begun = time.perf_counter()
    version = client.rank_floats(features).version
    return time.perf_counter() - begun, version


def on_its_own(port: int, features: np.ndarray) -> float:
    """A request by a connection of its own, like the first one: what it costs to open one is in neither."""
    with RankClient(f"http://127.0.0.1:{port}") as client:
        client._connection.connect()
        time.sleep(0.01)
        return timed(client, features)[0]


def after_start(command: list[str], port: int, features: np.ndarray) -> tuple[float, list[float]]:
    """The first answer of a server that has just begun to listen, and later ones."""
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_until_open(port, 60)
        time.sleep(SECONDS_TO_BE_READY)
        first, *others = (on_its_own(port, features) for _ in range(REQUESTS))
        return first, others
    finally:
        server.terminate()
        server.wait()


def after_reloads(command: list[str], port: int, features: np.ndarray, times: int) -> tuple[list[float], list[float]]:
    """The first answer of each model that was taken, and all others."""
    firsts, others = list[float](), list[float]()
    server = subprocess.Popen([*command, "--reload-seconds", "0.2"], stderr=subprocess.DEVNULL)
    served = Path(command[-3])
    try:
        wait_until_open(port, 60)
        with RankClient(f"http://127.0.0.1:{port}") as client:
            _, version = timed(client, features)
            for number in range(times):
                new = served.with_suffix(".new")
                shutil.copy(served.with_name(("b.rw", "a.rw")[number % 2]), new)
                new.replace(served)
                before, end = version, time.monotonic() + 30
                while version == before and time.monotonic() < end:
                    took, version = timed(client, features)
                    (others if version == before else firsts).append(took)
                    time.sleep(0.002)
                others += [timed(client, features)[0] for _ in range(REQUESTS)]
    finally:
        server.terminate()
        server.wait()
    return firsts, others


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--trees", type=int, default=500)
    args = parser.parse_args()
    rng, port = np.random.default_rng(0), free_port()
    features = rng.standard_normal((10 * N_DOCS, N_FEATURES)).astype(np.float32)
    labels, qid = np.clip(np.round(features[:, 0] + 1), 0, 4), np.arange(len(features)) // N_DOCS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, model in enumerate(("a", "b")):
            n_trees = args.trees - number
            rw.LambdaMART(n_trees=n_trees, max_leaves=31).fit(features, labels, qid=qid).save(folder / f"{model}.rw")
        shutil.copy(folder / "a.rw", folder / "model.rw")
        own = str(Path(sys.executable).with_name("rankwright"))
        command = ["taskset", "-c", "0", own, "serve", str(folder / "model.rw"), "--port", str(port)]
        starts = [after_start(command, port, features[:N_DOCS]) for _ in range(args.times)]
        firsts, others = after_reloads(command, port, features[:N_DOCS], args.times)
    started = [first / statistics.median(rest) for first, rest in starts]
    reloaded = [first / statistics.median(others) for first in firsts]
    result = {
        "median_ms": round(statistics.median(others) * 1e3, 3),
        "after_start_over_median": round(statistics.median(started), 2),
        "after_start_worst": round(max(started), 2),
        "after_reload_over_median": round(statistics.median(reloaded), 2),
        "after_reload_worst": round(max(reloaded), 2),
    }
    print(result)
    leave("serving first requests", "Is the first request slower?", **result)


if __name__ == "__main__":
    main()
