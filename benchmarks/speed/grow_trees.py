"""How fast are trees grown, binning included, beside LightGBM, XGBoost and CatBoost at matched settings?

The objective is squared error on the labels in all of them, so that what differs is the engine.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import xgboost
from benchmarks.helpers.boosting import boost_labels, labels_of
from benchmarks.helpers.timing import report, time_side_by_side

from rankwright import synthetic
from rankwright.data.dataset import RankingDataset
from rankwright.trees.params import TreeParams

LEARNING_RATE, MIN_DOCS = 0.1, 20


def train_lightgbm(data: RankingDataset, n_trees: int, max_leaves: int, max_bins: int, threads: int) -> Any:
    settings = {
        "objective": "regression",
        "boost_from_average": False,
        "num_leaves": max_leaves,
        "learning_rate": LEARNING_RATE,
        "min_data_in_leaf": MIN_DOCS,
        "max_bin": max_bins,
        "num_threads": threads,
        "verbose": -1,
    }
    training = lightgbm.Dataset(data.features, labels_of(data), params=settings)
    return lightgbm.train(settings, training, num_boost_round=n_trees)


def train_xgboost(data: RankingDataset, n_trees: int, max_leaves: int, max_bins: int, threads: int) -> Any:
    settings = {
        "objective": "reg:squarederror",
        "base_score": 0.0,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": max_leaves,
        "max_depth": 0,
        "eta": LEARNING_RATE,
        "lambda": 0.0,
        "min_child_weight": MIN_DOCS,
        "max_bin": max_bins,
        "nthread": threads,
    }
    training = xgboost.QuantileDMatrix(data.features, labels_of(data), max_bin=max_bins, nthread=threads)
    return xgboost.train(settings, training, num_boost_round=n_trees)


def compare(
    train: RankingDataset, test: RankingDataset, n_trees: int, max_leaves: int, options: argparse.Namespace
) -> None:
    params = TreeParams(max_leaves=max_leaves, learning_rate=LEARNING_RATE, min_docs_in_leaf=MIN_DOCS)
    threads = options.threads
    models: dict[str, Any] = {}
    makers: dict[str, Callable[[], Any]] = {
        "rankwright": lambda: boost_labels(train, n_trees, params, threads=threads),
        "rankwright, 63 bins": lambda: boost_labels(train, n_trees, params, max_bins=63, threads=threads),
        "LightGBM": lambda: train_lightgbm(train, n_trees, max_leaves, 255, threads),
        "LightGBM, 63 bins": lambda: train_lightgbm(train, n_trees, max_leaves, 63, threads),
        "XGBoost": lambda: train_xgboost(train, n_trees, max_leaves, 256, threads),
        "XGBoost, 64 bins": lambda: train_xgboost(train, n_trees, max_leaves, 64, threads),
    }

    def task(name: str) -> Callable[[], object]:
        return lambda: models.__setitem__(name, makers[name]())

    timings = time_side_by_side({name: task(name) for name in makers}, repeats=options.repeats)
    notes: dict[str, object] = {}
    for name, model in models.items():
        scores = model.predict(xgboost.DMatrix(test.features) if name.startswith("XGBoost") else test.features)
        notes[f"test error of {name}"] = round(float(np.mean((scores - labels_of(test)) ** 2)), 5)
    question = (
        f"Growing {n_trees} trees × {max_leaves} leaves on {train.n_docs:,} × {train.n_features}, {threads} threads"
    )
    report(question, timings, "rankwright", notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=6000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="a part of the trees, for a quick look")
    options = parser.parse_args()
    n_test = max(options.queries // 10, 1)
    data = synthetic.web_search(options.queries + n_test)
    train = data.take_queries(np.arange(options.queries))
    test = data.take_queries(np.arange(options.queries, options.queries + n_test))
    for n_trees, max_leaves in ((100, 31), (50, 255)):
        compare(train, test, max(int(n_trees * options.scale), 1), max_leaves, options)


if __name__ == "__main__":
    main()
