"""The nearest 1,000 of a million vectors of 384 numbers, one query: against NumPy and faiss's flat index, in one run.

faiss is in no extra of the package (pip install faiss-cpu), and is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

import numpy as np
from benchmarks.helpers.timing import report, time_side_by_side
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.kernels.records import TopDocuments

SLEEP_AT_ONCE = {"OPENBLAS_THREAD_TIMEOUT": "4"}  # NumPy's threads, which would else take a core from who comes next


def main() -> None:
    if not SLEEP_AT_ONCE.keys() <= os.environ.keys():  # read when NumPy is loaded
        command = [sys.executable, "-m", "benchmarks.speed.text_vectors", *sys.argv[1:]]
        os.execve(sys.executable, command, os.environ | SLEEP_AT_ONCE)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((given.vectors, given.width), dtype=np.float32)
    query = rng.standard_normal((1, given.width))
    k = 1000

    def ours() -> NDArray[np.int64]:
        tops = TopDocuments(np.empty((1, k)), np.empty((1, k), np.int64), np.zeros(1, np.int64))
        kernels.top_vectors(vectors, np.empty(0), query, np.empty(0, np.uint8), tops, given.threads)
        best: NDArray[np.int64] = tops.documents[0]
        return best

    single = query[0].astype(np.float32)

    def with_numpy() -> NDArray[np.int64]:
        products = vectors @ single
        best = np.argpartition(products, -k)[-k:]
        return best[np.argsort(-products[best])]

    tasks: dict[str, Callable[[], object]] = {"rankwright": ours, "numpy": with_numpy}
    try:
        import faiss

        faiss.omp_set_num_threads(given.threads)
        flat = faiss.IndexFlatIP(given.width)
        flat.add(vectors)
        tasks["faiss"] = lambda: flat.search(single[None], k)
    except ModuleNotFoundError as error:
        print(f"faiss is left out: {error}")
    for task in tasks.values():
        task()
    same = len(np.intersect1d(ours(), with_numpy()))
    timings = time_side_by_side(tasks, given.repeats)
    notes: dict[str, object] = {
        "the same documents as NumPy": f"{same} of {k}",
        "threads of NumPy": os.environ.get("OPENBLAS_NUM_THREADS", "all"),
    }
    report(
        f"nearest {k} of {given.vectors:,} vectors of {given.width}, {given.threads} threads",
        timings,
        "rankwright",
        notes,
    )


if __name__ == "__main__":
    main()
