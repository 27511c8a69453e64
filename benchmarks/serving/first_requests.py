"""The first request after a start and after each reload, beside the median of all: 100 documents × 136 features.

The server has a core, and a client that asks again two milliseconds after each answer has the other.

python -m benchmarks.serving.first_requests --times 10
"""

from __future__ import annotations

import argparse
import os
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

REQUESTS, PAUSE, SILENCES = 200, 0.002, 5
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


def after_start(command: list[str], port: int, features: np.ndarray) -> tuple[float, float, float]:
    """The first answer of a server that has just begun to listen, usual ones, and those after as long a silence."""
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_until_open(port, 60)
        time.sleep(SECONDS_TO_BE_READY)
        first, *others = (on_its_own(port, features) for _ in range(REQUESTS))
        silent = []
        for _ in range(SILENCES):
            time.sleep(SECONDS_TO_BE_READY)
            silent.append(on_its_own(port, features))
        return first, statistics.median(others), statistics.median(silent)
    finally:
        server.terminate()
        server.wait()


def after_reloads(
    command: list[str], port: int, features: np.ndarray, times: int
) -> tuple[list[float], list[float], list[float]]:
    """The first answer of each model that was taken, those while it was read, and all others."""
    firsts, meanwhile, others = list[float](), list[float](), list[float]()
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
                    (meanwhile if version == before else firsts).append(took)
                    time.sleep(PAUSE)
                for _ in range(REQUESTS):
                    others.append(timed(client, features)[0])
                    time.sleep(PAUSE)
    finally:
        server.terminate()
        server.wait()
    return firsts, meanwhile, others


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--trees", type=int, default=500)
    args = parser.parse_args()
    os.sched_setaffinity(0, {1})
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
        firsts, meanwhile, others = after_reloads(command, port, features[:N_DOCS], args.times)
    started = [first / usual for first, usual, _ in starts]
    reloaded = [first / statistics.median(others) for first in firsts]
    result = {
        "median_ms": round(statistics.median(others) * 1e3, 3),
        "after_start_over_median": round(statistics.median(started), 2),
        "after_start_worst": round(max(started), 2),
        "after_silence_over_median": round(statistics.median(silent / usual for _, usual, silent in starts), 2),
        "after_reload_over_median": round(statistics.median(reloaded), 2),
        "after_reload_worst": round(max(reloaded), 2),
        "usual_99": round(float(np.quantile(others, 0.99)) / statistics.median(others), 2),
        "while_read_99": round(float(np.quantile(meanwhile, 0.99)) / statistics.median(others), 2),
    }
    print(result)
    leave("serving first requests", "Is the first request slower?", **result)


if __name__ == "__main__":
    main()
