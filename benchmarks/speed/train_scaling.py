"""How does LambdaMART's training time, binning included, grow with the number of rows?"""

from __future__ import annotations

import argparse

import numpy as np
from benchmarks.helpers.timing import report, time_side_by_side

import rankwright as rw
from rankwright import synthetic


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=3000, help="the smallest part; others are 2 and 4 times it")
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--max-leaves", type=int, default=31)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    data = synthetic.web_search(4 * options.queries)
    parts = {times: data.take_queries(np.arange(times * options.queries)) for times in (1, 2, 4)}

    def train(times: int) -> rw.LambdaMART:
        ranker = rw.LambdaMART(n_trees=options.trees, max_leaves=options.max_leaves, threads=options.threads)
        return ranker.fit(parts[times])

    timings = time_side_by_side(
        {f"{parts[times].n_docs:,} rows": lambda times=times: train(times) for times in parts},  # type: ignore[misc]
        repeats=options.repeats,
    )
    best = [timing.best for timing in timings.values()]
    notes: dict[str, object] = {"rows × 2": f"time × {best[1] / best[0]:.2f}, then × {best[2] / best[1]:.2f}"}
    size = f"{options.trees} trees × {options.max_leaves} leaves, {options.threads} threads"
    report(f"Training on more rows, {size}", timings, next(iter(timings)), notes)


if __name__ == "__main__":
    main()
