"""How fast are bags trained, beside the same runs of LambdaMART one after another, and beside LightGBM's?

Every bag is trained on a bootstrap sample of the queries, with the same trees, leaves and learning rate for all. The
single runs, ours and LightGBM's, are given each sample as a data set of its own with every core; making it is not
counted, binning it is. Repeats are interleaved; ratios are of the best ones.

    python -m benchmarks.speed.bags                                              # the full size: minutes
    python -m benchmarks.speed.bags --bags 4 --trees 20 --queries 300            # a look
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from typing import Any

import lightgbm
from benchmarks.helpers.boosting import labels_of
from benchmarks.helpers.timing import Timing, report

import rankwright as rw
from rankwright import synthetic
from rankwright.bagging.bag_members import repeat_queries
from rankwright.bagging.samples import BagPlan
from rankwright.data.dataset import RankingDataset

LEARNING_RATE, MIN_DOCS = 0.1, 20
OURS = "BL-MART"


def samples(data: RankingDataset, n_bags: int) -> Iterator[RankingDataset]:
    plan = BagPlan(n_bags=n_bags)
    for bag in range(n_bags):
        yield repeat_queries(data, plan.sample(bag, data.n_queries).repeated)


def by_bags(data: RankingDataset, settings: dict[str, Any], options: argparse.Namespace) -> float:
    ranker = rw.BLMART(
        n_bags=options.bags, overfit=True, query_fraction=1.0, feature_fraction=1.0, threads=options.threads, **settings
    )
    start = time.perf_counter()
    ranker.fit(data)
    return time.perf_counter() - start


def by_single_runs(data: RankingDataset, settings: dict[str, Any], options: argparse.Namespace) -> float:
    def run(sample: RankingDataset) -> None:
        rw.LambdaMART(threads=options.threads, **settings).fit(sample)

    return one_after_another(run, data, options.bags)


def by_lightgbm(data: RankingDataset, settings: dict[str, Any], options: argparse.Namespace) -> float:
    parameters = {
        "objective": "lambdarank",
        "num_leaves": settings["max_leaves"],
        "learning_rate": LEARNING_RATE,
        "min_data_in_leaf": MIN_DOCS,
        "num_threads": options.threads,
        "verbose": -1,
    }

    def run(sample: RankingDataset) -> None:
        training = lightgbm.Dataset(sample.features, labels_of(sample), group=sample.groups.sizes, params=parameters)
        lightgbm.train(parameters, training, num_boost_round=settings["n_trees"])

    return one_after_another(run, data, options.bags)


def one_after_another(run: Callable[[RankingDataset], None], data: RankingDataset, n_bags: int) -> float:
    """The seconds of all runs together."""
    total = 0.0
    for sample in samples(data, n_bags):
        start = time.perf_counter()
        run(sample)
        total += time.perf_counter() - start
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=2500, help="of about 120 documents each")
    parser.add_argument("--bags", type=int, default=20)
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--without", nargs="*", default=[], metavar="NAME", help="rows to leave out")
    options = parser.parse_args()
    settings = {
        "n_trees": options.trees,
        "max_leaves": options.leaves,
        "learning_rate": LEARNING_RATE,
        "min_docs_in_leaf": MIN_DOCS,
    }
    data = synthetic.web_search(options.queries)
    tasks = {OURS: by_bags, "LambdaMART, one by one": by_single_runs, "LightGBM, one by one": by_lightgbm}
    chosen = {name: task for name, task in tasks.items() if name not in options.without}
    seconds: dict[str, list[float]] = {name: [] for name in chosen}
    for _ in range(options.repeats):
        for name, task in chosen.items():
            seconds[name].append(task(data, settings, options))
    size = f"{data.n_docs:,} × {data.n_features}, {options.threads} threads"
    peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    report(
        f"{options.bags} bags of {options.trees} trees × {options.leaves} leaves on {size}",
        {name: Timing(name, values) for name, values in seconds.items()},
        OURS,
        {"peak MB of all": peak},
    )


if __name__ == "__main__":
    main()
