"""One forest grown by several workers: is the file the same, what does it cost, what is sent, what if workers die?

`python -m benchmarks.distributed.forest same` trains the same shards in one process and by workers, in turns. It
compares model files, processor time and the bytes of a tree with the formula of docs/scale.md; with `--kill` workers
train once more, and one of them is killed. `... kills` kills a worker at a random moment of each of many runs, and
looks for what is left behind.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import os
import random
import re
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from benchmarks.helpers.process_tree import run_watched, tree_of
from benchmarks.helpers.records import show

Run = Callable[[], dict[str, Any]]  # what one run has found

QUERIES_AT_ONCE = 2000
SECONDS_OF_A_HANG = 600.0
ALONE = "from rankwright.cli.app import main; main()"
TOGETHER = """
import json, sys
from benchmarks.distributed.forest import train_together
train_together(*json.loads(sys.argv[1]))
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


def train_together(
    folder: str, out: str, cluster: str, workers: int, trees: int, leaves: int, kill_at: int | None
) -> None:
    """Train by workers of one core each, kill one of them at a tree, and print what each sent for a tree."""
    import rankwright as rw

    sent, made = list[int](), list[Any]()

    class Hears(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found = re.search(r"sent (\d+) bytes", record.getMessage())
            if found:
                sent.append(int(found[1]))

    def kill_in_time(progress: Any) -> None:
        if progress.step == kill_at:
            os.kill(made[0].process_ids[-1], 9)

    logger = logging.getLogger("rankwright.trees.distributed.crew_data")
    logger.setLevel(logging.DEBUG)
    logger.addHandler(Hears())
    with rw.open_engine(cluster, workers) as engine:
        remember_crews(engine, made)
        ranker = rw.LambdaMART(n_trees=trees, **settings(leaves)).on(engine)
        ranker.fit(rw.Shards(folder), listeners=[kill_in_time]).save(out)
    print(int(np.mean(sent)))


def settings(leaves: int) -> dict[str, Any]:
    """The same for all."""
    return {"max_leaves": leaves, "learning_rate": 0.1, "query_fraction": 1.0, "feature_fraction": 1.0}


def formula(n_features: int, leaves: int, workers: int, bins: int = 256, wide: float = 1.0) -> float:
    """The bytes that a worker sends for a tree: the bins of each new smaller leaf but its own share."""
    histograms = leaves - 1  # that of the root, and of the smaller child of every split but the last
    return histograms * n_features * bins * 8 * (1 + wide) * (workers - 1) / workers


def same(options: argparse.Namespace, folder: Path) -> None:
    """Compare files and processor times."""
    shards = options.shards or folder
    if options.shards is None:
        make_shards(folder, options.queries, options.features)
    n_docs, n_features = shape_of(shards)
    rows = []
    for name, run in runs_of(options, str(shards), folder.parent / "model.rw", n_features) * options.repeats:
        rows.append({"run": name} | run())
        print(*(f"{column} {value}" for column, value in rows[-1].items()), sep=", ", flush=True)
    first = rows[0]["run"]
    best = {row["run"]: min(own["processor s"] for own in rows if own["run"] == row["run"]) for row in rows}
    n_files = len({row["file"] for row in rows})
    show(
        f"distributed same {n_docs} documents {options.trees} trees",
        f"Is one forest the same for any number of workers? {n_docs:,} web-like documents, {n_features} features, "
        f"{options.trees} trees of {options.leaves} leaves",
        rows,
        files="one model file" if n_files == 1 else f"{n_files} DIFFERENT model files",
        processor_time_of_the_first=first,
        times_the_first={name: round(value / best[first], 2) for name, value in best.items()},
    )
    print("one model file" if n_files == 1 else f"{n_files} DIFFERENT model files")


def runs_of(options: argparse.Namespace, shards: str, out: Path, n_features: int) -> list[tuple[str, Run]]:
    """What is run, by name: one process, then workers; with `--kill` once more, one of them being killed."""
    given = [f"--set={name}={value}" for name, value in settings(options.leaves).items()]
    alone = [ALONE, "train", shards, "--threads", "2", f"--set=n_trees={options.trees}", *given, "--out", str(out)]

    def watched(*command: str) -> tuple[str, dict[str, Any]]:
        cost = run_watched("-c", *command)
        digest = sha256(out.read_bytes()).hexdigest()[:16]
        costs = {"s": round(cost.seconds), "processor s": round(cost.processor, 1), "GB": round(cost.peak / 1e9, 2)}
        return cost.printed, {"file": digest} | costs

    def together(cluster: str, workers: int, kill_at: int | None) -> dict[str, Any]:
        told = [shards, str(out), cluster, workers, options.trees, options.leaves, kill_at]
        printed, found = watched(TOGETHER, json.dumps(told))
        sent, most = int(printed.split()[-1]) / 1e6, formula(n_features, options.leaves, workers) / 1e6
        return found | {"MB sent a tree and worker": round(sent, 2), "at most, by the formula": round(most, 2)}

    runs: list[tuple[str, Run]] = []
    if not options.without_one:
        runs.append(("1 process x 2 threads", lambda: watched(*alone)[1]))
    for kill_at in [None, options.trees // 2] if options.kill else [None]:
        for cluster, workers in itertools.product(options.cluster, options.workers):
            told = "" if kill_at is None else f", one killed after tree {kill_at}"
            runs.append((f"{workers} workers, {cluster}{told}", partial(together, cluster, workers, kill_at)))
    return runs


def shape_of(folder: Path) -> tuple[int, int]:
    """How many documents and features the shards have."""
    from pyarrow import parquet

    found = [parquet.read_metadata(path) for path in sorted(folder.iterdir())]
    return sum(one.num_rows for one in found), found[0].num_columns - 2


def kills(options: argparse.Namespace, folder: Path) -> None:
    """Kill a worker at a random moment of each run."""
    import rankwright as rw

    n_docs = make_shards(folder, options.queries, options.features)
    out = folder.parent / "model.rw"
    shape = settings(options.leaves) | {"n_trees": options.trees}
    rw.LambdaMART(**shape).fit(rw.Shards(folder)).save(out)
    print(f"{n_docs:,} documents, {options.trees} trees of {options.leaves} leaves", flush=True)
    expected, wrong = out.read_bytes(), 0
    chance = random.Random(options.seed)
    seconds, killed = (
        list[float](),
        set[int](),
    )  # a moment may come before the workers, or after the end: only kills count
    places = traces()
    with rw.open_engine(options.cluster[0], 2) as engine:
        made = list[Any]()
        remember_crews(engine, made)
        start = time.perf_counter()
        rw.LambdaMART(**shape).on(engine).fit(rw.Shards(folder))
        usual = time.perf_counter() - start
        processes = set(tree_of(os.getpid()))
        for number in range(options.repeats):
            moment = chance.uniform(0.0, usual)
            timers = [
                threading.Timer(moment, _kill_one, (made, len(made), chance.randrange(2), killed)),
                threading.Timer(SECONDS_OF_A_HANG, _give_up, (number,)),
            ]
            for timer in timers:
                timer.daemon = True
                timer.start()
            start = time.perf_counter()
            rw.LambdaMART(**shape).on(engine).fit(rw.Shards(folder)).save(out)
            seconds.append(time.perf_counter() - start)
            for timer in timers:
                timer.cancel()
            is_same = out.read_bytes() == expected
            wrong += not is_same
            left = len(set(tree_of(os.getpid())) - processes) if options.cluster[0] == "local" else 0
            told = f"{'the same file' if is_same else 'ANOTHER file'}, {left} processes left, kill at {moment:.1f} s"
            print(f"run {number}: {told}, {seconds[-1]:.1f} s in all", flush=True)
    left_behind = sorted(traces() - places), sorted(set(tree_of(os.getpid())) - {os.getpid()})
    found = {
        "runs": options.repeats,
        "the same file": options.repeats - wrong,
        "a worker died in": len(killed),
        "usual s": round(usual),
        "median s": round(median(seconds)),
        "longest s": round(max(seconds)),
        "left behind": str(left_behind),
    }
    question = (
        f"A worker is killed at a random moment of each run: is the file the same? {n_docs:,} web-like documents, "
        f"{options.features or 136} features, {options.trees} trees of {options.leaves} leaves, two workers"
    )
    show(f"distributed kills {options.cluster[0]}", question, [found])


def traces() -> set[str]:
    """What lies in shared memory and in the folder for temporary files."""
    return {str(path) for place in ("/dev/shm", tempfile.gettempdir()) for path in Path(place).iterdir()}


def remember_crews(engine: Any, made: list[Any]) -> None:
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


def _give_up(number: int) -> None:
    print(f"run {number} HANGS", flush=True)
    os._exit(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["same", "kills"])
    parser.add_argument("--shards", type=Path, help="shards that are there, instead of new ones")
    parser.add_argument("--queries", type=int, default=25_000)
    parser.add_argument("--features", type=int)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--cluster", nargs="+", default=["local"])
    parser.add_argument("--kill", action="store_true", help="run all workers once more, and kill one of them")
    parser.add_argument("--without-one", action="store_true", help="leave out the run of one process")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        tempfile.tempdir = place if len(place) < 20 else tempfile.gettempdir()  # nobody else's, for what is left behind
        folder = Path(place) / "shards"
        folder.mkdir()
        {"same": same, "kills": kills}[options.what](options, folder)


if __name__ == "__main__":
    main()
