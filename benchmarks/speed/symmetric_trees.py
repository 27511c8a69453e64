"""How fast are symmetric trees trained, binning included, beside those of CatBoost?

All have the same number of trees, depth, learning rate and bins. Squared error shows the engine alone; YetiRank is what
CatBoost's ranker follows by default. CatBoost runs as it comes, which draws rows for squared error, and once more on
all rows, as ours do. With one thread, processor time is compared, which other programs on the machine disturb least.
Scoring is timed on the training documents, by every model that was trained.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import catboost
import numpy as np
from benchmarks.helpers.boosting import labels_of
from benchmarks.helpers.timing import report, time_side_by_side

import rankwright as rw
from rankwright import synthetic
from rankwright.data.dataset import RankingDataset

LEARNING_RATE, MAX_BINS = 0.1, 255
OURS, CATBOOST, ALL_ROWS = "rankwright", "CatBoost", "CatBoost, all rows"


def train_ours(loss: str, data: RankingDataset, options: argparse.Namespace) -> Any:
    settings: dict[str, Any] = {
        "n_trees": options.trees,
        "growth": "symmetric",
        "max_leaves": 2**options.depth,
        "max_bins": MAX_BINS,
        "min_docs_in_leaf": 1,
        "learning_rate": LEARNING_RATE,
        "query_fraction": 1.0,
        "feature_fraction": 1.0,
        "threads": options.threads,
    }
    ranker = rw.MART(**settings) if loss == "RMSE" else rw.LambdaMART(objective="yetirank", **settings)
    return ranker.fit(data)


def train_catboost(loss: str, data: RankingDataset, options: argparse.Namespace, **sampling: str) -> Any:
    model = catboost.CatBoost(
        {
            "loss_function": loss,
            "iterations": options.trees,
            "depth": options.depth,
            "border_count": MAX_BINS - 1,
            "learning_rate": LEARNING_RATE,
            "thread_count": options.threads,
            "verbose": False,
            "allow_writing_files": False,
            **sampling,
        }
    )
    return model.fit(catboost.Pool(data.features, labels_of(data), group_id=data.groups.query_of_row))


def compare(loss: str, data: RankingDataset, test: RankingDataset, options: argparse.Namespace) -> None:
    models: dict[str, Any] = {}
    makers: dict[str, Callable[[], Any]] = {
        OURS: lambda: train_ours(loss, data, options),
        CATBOOST: lambda: train_catboost(loss, data, options),
    }
    if loss == "RMSE":
        makers[ALL_ROWS] = lambda: train_catboost(loss, data, options, bootstrap_type="No")
    train_ours(loss, test, options)  # what the first fit imports is not timed

    def training(name: str) -> Callable[[], object]:
        return lambda: models.__setitem__(name, makers[name]())

    clock = time.process_time if options.threads == 1 else time.perf_counter
    times = time_side_by_side({name: training(name) for name in makers}, options.repeats, clock)
    metric = "ndcg@10"
    notes: dict[str, object] = {
        f"held-out {metric}, {name}": round(rw.evaluate(model.predict(test.features), test, [metric])[metric].mean, 4)
        for name, model in models.items()
    }
    trees = f"{options.trees} trees of depth {options.depth}"
    size = f"{trees}, {data.n_docs:,} × {data.n_features}, {options.threads} threads"
    report(f"Training symmetric trees by {loss}, {size}", times, OURS, notes)
    scoring: dict[str, Callable[[], object]] = {
        OURS: lambda: models[OURS].predict(data.features),
        CATBOOST: lambda: models[CATBOOST].predict(data.features, thread_count=options.threads),
    }
    report(f"Scoring with them by {loss}, {size}", time_side_by_side(scoring, 3, clock), OURS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=3000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--loss", choices=["RMSE", "YetiRank"], help="one of the two")
    options = parser.parse_args()
    n_test = max(options.queries // 6, 1)
    data = synthetic.web_search(options.queries + n_test)
    train = data.take_queries(np.arange(options.queries))
    test = data.take_queries(np.arange(options.queries, data.n_queries))
    for loss in ("RMSE", "YetiRank"):
        if options.loss in (None, loss):
            compare(loss, train, test, options)


if __name__ == "__main__":
    main()
