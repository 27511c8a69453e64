"""Single figures of the documentation that no larger benchmark prints, each by its name:

    python -m benchmarks.page_figures long-query | yetirank-trees | tree-times | log-counts | flat-lists [--data MQ2008]

Times are the processor's, on one thread, best of three.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rankwright as rw
from rankwright.objectives import lambdarank, ranknet


def best_of_three(work: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def long_query(_: Path) -> None:
    """Forces of one query of 200,000 documents."""
    rng = np.random.default_rng(0)
    n = 200_000
    data = rw.RankingDataset.from_arrays(np.zeros((n, 1)), rng.integers(0, 5, n), group=[n])
    scores = rng.normal(size=n)
    for name, objective in (
        ("truncation 30", lambdarank("ndcg@10")),
        ("eight partners each", ranknet(sampled_pairs=8)),
    ):
        forces = objective.bind(data, threads=1)
        print(f"{name}: {best_of_three(partial(forces, scores)):.3f} s")


def yetirank_trees(_: Path) -> None:
    """How much longer a tree takes with YetiRank's forces than with LambdaRank's."""
    data = rw.synthetic.web_search(600, seed=0)
    times = {}
    for objective in ("lambdarank:ndcg@10", "yetirank"):
        ranker = rw.LambdaMART(n_trees=30, max_leaves=7, objective=objective, threads=1)
        times[objective] = best_of_three(partial(ranker.fit, data))
    print(f"{data.n_docs:,} documents: {times['yetirank'] / times['lambdarank:ndcg@10']:.2f} times as long")


def tree_times(_: Path) -> None:
    """The time of a tree on data of the shapes of MQ2007, TD2004 and a tenth of MSLR-WEB10K."""
    rng = np.random.default_rng(0)
    for n_docs, n_features, leaves, n_queries in ((41_697, 46, 12, 1000), (44_550, 64, 12, 45), (72_000, 136, 40, 600)):
        features = rng.normal(size=(n_docs, n_features)).astype("float32")
        labels = np.clip(features[:, :5].sum(axis=1) + rng.normal(size=n_docs), 0, 4).round()
        data = rw.RankingDataset.from_arrays(features, labels, qid=np.arange(n_docs) % n_queries)
        settings: dict[str, Any] = {"max_leaves": leaves, "query_fraction": 0.6, "feature_fraction": 0.5, "threads": 1}
        settings |= {"objective": "lambdarank:ndcg@10", "min_docs_in_leaf": 50, "learning_rate": 0.1}

        def grow(n_trees: int, data=data, settings=settings) -> float:
            return best_of_three(lambda: rw.LambdaMART(n_trees=n_trees, **settings).fit(data))

        print(f"{n_docs:,} × {n_features}, {leaves} leaves: {1000 * (grow(22) - grow(2)) / 20:.1f} ms a tree")


def log_counts(_: Path) -> None:
    """What logarithms of counts are worth to nets, on the test queries of the quickstart."""
    train, valid, test = rw.synthetic.quickstart(0)
    for kind in (rw.RankNet, rw.LambdaRank):
        for scaling in ("zscore", "log-counts+zscore"):
            net = kind(hidden=(10,), activation="tanh", scaling=scaling, seed=0).fit(train, valid=valid)
            print(f"{kind.__name__}, {scaling}: {rw.evaluate(net, test, 'ndcg@10')['ndcg@10'].mean:.3f}")


def flat_lists(folder: Path) -> None:
    """What it is worth to leave out lists of one label, to ListNet on the five folds of LETOR."""
    for flat in (False, True):
        means = []
        for fold in sorted(folder.glob("Fold*")):
            train, valid, test = (rw.read(next(fold.glob(f"{part}.txt*"))) for part in ("train", "vali", "test"))
            ranker = rw.ListNet(flat_lists=flat, select="map:letor").fit(train, valid=valid)
            means.append(rw.evaluate(ranker, test, "map:letor")["map:letor"].mean)
        print(f"flat_lists={flat}: MAP {np.mean(means):.4f}")


FIGURES = {
    "long-query": long_query,
    "yetirank-trees": yetirank_trees,
    "tree-times": tree_times,
    "log-counts": log_counts,
    "flat-lists": flat_lists,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figure", choices=list(FIGURES))
    parser.add_argument("--data", type=Path, default=Path("../shared/data/MQ2008"))
    chosen = parser.parse_args()
    FIGURES[chosen.figure](chosen.data)


if __name__ == "__main__":
    main()
