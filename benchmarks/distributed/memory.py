"""How much memory do workers take that grow one forest, how long do they read and grow, and how does that rise?

    python -m benchmarks.distributed.memory --documents 10000000 20000000 --trees 20
    python -m benchmarks.distributed.memory --documents 8000000 --workers 6 --bound 1 --trees 20

The documents are web-like; beyond three million they repeat with other query ids. `--bound` forbids each worker more
gigabytes of data than that (`ulimit -d`): one that asks for more gets none, and the run ends with an error.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import tempfile
import time
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Any

from benchmarks.distributed.forest import make_shards, remember_crews, settings
from benchmarks.helpers.process_tree import run_watched
from benchmarks.helpers.records import show

TRAIN = "import json, sys; from benchmarks.distributed.memory import train; train(*json.loads(sys.argv[1]))"
BASE_QUERIES = 25_000  # three million documents


def make_repeated(base: Path, folder: Path, n_docs: int, made: int, copies: int) -> int:
    """Add shards until there are so many documents: those of `base`, each so many times with other query ids."""
    import numpy as np
    import pyarrow as arrow
    from pyarrow import parquet

    sources, number, read = sorted(base.iterdir()), len(list(folder.iterdir())), lru_cache(1)(parquet.read_table)
    while made < n_docs:
        table = read(sources[number // copies])
        ids = table["qid"].to_numpy() + number % copies * BASE_QUERIES
        table = table.set_column(0, "qid", arrow.array(ids))
        starts = np.flatnonzero(np.diff(ids))[1:] + 1
        enough = starts[starts >= n_docs - made]
        table = table.slice(0, int(enough[0])) if len(enough) else table
        path = folder / f"{number:04}.parquet"
        parquet.write_table(table, path, row_group_size=1 << 17, compression=None, use_dictionary=False)
        made, number = made + len(table), number + 1
    return made


def train(folder: str, workers: int, trees: int, bound: float | None) -> None:
    """Train with workers of one thread, and print the seconds until the first tree began and until the end."""
    import rankwright as rw

    start, moments, made = time.perf_counter(), list[float](), list[Any]()
    with rw.open_engine("local", workers) as engine:
        remember_crews(engine, made)
        if bound is not None:
            _bound_workers(engine, int(bound * 2**30))
        ranker = rw.LambdaMART(n_trees=trees, **settings(31)).on(engine)
        ranker.fit(rw.Shards(folder), listeners=[lambda _: moments.append(time.perf_counter() - start)])
    tree = (moments[-1] - moments[0]) / (len(moments) - 1)
    print(json.dumps({"reading": moments[0] - tree, "tree": tree, "trees": len(moments), "crews": len(made)}))


def _bound_workers(engine: Any, most: int) -> None:
    """Forbid each worker that the engine starts more data than that."""
    start = engine.crew

    def crew(size: int | None = None) -> Any:
        members = start(size)
        for pid in members.process_ids:
            resource.prlimit(pid, resource.RLIMIT_DATA, (most, most))
        return members

    engine.crew = crew


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000_000, 20_000_000])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--bound", type=float, help="gigabytes (2^30 bytes) of data that a worker may have")
    parser.add_argument("--base", type=Path, help="web-like shards that are there, instead of new ones")
    parser.add_argument("--place", type=Path, default=Path(tempfile.gettempdir()), help="where shards are written")
    options = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(dir=options.place) as place:
        base, folder = options.base or Path(place) / "base", Path(place) / "shards"
        folder.mkdir()
        if options.base is None:
            base.mkdir()
            make_shards(base, BASE_QUERIES, None)
        rows: list[dict[str, Any]] = []
        made, copies = 0, ceil(max(options.documents) / 119 / BASE_QUERIES)  # a query has 120 documents or so
        for n_docs in sorted(options.documents):
            made = make_repeated(base, folder, n_docs, made, copies)
            size = sum(path.stat().st_size for path in folder.iterdir())
            free = shutil.disk_usage(place).free
            raw = f"{made:,} documents, {made * 136 * 4 / 1e9:.2f} GB as float32, {size / 1e9:.1f} GB of shards"
            print(f"{raw}, {free / 1e9:.0f} GB of disk left", flush=True)
            cost = run_watched("-c", TRAIN, json.dumps([str(folder), options.workers, options.trees, options.bound]))
            found = json.loads(cost.printed.splitlines()[-1])
            own = ", ".join(f"{peak / 1e9:.2f}" for peak in sorted(cost.peaks.values(), reverse=True))
            print(
                f"{options.workers} workers, {found['trees']} trees: {cost.told}; reading {found['reading']:.0f} s, "
                f"a tree {found['tree']:.1f} s; each process at the most {own} GB; {found['crews']} crews",
                flush=True,
            )
            rows.append(
                {
                    "documents": made,
                    "GB as float32": round(made * 136 * 4 / 1e9, 2),
                    "processor s": round(cost.processor),
                    "reading s": round(found["reading"]),
                    "a tree s": round(found["tree"], 1),
                    "GB of all processes": round(cost.peak / 1e9, 2),
                    "GB of the largest": round(max(cost.peaks.values()) / 1e9, 2),
                }
            )
        bound = "" if options.bound is None else f", each with at most {options.bound} GiB of data"
        show(
            f"distributed memory {max(options.documents)} documents {options.workers} workers",
            f"How much memory and time do {options.workers} workers take{bound}? 136 features, {options.trees} trees "
            "of 31 leaves",
            rows,
        )


if __name__ == "__main__":
    main()
