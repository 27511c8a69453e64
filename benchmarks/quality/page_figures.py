"""Single figures of the documentation that no larger benchmark prints, each by its name:

    python -m benchmarks.quality.page_figures long-query | yetirank-trees | tree-times | log-counts
    python -m benchmarks.quality.page_figures flat-lists | adarank-ndcg [--data ../shared/data/MQ2008]

Times are the processor's, on one thread, best of three. Each leaves its rows for the page of results.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers.records import show

import rankwright as rw
from rankwright.objectives import lambdarank, ranknet

Rows = list[dict[str, Any]]


def best_of_three(work: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def long_query(_: Path) -> Rows:
    """Forces of one query of 200,000 documents."""
    rng = np.random.default_rng(0)
    n = 200_000
    data = rw.RankingDataset.from_arrays(np.zeros((n, 1)), rng.integers(0, 5, n), group=[n])
    scores = rng.normal(size=n)
    rows = []
    for name, objective in (
        ("truncation 30", lambdarank("ndcg@10")),
        ("eight partners each", ranknet(sampled_pairs=8)),
    ):
        forces = objective.bind(data, threads=1)
        rows.append({"pairs": name, "seconds": best_of_three(partial(forces, scores))})
    return rows


def yetirank_trees(_: Path) -> Rows:
    """How much longer a tree takes with YetiRank's forces than with LambdaRank's."""
    data = rw.synthetic.web_search(600, seed=0)
    times = {}
    for objective in ("lambdarank:ndcg@10", "yetirank"):
        ranker = rw.LambdaMART(n_trees=30, max_leaves=7, objective=objective, threads=1)
        times[objective] = best_of_three(partial(ranker.fit, data))
    return [{"documents": data.n_docs, "times as long": times["yetirank"] / times["lambdarank:ndcg@10"]}]


def tree_times(_: Path) -> Rows:
    """The time of a tree on data of the shapes of MQ2007, TD2004 and a tenth of MSLR-WEB10K."""
    rng = np.random.default_rng(0)
    rows = []
    for n_docs, n_features, leaves, n_queries in ((41_697, 46, 12, 1000), (44_550, 64, 12, 45), (72_000, 136, 40, 600)):
        features = rng.normal(size=(n_docs, n_features)).astype("float32")
        labels = np.clip(features[:, :5].sum(axis=1) + rng.normal(size=n_docs), 0, 4).round()
        data = rw.RankingDataset.from_arrays(features, labels, qid=np.arange(n_docs) % n_queries)
        settings: dict[str, Any] = {"max_leaves": leaves, "query_fraction": 0.6, "feature_fraction": 0.5, "threads": 1}
        settings |= {"objective": "lambdarank:ndcg@10", "min_docs_in_leaf": 50, "learning_rate": 0.1}

        def grow(n_trees: int, data=data, settings=settings) -> float:
            return best_of_three(lambda: rw.LambdaMART(n_trees=n_trees, **settings).fit(data))

        shape = f"{n_docs:,} × {n_features}, {leaves} leaves"
        rows.append({"shape": shape, "ms a tree": 1000 * (grow(22) - grow(2)) / 20})
    return rows


def log_counts(_: Path) -> Rows:
    """What logarithms of counts are worth to nets, on the test queries of the quickstart."""
    train, valid, test = rw.synthetic.quickstart(0)
    rows = []
    for kind in (rw.RankNet, rw.LambdaRank):
        for scaling in ("zscore", "log-counts+zscore"):
            net = kind(hidden=(10,), activation="tanh", scaling=scaling, seed=0).fit(train, valid=valid)
            value = rw.evaluate(net, test, "ndcg@10")["ndcg@10"].mean
            rows.append({"net": kind.__name__, "scaling": scaling, "ndcg@10": value})
    return rows


def folds_of(folder: Path) -> Iterator[list[rw.RankingDataset]]:
    """The three parts of each of LETOR's folds."""
    for fold in sorted(folder.glob("Fold*")):
        yield [rw.read(next(fold.glob(f"{part}.txt*"))) for part in ("train", "vali", "test")]


def adarank_ndcg(folder: Path) -> Rows:
    """AdaRank that boosts NDCG: its depth and the uses of a feature chosen by MAP on the vali part of each fold."""
    found = []
    for train, valid, test in folds_of(folder):
        tried = []
        for metric, uses in product(("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "ndcg"), (1, 4)):
            ranker = rw.AdaRank(metric=metric, max_uses=uses, select="map:letor").fit(train, valid=valid)
            tried.append((rw.evaluate(ranker, valid, "map:letor")["map:letor"].mean, ranker))
        best = max(tried, key=lambda one: one[0])[1]
        found.append(rw.evaluate(best, test, "map:letor")["map:letor"].mean)
    return [{"set": folder.name, "MAP": float(np.mean(found))}]


def flat_lists(folder: Path) -> Rows:
    """What it is worth to leave out lists of one label, to ListNet on the five folds of LETOR."""
    rows = []
    for flat in (False, True):
        means = []
        for train, valid, test in folds_of(folder):
            ranker = rw.ListNet(flat_lists=flat, select="map:letor").fit(train, valid=valid)
            means.append(rw.evaluate(ranker, test, "map:letor")["map:letor"].mean)
        rows.append({"flat_lists": flat, "MAP": float(np.mean(means))})
    return rows


FIGURES = {
    "long-query": long_query,
    "yetirank-trees": yetirank_trees,
    "tree-times": tree_times,
    "log-counts": log_counts,
    "flat-lists": flat_lists,
    "adarank-ndcg": adarank_ndcg,
}
ON_FOLDS = (flat_lists, adarank_ndcg)  # which take the folds of --data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figure", choices=list(FIGURES))
    parser.add_argument("--data", type=Path, default=Path("../shared/data/MQ2008"))
    chosen = parser.parse_args()
    figure = FIGURES[chosen.figure]
    about = f"{(figure.__doc__ or '').rstrip('.')}{f': {chosen.data.name}' if figure in ON_FOLDS else ''}"
    show(f"page {chosen.figure} {chosen.data.name if figure in ON_FOLDS else ''}", about, figure(chosen.data))


if __name__ == "__main__":
    main()
