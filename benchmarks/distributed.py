"""One forest grown by several workers: is the file the same, what does it cost, what is sent, what if workers die?

`python -m benchmarks.distributed same` trains the same shards in one process and by workers, in turns, and compares
model files, processor time and the bytes of a tree with the formula of docs/scale.md. `... kills` kills a worker at a
random moment of each of many runs.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

QUERIES_AT_ONCE = 2000
ALONE = "from rankwright.cli.app import main; main()"
TOGETHER = """
import sys
from benchmarks.distributed import train_together
train_together(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6]))
"""


def make_shards(folder: Path, n_queries: int, n_features: int | None) -> int:
    """Write web-like documents, and return how many."""
    import rankwright as rw

    n_docs = 0
    for number, first in enumerate(range(0, n_queries, QUERIES_AT_ONCE)):
        data = rw.synthetic.web_search(min(QUERIES_AT_ONCE, n_queries - first), seed=number)
        data = replace(data, query_ids=np.arange(first, first + data.n_queries))
        if n_features is not None:
            some = np.ascontiguousarray(data.features[:, :n_features])
            data = data.with_features(some, data.feature_names[:n_features], None)
        rw.write(data, folder / f"{number:04}.parquet")
        n_docs += data.n_docs
    return n_docs


def train_together(folder: str, out: str, cluster: str, workers: int, trees: int, leaves: int) -> None:
    """Train by workers of one core each, and print what each sent for a tree."""
    import rankwright as rw

    sent: list[int] = []

    class Hears(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found = re.search(r"sent (\d+) bytes", record.getMessage())
            if found:
                sent.append(int(found[1]))

    logger = logging.getLogger("rankwright.trees.distributed.remote")
    logger.setLevel(logging.DEBUG)
    logger.addHandler(Hears())
    with rw.open_engine(cluster, workers) as engine:
        rw.LambdaMART(n_trees=trees, **settings(leaves)).on(engine).fit(rw.Shards(folder)).save(out)
    print(int(np.mean(sent)))


def settings(leaves: int) -> dict[str, Any]:
    """Those of the issue's table, the same for all."""
    return {"max_leaves": leaves, "learning_rate": 0.1, "query_fraction": 1.0, "feature_fraction": 1.0}


def run(*command: str) -> tuple[float, float, str]:
    """The processor time and the seconds of a process with its children, and what it printed."""
    start, before = time.perf_counter(), os.times()
    done = subprocess.run([sys.executable, "-c", *command], stdout=subprocess.PIPE, text=True, check=True)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent, time.perf_counter() - start, done.stdout


def formula(n_features: int, leaves: int, workers: int, bins: int = 256, wide: float = 1.0) -> float:
    """The bytes that a worker sends for a tree: the bins of each new smaller leaf but its own share, and splits."""
    histograms = leaves - 1  # that of the root, and of the smaller child of every split but the last
    return histograms * n_features * bins * 8 * (1 + wide) * (workers - 1) / workers


def same(options: argparse.Namespace, folder: Path) -> None:
    """Compare files and processor times."""
    n_docs = make_shards(folder, options.queries, options.features)
    given = [f"--set={name}={value}" for name, value in settings(options.leaves).items()]
    alone = [ALONE, "train", str(folder), "--threads", "2", f"--set=n_trees={options.trees}", *given, "--out"]
    print(f"{n_docs:,} documents, {options.trees} trees of {options.leaves} leaves")
    spent: dict[str, list[float]] = {}
    files: set[bytes] = set()
    for _ in range(options.repeats):
        for name in ("1 process x 2 threads", *(f"{n} workers" for n in options.workers)):
            out = folder.parent / "model.rw"
            if name.startswith("1 process"):
                cpu, seconds, _ = run(*alone, str(out))
            else:
                workers = name.split()[0]
                told = [str(folder), str(out), options.cluster, workers, str(options.trees), str(options.leaves)]
                cpu, seconds, printed = run(TOGETHER, *told)
                expected = formula(options.features or 136, options.leaves, int(workers))
                print(f"{name}: {int(printed):,} bytes sent a tree and worker; at most {expected:,.0f} by the formula")
            files.add(out.read_bytes())
            spent.setdefault(name, []).append(cpu)
            print(f"{name}: {cpu:.1f} s of processor time, {seconds:.1f} s")
    first = min(next(iter(spent.values())))
    for name, values in spent.items():
        print(f"{name}: best {min(values):.1f} s of processor time, {min(values) / first:.2f}x")
    print("one model file" if len(files) == 1 else f"{len(files)} DIFFERENT model files")


def kills(options: argparse.Namespace, folder: Path) -> None:
    """Kill a worker at a random moment of each run."""
    import rankwright as rw

    make_shards(folder, options.queries, options.features)
    out = folder.parent / "model.rw"
    shape = settings(options.leaves) | {"n_trees": options.trees}
    rw.LambdaMART(**shape).fit(rw.Shards(folder)).save(out)
    expected, wrong = out.read_bytes(), 0
    chance = random.Random(options.seed)
    longest, killed = 0.0, set[int]()  # a moment may come before the workers, or after the end: only kills count
    with rw.open_engine(options.cluster, 2) as engine:
        made = list[Any]()
        _remember_crews(engine, made)
        start = time.perf_counter()
        rw.LambdaMART(**shape).on(engine).fit(rw.Shards(folder))
        usual = time.perf_counter() - start
        for number in range(options.repeats):
            timer = threading.Timer(
                chance.uniform(0.0, usual), _kill_one, (made, len(made), chance.randrange(2), killed)
            )
            timer.start()
            start = time.perf_counter()
            rw.LambdaMART(**shape).on(engine).fit(rw.Shards(folder)).save(out)
            longest = max(longest, time.perf_counter() - start)
            timer.cancel()
            wrong += out.read_bytes() != expected
            print(f"run {number}: {'the same file' if out.read_bytes() == expected else 'ANOTHER file'}", flush=True)
    alike = f"{options.repeats - wrong} of {options.repeats} files are the same, a worker died in {len(killed)} runs"
    print(f"{alike}; {usual:.0f} s is usual, {longest:.0f} s was the longest")


def _remember_crews(engine: Any, made: list[Any]) -> None:
    """Have each crew that the engine starts added to the list."""
    start = engine.crew

    def crew(size: int | None = None) -> Any:
        made.append(start(size))
        return made[-1]

    engine.crew = crew


def _kill_one(made: list[Any], number: int, which: int, killed: set[int]) -> None:
    """Kill a worker of the crew of that number, if it is there, and note that it was."""
    if len(made) > number:
        os.kill(made[number].process_ids[which], 9)
        killed.add(number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["same", "kills"])
    parser.add_argument("--queries", type=int, default=25_000)
    parser.add_argument("--features", type=int)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--cluster", default="local")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "shards"
        folder.mkdir()
        {"same": same, "kills": kills}[options.what](options, folder)


if __name__ == "__main__":
    main()
