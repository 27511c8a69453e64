"""Hours in minutes: steady load, a model that is replaced again and again, malformed requests and slow clients.

Good requests must all be answered, each with the scores of one of the two models that take turns; malformed ones must
be refused, slow clients cut, and memory must stay where it is. First requests after the start and after each reload
are told beside the median.

    python -m benchmarks.serving.soak --minutes 20
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers.records import leave
from benchmarks.serving.kills import free_port
from benchmarks.serving.load import Load, wait_until_open
from benchmarks.serving.overload import memory_mb

import rankwright as rw
from rankwright.client import RankClient, ServerRefusedError

CLIENTS, N_DOCS, N_FEATURES = 8, 100, 136
SHARE, MALFORMED, SLOW = 0.7, 0.01, 0.01  # of what the server can do; of the requests
RELOAD_SECONDS, BODY_SECONDS = 5.0, 1.0
WRONG = (b"{", b'{"rows": [[1]]}', b"\xff\xfe", b"[" * 5000, b'{"rows": "x"}', b"")


@dataclass
class Told:
    """What clients saw."""

    seconds: list[tuple[float, float]] = field(default_factory=list)  # when a good answer was asked for, and how long
    counts: Counter[str] = field(default_factory=Counter)
    versions: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


@dataclass
class Served:
    """A server that is asked: where it is, the documents, and the scores that each model gives them."""

    port: int
    features: np.ndarray
    scores: dict[str, list[float]]  # by the version of a model
    until: float
    pause: float  # between two requests of a client, on average


def client(served: Served, told: Told, seed: int) -> None:
    rng = random.Random(seed)
    with RankClient(f"http://127.0.0.1:{served.port}", timeout=30) as asks:
        following = time.monotonic() + rng.random() * served.pause
        while time.monotonic() < served.until:
            time.sleep(max(0.0, following - time.monotonic()))
            following = max(following + served.pause, time.monotonic() - 1)
            kind = rng.random()
            if kind < MALFORMED:
                malformed(asks, rng, told)
            elif kind < MALFORMED + SLOW:
                threading.Thread(target=slow, args=(served.port, told), daemon=True).start()
            else:
                good(asks, served, told)


def good(asks: RankClient, served: Served, told: Told) -> None:
    begun = time.monotonic()
    try:
        ranked = asks.rank_floats(served.features)
    except (OSError, ServerRefusedError) as error:
        told.failures.append(f"{type(error).__name__}: {error}")
        return
    told.seconds.append((begun, time.monotonic() - begun))
    told.versions[ranked.version] += 1
    told.counts["right" if ranked.scores == served.scores.get(ranked.version) else "wrong"] += 1


def malformed(asks: RankClient, rng: random.Random, told: Told) -> None:
    status, _, _ = asks._sent("POST", "/v1/rank", rng.choice(WRONG), {"Content-Type": "application/json"})
    told.counts["malformed, refused" if 400 <= status < 500 else f"malformed, {status}"] += 1


def slow(port: int, told: Told) -> None:
    """Half a request, and then nothing."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as one:
        one.sendall(b"POST /v1/rank HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
        told.counts["slow, cut" if b" 408 " in one.recv(100) else "slow, not cut"] += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20.0)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    features = rng.standard_normal((20 * N_DOCS, N_FEATURES)).astype(np.float32)
    labels, qid = np.clip(np.round(features[:, 0] + 1), 0, 4), np.arange(len(features)) // N_DOCS
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        models = [folder / "a.rw", folder / "b.rw"]
        for number, path in enumerate(models):
            rw.LambdaMART(n_trees=500 - 50 * number, max_leaves=31).fit(features, labels, qid=qid).save(path)
        shutil.copy(models[0], folder / "model.rw")
        own = str(Path(sys.executable).with_name("rankwright"))
        command = [own, "serve", str(folder / "model.rw"), "--port", str(port), "--max-seconds", str(BODY_SECONDS)]
        server = subprocess.Popen(["taskset", "-c", "0", *command], stderr=subprocess.DEVNULL)
        try:
            wait_until_open(port, 60)
            result = soaked(server.pid, port, features[:N_DOCS], models, folder, args.minutes * 60)
        finally:
            server.terminate()
            server.wait()
    print(json.dumps(result, indent=1))
    leave("serving soak", "Does a server hold out under load, reloads and bad clients?", **result)


def soaked(
    pid: int, port: int, features: np.ndarray, models: list[Path], folder: Path, seconds: float
) -> dict[str, Any]:
    with RankClient(f"http://127.0.0.1:{port}", timeout=30) as asks:
        firsts = [timed(asks, features) for _ in range(50)]
    load = Load(f"http://127.0.0.1:{port}/v1/rank", features.tobytes(), "application/octet-stream", folder)
    most = load.run(seconds=5)["rate"]
    from rankwright.serve.models import ServedModel

    served_models = [ServedModel.read("model", path) for path in models]
    scores = {model.version: model.scores(features).tolist() for model in served_models}
    begun = time.monotonic()
    served = Served(port, features, scores, begun + seconds, CLIENTS / (SHARE * most))
    told = Told()
    threads = [threading.Thread(target=client, args=(served, told, seed), daemon=True) for seed in range(CLIENTS)]
    for one in threads:
        one.start()
    memory, reloads = list[float](), list[float]()
    while time.monotonic() < served.until:
        time.sleep(RELOAD_SECONDS)
        new = folder / "new.rw"
        shutil.copy(models[(len(reloads) + 1) % 2], new)
        new.replace(folder / "model.rw")
        reloads.append(time.monotonic())
        memory.append(memory_mb(pid))
    for one in threads:
        one.join()
    time.sleep(2 * BODY_SECONDS)  # for the last slow clients
    settled = memory[len(memory) // 4 :]  # after some reloads, memory has what it needs
    half = len(settled) // 2
    return {
        "seconds": round(seconds),
        "could_do_per_second": round(most),
        "asked_per_second": round(sum(told.counts.values()) / seconds),
        "counts": dict(told.counts),
        "failed": len(told.failures),
        "failures": told.failures[:5],
        "reloads": len(reloads),
        "versions": dict(told.versions),
        "memory_mb": [round(one) for one in settled[:: max(1, len(settled) // 20)]],
        "memory_grew_mb": round(statistics.median(settled[half:]) - statistics.median(settled[:half]), 1),
        "ms": {share: round(float(np.percentile([took for _, took in told.seconds], share)) * 1e3, 2)
               for share in (50, 99, 99.9)},
        "first_after_start_over_median": round(firsts[0] / statistics.median(firsts[1:]), 2),
    }  # fmt: skip


def timed(asks: RankClient, features: np.ndarray) -> float:
    begun = time.perf_counter()
    asks.rank_floats(features)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
