"""What does Ray cost on one machine, beside our own processes, for tasks of about two seconds?

Both engines get the same tasks, the same shared data and the same number of workers. Start-up is what passes until
workers have done empty tasks with the shared data in hand; it is told apart, and counted in the total. Overhead is by
totals and by running times alone. Repeats are interleaved; the best of each counts.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, dataclass

from benchmarks.distributed.ray_tasks import do_nothing, grow_forest
from benchmarks.helpers.records import leave

from rankwright import synthetic
from rankwright.cluster.opening import open_engine
from rankwright.mart.lambdamart import LambdaMART
from rankwright.trees.bins.binned import BinnedDataset, bin_dataset

EMPTY_TASKS = 1000  # for the rate at which the driver gives out and takes in


@dataclass(frozen=True)
class Measured:
    engine: str
    start: float
    run: float
    task: float  # the mean of what workers measured
    empty_per_second: float

    @property
    def total(self) -> float:
        return self.start + self.run


def measure(cluster: str, data: BinnedDataset, n_trees: int, options: argparse.Namespace) -> Measured:
    begun = time.perf_counter()
    with open_engine(cluster, options.workers) as engine:
        shared = engine.share(data)
        list(engine.run(do_nothing, range(4 * engine.workers), shared=shared))
        started = time.perf_counter()
        tasks = [(n_trees, seed) for seed in range(options.tasks)]
        seconds = [done.seconds for done in engine.run(grow_forest, tasks, shared=shared)]
        ended = time.perf_counter()
        list(engine.run(do_nothing, range(EMPTY_TASKS), shared=shared))
        rate = EMPTY_TASKS / (time.perf_counter() - ended)
    return Measured(cluster, started - begun, ended - started, sum(seconds) / len(seconds), rate)


def trees_for(seconds: float, data: BinnedDataset) -> int:
    """How many trees take about so long on one thread."""
    begun = time.perf_counter()
    LambdaMART(n_trees=20, max_leaves=31, threads=1, query_fraction=0.5).fit_binned(data)
    return max(1, round(20 * seconds / (time.perf_counter() - begun)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=2.0, help="what a task is to take")
    parser.add_argument("--trees", type=int, help="trees a task grows, instead")
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    data = bin_dataset(synthetic.web_search(options.queries))
    n_trees = options.trees or trees_for(options.seconds, data)
    print(f"{options.tasks} tasks of {n_trees} trees on {data.n_docs:,} × {data.n_features}, {options.workers} workers")
    runs = [measure(name, data, n_trees, options) for _ in range(options.repeats) for name in ("local", "auto")]
    for run in runs:
        print(
            f"  {run.engine:6s} start {run.start:6.2f} s   run {run.run:8.2f} s   total {run.total:8.2f} s   "
            f"a task {run.task:5.2f} s   {run.empty_per_second:7.0f} empty tasks a second"
        )
    local, ray = ([run for run in runs if run.engine == name] for name in ("local", "auto"))
    overhead = {
        "total": min(run.total for run in ray) / min(run.total for run in local) - 1,
        "run": min(run.run for run in ray) / min(run.run for run in local) - 1,
    }
    print(f"  overhead of Ray: {overhead['total']:+.1%} with start-up, {overhead['run']:+.1%} without (at most 10 %)")
    question = f"Ray beside processes: {options.tasks} tasks of {n_trees} trees, {options.workers} workers, seconds"
    notes = {"overhead of Ray with start-up": f"{overhead['total']:+.1%}", "without": f"{overhead['run']:+.1%}"}
    leave("cluster-overhead", question, rows=[asdict(run) for run in runs], notes=notes)


if __name__ == "__main__":
    main()
