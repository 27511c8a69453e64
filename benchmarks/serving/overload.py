"""A server that is asked for three and ten times what it can do, by clients who do not wait for each other.

Requests are sent at fixed times, whether or not earlier ones were answered (an open loop), each by a connection of its
own pool; what is told is how many were answered and how soon, how many were refused and how soon, the largest memory,
and how long after the load the first answer within twice the usual time came. Requests want explanations, which take
long enough that one client process can send ten times what a server can do.

    python -m benchmarks.serving.overload --seconds 10
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers.records import leave
from benchmarks.serving.kills import free_port
from benchmarks.serving.load import Load, processes_below, wait_until_open

import rankwright as rw


@dataclass
class Outcomes:
    """What became of requests: milliseconds by status, and those that got no answer."""

    by_status: dict[int, list[float]] = field(default_factory=dict)
    broken: Counter[str] = field(default_factory=Counter)  # by what happened

    def add(self, status: int, seconds: float) -> None:
        self.by_status.setdefault(status, []).append(seconds * 1e3)


async def one_request(port: int, content: bytes, outcomes: Outcomes, pool: list[Any]) -> None:
    started = time.perf_counter()
    reader = writer = None
    try:
        reader, writer = pool.pop() if pool else await asyncio.open_connection("127.0.0.1", port)
        writer.write(content)
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await asyncio.wait_for(reader.readexactly(length), 20)
        outcomes.add(int(head[9:12]), time.perf_counter() - started)
        if b"connection: close" in head.lower():
            writer.close()
        else:
            pool.append((reader, writer))
    except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        outcomes.broken[type(error).__name__] += 1
        if writer is not None:
            writer.close()


async def flood(port: int, content: bytes, rate: float, seconds: float) -> Outcomes:
    outcomes, pool, tasks = Outcomes(), list[Any](), set[Any]()
    begin, sent = time.perf_counter(), 0
    while (now := time.perf_counter() - begin) < seconds:
        while sent < now * rate:
            task = asyncio.create_task(one_request(port, content, outcomes, pool))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            sent += 1
        await asyncio.sleep(0.001)
    await asyncio.gather(*tasks)
    for _, writer in pool:
        writer.close()
    return outcomes


def memory_mb(pid: int) -> float:
    return sum(int(Path(f"/proc/{one}/statm").read_text().split()[1]) * 4 / 1024 for one in processes_below(pid))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    args = parser.parse_args()
    rng, port = np.random.default_rng(0), free_port()
    features = rng.standard_normal((2000, 136)).astype(np.float32)
    labels = np.clip(np.round(features[:, 0] + 1), 0, 4)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rw.LambdaMART(n_trees=500, max_leaves=31).fit(features, labels, qid=np.arange(2000) // 100).save(
            folder / "m.rw"
        )
        own = str(Path(sys.executable).with_name("rankwright"))
        command = ["taskset", "-c", "0", own, "serve", str(folder / "m.rw"), "--port", str(port)]
        server = subprocess.Popen([*command, "--max-seconds", "2"], stderr=subprocess.DEVNULL)
        try:
            wait_until_open(port, 60)
            body = features[:100].tobytes()
            kind = "application/octet-stream"
            path = "/v1/rank?explain=5"
            usual = Load(f"http://127.0.0.1:{port}{path}", body, kind, folder).run(seconds=3)
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
            head += f"Content-Length: {len(body)}\r\n\r\n"
            rows = [told(server.pid, port, head.encode() + body, usual, times, args.seconds) for times in (1, 3, 10)]
        finally:
            server.terminate()
            server.wait()
    for row in rows:
        print(row)
    leave("serving overload", "What does a server do when it is asked for more than it can do?", usual=usual, rows=rows)


def told(pid: int, port: int, content: bytes, usual: dict[str, Any], times: int, seconds: float) -> dict[str, Any]:
    # What one client process can send is bounded; the bound is told by `sent_per_second`.
    outcomes = asyncio.run(flood(port, content, usual["rate"] * times, seconds))
    after = time.perf_counter()
    while True:
        again = asyncio.run(flood(port, content, 5, 0.1))
        quick = [one for one in again.by_status.get(200, []) if one < 2 * max(usual["p99_ms"], 1)]
        if quick or time.perf_counter() - after > 30:
            break
    good, refused = outcomes.by_status.get(200, []), outcomes.by_status.get(503, [])
    n_sent = sum(map(len, outcomes.by_status.values())) + outcomes.broken.total()
    return {
        "times": times,
        "sent_per_second": round(n_sent / seconds),
        "answered": len(good),
        "answered_p50_ms": round(statistics.median(good), 1) if good else None,
        "answered_p99_ms": round(float(np.percentile(good, 99)), 1) if good else None,
        "refused": len(refused),
        "refused_p50_ms": round(statistics.median(refused), 1) if refused else None,
        "others": {status: len(some) for status, some in outcomes.by_status.items() if status not in (200, 503)},
        "broken": dict(outcomes.broken),
        "recovered_after_s": round(time.perf_counter() - after, 2),
        "memory_mb": round(memory_mb(pid)),
    }


if __name__ == "__main__":
    main()
