"""How long preferences and click models take on a large log, and how much memory.

    python -m benchmarks.clicks.speed [--lists 10_000_000] [--queries 100_000] [--ids number|text] [--repeats 1]

The log is synthetic: Parquet, ten results a list, queries as often as in a search engine (Zipf), a few orders of the
results of each query, clicks by a position-based model. It is written to a folder of temporary files (0.4 GB; 1.3 GB
with ids as text), which is removed in the end. Each measurement runs in a process of its own, reading included, and
tells its largest memory; of several, the shortest counts. On a machine that does other work as well, the time of the
processors (all threads together) says more than that of the clock: with two idle ones, the clock shows little more
than half of it.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from benchmarks.helpers.places import CHECKOUT
from benchmarks.helpers.records import show

RESULTS, CANDIDATES, ORDERS = 10, 14, 4
EXAMINATION = np.array([0.68, 0.61, 0.48, 0.34, 0.28, 0.20, 0.11, 0.10, 0.08, 0.06])
TASKS = ("preferences", "pbm", "ubm", "dbn")
ROWS_AT_A_TIME = 1_000_000


def write_log(path: Path, n_lists: int, n_queries: int, ids: str = "number") -> None:
    """Write the log, a million lists at a time; ids are whole numbers or texts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    popularity = 1 / np.arange(1, n_queries + 1) ** 0.8
    popularity /= popularity.sum()
    attraction = rng.beta(1, 5, (n_queries, CANDIDATES))
    orders = np.argsort(-attraction[:, None] + rng.normal(0, 0.2, (n_queries, ORDERS, CANDIDATES)), axis=2)
    orders = orders[:, :, :RESULTS].astype(np.int32)
    kind = pa.int32() if ids == "number" else pa.string()
    kinds = [("query", kind), ("shown", pa.list_(kind)), ("clicks", pa.list_(pa.int16()))]
    with pq.ParquetWriter(path, pa.schema(kinds)) as writer:
        for start in range(0, n_lists, ROWS_AT_A_TIME):
            n = min(ROWS_AT_A_TIME, n_lists - start)
            queries = rng.choice(n_queries, n, p=popularity).astype(np.int32)
            shown = orders[queries, rng.integers(0, ORDERS, n)]
            chance = attraction[queries[:, None], shown] * EXAMINATION
            clicked = rng.random(chance.shape) < chance
            offsets = np.arange(n + 1, dtype=np.int32) * RESULTS
            click_offsets = np.concatenate([[0], np.cumsum(clicked.sum(axis=1))]).astype(np.int32)
            positions = (np.nonzero(clicked)[1] + 1).astype(np.int16)
            documents = (queries[:, None] * CANDIDATES + shown).astype(np.int32).ravel()
            columns = [
                named(queries, ids, "query-"),
                pa.ListArray.from_arrays(pa.array(offsets), named(documents, ids, "document-")),
                pa.ListArray.from_arrays(pa.array(click_offsets), pa.array(positions)),
            ]
            writer.write_table(pa.Table.from_arrays(columns, names=[name for name, _ in kinds]))


def named(numbers: np.ndarray, ids: str, prefix: str) -> Any:
    """Ids as an Arrow array: the numbers, or texts with a prefix."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pa.array(numbers)
    if ids == "number":
        return column
    return pc.binary_join_element_wise(pa.scalar(prefix), column.cast(pa.string()), "")


def run_task(task: str, path: str) -> dict[str, float]:
    """Do one task, and tell its time and memory."""
    from rankwright import clicks

    start, processor = time.perf_counter(), time.process_time()
    if task == "preferences":
        size = len(clicks.count_votes(path))
    else:
        log = clicks.read_log(path, merge=True)
        reading = time.perf_counter() - start
        model = clicks.click_model(task).fit(log)
        size = len(model.relevance().mean)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    processor = time.process_time() - processor
    found = {"seconds": seconds, "processor": processor, "gigabytes": memory, "pairs": size}
    return found if task == "preferences" else found | {"reading": reading, "iterations": model.n_iterations_}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", type=int, default=10_000_000)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--ids", choices=("number", "text"), default="number")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--task", choices=TASKS)
    parser.add_argument("--log", help="the log of a task, or a log to use instead of a new one")
    given = parser.parse_args()
    if given.task:
        print(json.dumps(run_task(given.task, given.log)))
        return
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder:
        path = given.log
        if path is None:
            path = str(Path(folder, "log.parquet"))
            write_log(Path(path), given.lists, given.queries, given.ids)
        for task in TASKS:
            command = [sys.executable, "-m", "benchmarks.clicks.speed", "--task", task, "--log", path]
            found = [measured(command) for _ in range(given.repeats)]
            shortest = {key: min(one[key] for one in found) for key in ("seconds", "processor")}
            rows.append({"task": task, **found[-1], **shortest})
            print(rows[-1], flush=True)
    question = f"{given.lists:,} lists of {RESULTS} from Parquet: seconds, of the clock and of processors, and memory"
    show(f"clicks_speed_{given.ids}", question, rows, lists=given.lists, queries=given.queries)


def measured(command: list[str]) -> dict[str, float]:
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=CHECKOUT)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    main()
