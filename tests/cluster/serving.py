"""Rankers on Ray Serve, asked through the proxies of two hosts; `hosts.py` runs this on the head.

python -m tests.cluster.serving up HEAD MODEL CHANGED ADDRESS…    deploys MODEL, and puts CHANGED in its place
python -m tests.cluster.serving left MODEL ADDRESS…               asks those that are left after a host was killed
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import rankwright as rw
from rankwright.client import RankClient, ServerRefusedError

PORT, SECONDS, IN_A_ROW = 8000, 400.0, 20
REPLICAS = 2
TOLD: set[str] = set()  # errors, each once
BUSY = 12  # clients that make Ray start another replica


def asked() -> rw.RankingDataset:
    return rw.synthetic.web_search(n_queries=1, seed=5)


def until(what: str, holds: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        if time.monotonic() > end:
            raise SystemExit(f"{what}: not within {SECONDS:.0f} seconds")
        time.sleep(0.2)
    sys.stderr.write(f"{what}\n")


def answers(address: str, model: str) -> bool:
    """Whether a host's proxy gives the scores of this model, again and again."""
    wanted = rw.load(model).predict(asked()).tolist()
    try:
        with RankClient(f"http://{address}:{PORT}", timeout=5) as client:
            return all(client.rank_floats(asked().features).scores == wanted for _ in range(IN_A_ROW))
    except (OSError, ServerRefusedError) as error:
        if str(error) not in TOLD:
            sys.stderr.write(f"{address}: {type(error).__name__}: {error}\n")
            TOLD.add(str(error))
        return False


def up(head: str, model: str, changed: str, addresses: list[str]) -> None:
    import ray
    from ray import serve

    from rankwright.serve.ray import application

    ray.init(head, log_to_driver=False)
    serve.start(proxy_location="EveryNode", http_options={"host": "0.0.0.0", "port": PORT})
    scaled = {"least_replicas": 1, "most_replicas": REPLICAS, "ongoing": 1}
    serve.run(application({"models": [f"web={model}"], "open": True, "cpus": 4, **scaled}))
    # A host has a proxy where it has a replica, so that one host answers first and all of them later.
    until("a host gives the scores of predict", lambda: any(answers(address, model) for address in addresses))
    until("with more requests there is a replica on each host", loaded(addresses, running_replicas))
    for address in addresses:
        until(f"{address} gives the scores of predict", lambda address=address: answers(address, model))  # type: ignore[misc]
    shutil.copy(changed, f"{model}.new")
    Path(f"{model}.new").replace(model)
    for address in addresses:
        until(f"{address} gives those of the changed file", lambda address=address: answers(address, changed))  # type: ignore[misc]


def running_replicas() -> int:
    from ray import serve

    states = serve.status().applications["default"].deployments["rank"].replica_states
    return int(states.get("RUNNING", 0))


def loaded(addresses: list[str], counted: Callable[[], int]) -> Callable[[], bool]:
    """Load from several clients, until enough replicas run."""
    stop = threading.Event()
    features = np.tile(asked().features, (20, 1))

    def ask(address: str) -> None:
        while not stop.is_set():
            try:
                with RankClient(f"http://{address}:{PORT}", timeout=30) as client:
                    while not stop.is_set():
                        client.rank_floats(features)
            except (OSError, ServerRefusedError):
                time.sleep(0.1)

    for number in range(BUSY):
        threading.Thread(target=ask, args=(addresses[number % len(addresses)],), daemon=True).start()

    def enough() -> bool:
        if counted() < REPLICAS:
            return False
        stop.set()
        return True

    return enough


if __name__ == "__main__":
    if sys.argv[1] == "up":
        head, model, changed, *addresses = sys.argv[2:]
        up(head, model, changed, addresses)
    else:
        for address in sys.argv[3:]:
            until(f"{address} still answers", lambda address=address: answers(address, sys.argv[2]))  # type: ignore[misc]
