"""A journal after many kills: every event that was acknowledged is there, once, and so is every list.

A server is killed (SIGKILL) again and again while clients rank and report clicks, each event sometimes twice; then
segments are made, and what is in them is compared with what clients were told.

    python -m benchmarks.serving.kills --kills 100
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
from benchmarks.helpers.records import leave
from benchmarks.serving.load import processes_below

import rankwright as rw
from rankwright.client import RankClient, ServerRefusedError
from rankwright.serve.segments import SEGMENTS, write_segments

LOST = (OSError, http.client.HTTPException, ServerRefusedError)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def clicks(port: int, features: np.ndarray, acknowledged: dict[str, str], stop: threading.Event, seed: int) -> None:
    """Rank and report until told to stop; what the server acknowledged is noted, by event id."""
    rng, count = random.Random(seed), 0
    while not stop.is_set():
        with RankClient(f"http://127.0.0.1:{port}", timeout=5) as client:
            try:
                while not stop.is_set():
                    count += 1
                    ranked = client.rank_floats(features, query=f"q{rng.randrange(50)}")
                    event = f"{seed}-{count}"
                    for _ in range(1 + (rng.random() < 0.2)):
                        client.click(ranked.list_id or "", clicked=[ranked.order[0]], event_id=event)
                    acknowledged[event] = ranked.list_id or ""
            except LOST:
                time.sleep(0.02)


def killed(server: subprocess.Popen[bytes]) -> None:
    for pid in reversed(processes_below(server.pid)):
        os.kill(pid, signal.SIGKILL)
    server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0.5, help="between a server's first answer and its end")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, journal = Path(name), Path(name) / "journal"
        data = rw.synthetic.web_search(n_queries=20, seed=0)
        rw.LambdaMART(n_trees=5).fit(data).save(folder / "model.rw")
        port, stop, acknowledged = free_port(), threading.Event(), dict[str, str]()
        features = data.take_queries([0]).features
        threads = [
            threading.Thread(target=clicks, args=(port, features, acknowledged, stop, seed), daemon=True)
            for seed in range(4)
        ]
        for one in threads:
            one.start()
        own = str(Path(sys.executable).with_name("rankwright"))
        command = [own, "serve", str(folder / "model.rw"), "--port", str(port), "--journal", str(journal)]
        for _ in range(args.kills):
            # Segments are made while it runs, too, by short windows: kills hit that as well.
            how = ["--segment-seconds", "0.3", "--click-window", "3600", "--processes", "2", "--reload-seconds", "0"]
            server = subprocess.Popen([*command, *how], stderr=subprocess.DEVNULL)
            before, end = len(acknowledged), time.monotonic() + 60
            while len(acknowledged) == before and time.monotonic() < end:
                time.sleep(0.02)
            time.sleep(args.seconds * random.random())
            killed(server)
        stop.set()
        for one in threads:
            one.join()
        write_segments(journal, window=0.0, now=time.time() + 1)
        tell(journal, acknowledged, args.kills)


def tell(journal: Path, acknowledged: dict[str, str], kills: int) -> None:
    import pyarrow.parquet as pq

    found: Counter[str] = Counter()
    lists: Counter[str] = Counter()
    for path in (journal / SEGMENTS).glob("*.parquet"):
        for row in pq.read_table(path, columns=["list", "events"]).to_pylist():
            lists[row["list"]] += 1
            found.update(row["events"])
    missing = [event for event in acknowledged if event not in found]
    without_list = [event for event in missing if lists[acknowledged[event]] == 0]
    twice = [event for event, count in found.items() if count > 1] + [one for one, count in lists.items() if count > 1]
    result = {"kills": kills, "acknowledged": len(acknowledged), "missing": len(missing), "twice": len(twice)}
    result |= {"missing_because_their_list_was_lost": len(without_list), "lists": len(lists)}
    print(result)
    leave("serving kills", "Is every acknowledged event in the log, once, after kills?", **result)


if __name__ == "__main__":
    main()
