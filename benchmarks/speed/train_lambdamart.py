"""How fast is LambdaMART trained, binning included, and how good is it, beside the peers' λ-rankers?

Trees, leaves, learning rate and the least number of documents in a leaf are the same for all, and every tree sees all
queries and features. Each of three seeds draws a training set of its own; every model is measured on the same held-out
queries, by one evaluator. LightGBM and XGBoost follow LambdaRank's forces; ours follow YetiRank's, as by default, and
LambdaRank's in a row of their own. With `--defaults`, each tool has its own settings instead, and ours chooses the
number of trees on held-out queries, which takes most of its time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import catboost
import lightgbm
import numpy as np
import xgboost
from benchmarks.helpers.boosting import labels_of
from benchmarks.helpers.timing import Timing, report, time_side_by_side

import rankwright as rw
from rankwright import synthetic
from rankwright.arrays import Float32Array, Float64Array
from rankwright.data.dataset import RankingDataset

LEARNING_RATE, MIN_DOCS, METRIC = 0.1, 20, "ndcg@10"
Predict = Callable[[Float32Array], Float64Array]
Train = Callable[[RankingDataset], Predict]


def by_rankwright(n_trees: int, max_leaves: int, max_bins: int, threads: int, objective: str | None = None) -> Train:
    def train(data: RankingDataset) -> Predict:
        ranker = rw.LambdaMART(
            n_trees=n_trees,
            max_leaves=max_leaves,
            max_bins=max_bins,
            learning_rate=LEARNING_RATE,
            min_docs_in_leaf=MIN_DOCS,
            growth="best-first",
            query_fraction=1.0,
            feature_fraction=1.0,
            objective=objective,
            threads=threads,
        )
        return ranker.fit(data).predict

    return train


def by_lightgbm(n_trees: int, max_leaves: int, max_bins: int, threads: int, **switches: bool) -> Train:
    settings: dict[str, Any] = {
        "objective": "lambdarank",
        "num_leaves": max_leaves,
        "learning_rate": LEARNING_RATE,
        "min_data_in_leaf": MIN_DOCS,
        "max_bin": max_bins,
        "num_threads": threads,
        "verbose": -1,
        **switches,
    }

    def train(data: RankingDataset) -> Predict:
        training = lightgbm.Dataset(data.features, labels_of(data), group=data.groups.sizes, params=settings)
        model = lightgbm.train(settings, training, num_boost_round=n_trees)
        return lambda features: np.asarray(model.predict(features, num_threads=threads))

    return train


def by_xgboost(n_trees: int, max_leaves: int, max_bins: int, threads: int) -> Train:
    settings = {
        "objective": "rank:ndcg",
        "lambdarank_pair_method": "topk",
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": max_leaves,
        "max_depth": 0,
        "eta": LEARNING_RATE,
        "max_bin": max_bins + 1,
        "nthread": threads,
    }

    def train(data: RankingDataset) -> Predict:
        training = xgboost.QuantileDMatrix(
            data.features, labels_of(data), group=data.groups.sizes, max_bin=max_bins + 1, nthread=threads
        )
        model = xgboost.train(settings, training, num_boost_round=n_trees)
        return lambda features: model.predict(xgboost.DMatrix(features, nthread=threads))

    return train


def by_catboost(n_trees: int, max_leaves: int, max_bins: int, threads: int) -> Train:
    def train(data: RankingDataset) -> Predict:
        queries = np.repeat(np.arange(data.n_queries), data.groups.sizes)
        model = catboost.CatBoost(
            {
                "loss_function": "YetiRank",
                "iterations": n_trees,
                "learning_rate": LEARNING_RATE,
                "grow_policy": "Lossguide",
                "max_leaves": max_leaves,
                "max_depth": 16,
                "min_data_in_leaf": MIN_DOCS,
                "border_count": max_bins - 1,
                "thread_count": threads,
                "verbose": False,
                "allow_writing_files": False,
            }
        )
        model.fit(catboost.Pool(data.features, labels_of(data), group_id=queries))
        return lambda features: np.asarray(model.predict(features))

    return train


PEERS: dict[str, tuple[Callable[[int, int, int, int], Train], int]] = {
    "rankwright": (by_rankwright, 255),
    "rankwright, 63 bins": (by_rankwright, 63),
    "rankwright, LambdaRank's forces": (partial(by_rankwright, objective="lambdarank"), 255),
    "LightGBM": (by_lightgbm, 255),
    "LightGBM, 63 bins": (by_lightgbm, 63),
    "XGBoost": (by_xgboost, 255),
    "CatBoost": (by_catboost, 255),
}


def defaults(threads: int) -> dict[str, Train]:
    """Every tool as it comes."""

    def ours(data: RankingDataset) -> Predict:
        return rw.LambdaMART(threads=threads).fit(data).predict

    def by_lightgbm_itself(data: RankingDataset) -> Predict:
        model = lightgbm.LGBMRanker(n_jobs=threads, verbose=-1)
        model.fit(data.features, labels_of(data), group=data.groups.sizes)
        return lambda features: np.asarray(model.booster_.predict(features, num_threads=threads))

    def by_xgboost_itself(data: RankingDataset) -> Predict:
        model = xgboost.XGBRanker(n_jobs=threads)
        model.fit(data.features, labels_of(data), qid=data.groups.query_of_row)
        return lambda features: np.asarray(model.predict(features), np.float64)

    def by_catboost_itself(data: RankingDataset) -> Predict:
        model = catboost.CatBoostRanker(thread_count=threads, verbose=False, allow_writing_files=False)
        model.fit(data.features, labels_of(data), group_id=data.groups.query_of_row)
        return lambda features: np.asarray(model.predict(features))

    return {
        "rankwright": ours,
        "LightGBM": by_lightgbm_itself,
        "XGBoost": by_xgboost_itself,
        "CatBoost": by_catboost_itself,
    }


def compare(
    trains: list[RankingDataset],
    test: RankingDataset,
    makers: dict[str, Train],
    title: str,
    options: argparse.Namespace,
) -> None:
    makers = {name: train for name, train in makers.items() if name not in options.without}
    found: dict[str, list[float]] = {name: [] for name in makers}
    timings: dict[str, Timing] = {}
    for train in trains:
        models: dict[str, Predict] = {}

        def task(name: str, train: RankingDataset = train, models: dict[str, Any] = models) -> Callable[[], object]:
            return lambda: models.__setitem__(name, makers[name](train))

        for name, timing in time_side_by_side({name: task(name) for name in makers}, repeats=1).items():
            earlier = timings[name].seconds if name in timings else []
            timings[name] = Timing(name, earlier + timing.seconds)
        for name, predict in models.items():
            found[name].append(rw.evaluate(predict(test.features), test, [METRIC])[METRIC].mean)
    notes: dict[str, object] = {
        f"held-out {METRIC}, {name}": f"{np.mean(values):.4f} ± {np.std(values):.4f} over {len(values)} seeds"
        for name, values in found.items()
    }
    size = f"{trains[0].n_docs:,} × {trains[0].n_features}, {options.threads} threads"
    report(f"LambdaMART, {title} on {size}", timings, "rankwright", notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=6000)
    parser.add_argument("--test-queries", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--without", nargs="*", default=[], metavar="NAME", help="peers to leave out")
    parser.add_argument("--defaults", action="store_true", help="each tool's own settings, end to end")
    parser.add_argument("--only", choices=["31", "255"], help="one of the two sizes of trees")
    options = parser.parse_args()
    data = synthetic.web_search(options.queries * options.seeds + options.test_queries)
    starts = range(0, options.queries * options.seeds, options.queries)
    trains = [data.take_queries(np.arange(start, start + options.queries)) for start in starts]
    test = data.take_queries(np.arange(options.queries * options.seeds, data.n_queries))
    if options.defaults:
        compare(trains, test, defaults(options.threads), "defaults", options)
        return
    for n_trees, max_leaves in ((100, 31), (50, 255)):
        if options.only in (None, str(max_leaves)):
            makers = {name: maker(n_trees, max_leaves, bins, options.threads) for name, (maker, bins) in PEERS.items()}
            compare(trains, test, makers, f"{n_trees} trees × {max_leaves} leaves", options)


if __name__ == "__main__":
    main()
