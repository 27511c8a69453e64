"""How long preferences and click models take on a large log, and how much memory.

    python benchmarks/clicks_speed.py [--lists 10_000_000] [--queries 100_000]

The log is synthetic: Parquet, ten results a list, queries as often as in a search engine (Zipf), a few orders of the
results of each query, clicks by a position-based model. It is written once to the folder of temporary files. Each
measurement runs in a process of its own, reading included, and tells its largest memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import gettempdir

import numpy as np
from benchmarks.clicks_tables import show

RESULTS, CANDIDATES, ORDERS = 10, 14, 4
EXAMINATION = np.array([0.68, 0.61, 0.48, 0.34, 0.28, 0.20, 0.11, 0.10, 0.08, 0.06])
TASKS = ("preferences", "pbm", "ubm", "dbn")
ROWS_AT_A_TIME = 1_000_000


def write_log(path: Path, n_lists: int, n_queries: int) -> None:
    """Write the log, a million lists at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    popularity = 1 / np.arange(1, n_queries + 1) ** 0.8
    popularity /= popularity.sum()
    attraction = rng.beta(1, 5, (n_queries, CANDIDATES))
    orders = np.argsort(-attraction[:, None] + rng.normal(0, 0.2, (n_queries, ORDERS, CANDIDATES)), axis=2)
    orders = orders[:, :, :RESULTS].astype(np.int32)
    kinds = [("query", pa.int32()), ("shown", pa.list_(pa.int32())), ("clicks", pa.list_(pa.int16()))]
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
                pa.array(queries),
                pa.ListArray.from_arrays(pa.array(offsets), pa.array(documents)),
                pa.ListArray.from_arrays(pa.array(click_offsets), pa.array(positions)),
            ]
            writer.write_table(pa.Table.from_arrays(columns, names=[name for name, _ in kinds]))


def run_task(task: str, path: str) -> dict[str, float]:
    """Do one task, and tell its time and memory."""
    from rankwright import clicks

    start = time.perf_counter()
    if task == "preferences":
        size = len(clicks.count_votes(path))
    else:
        log = clicks.read_log(path, merge=True)
        reading = time.perf_counter() - start
        model = clicks.click_model(task).fit(log)
        size = len(model.relevance().mean)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    found = {"seconds": seconds, "gigabytes": memory, "pairs": size}
    return found if task == "preferences" else found | {"reading": reading, "iterations": model.n_iterations_}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", type=int, default=10_000_000)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--task", choices=TASKS)
    parser.add_argument("--log")
    given = parser.parse_args()
    if given.task:
        print(json.dumps(run_task(given.task, given.log)))
        return
    path = Path(gettempdir(), f"clicks-{given.lists}-{given.queries}.parquet")
    if not path.exists():
        write_log(path, given.lists, given.queries)
    rows = []
    for task in TASKS:
        command = [sys.executable, "-m", "benchmarks.clicks_speed", "--task", task, "--log", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parent.parent)
        rows.append({"task": task} | json.loads(done.stdout.splitlines()[-1]))
        print(rows[-1], flush=True)
    question = f"{given.lists:,} lists of {RESULTS} from Parquet: seconds and memory"
    show("clicks_speed", question, rows, lists=given.lists, queries=given.queries)


if __name__ == "__main__":
    main()
