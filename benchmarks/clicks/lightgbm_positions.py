"""Rankers that know positions, on the position bias that LightGBM tests itself with: who ranks best by true labels?

    python -m benchmarks.clicks.lightgbm_positions [--seeds 20] [--trees 50] [--without "xgboost;…"]

Users go through LightGBM's example, ordered by feature 34; they click a document of grade 0 to 4 with chance .4 .6 .7
.8 .9, and leave after each document with chance .2. One session a query. Every system gets the same clicks, 50 trees of
31 leaves, one thread, and is measured on the test file's true labels. XGBoost takes the order of rows as positions, so
it gets rows in that order. Differences are paired by seed. The switches of the others always correct, as our `always`
does; `auto` asks held-out clicks first, and 201 clicked lists hardly ever show whether features tell relevance: by
such a log, users who click by position alone look the same, whom the whole correction would cost most of what is
learned. So it takes clicks as they are. A random order and the one that was shown are printed beside them.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
from benchmarks.helpers.places import DATA
from benchmarks.helpers.records import show

import rankwright as rw

EXAMPLE = DATA / "lightgbm-example"
CLICKS, LEAVES, FEATURE = (0.4, 0.6, 0.7, 0.8, 0.9), 0.2, 34
METRIC = "ndcg@3"


def read(part: str) -> Any:
    return rw.read(EXAMPLE / f"rank.{part}.gz", group=EXAMPLE / f"rank.{part}.query.gz")


def clicked(data: Any, seed: int) -> Any:
    """The data with clicks in place of labels, and positions by feature 34."""
    rng = np.random.default_rng(seed)
    scores = np.nan_to_num(data.features[:, FEATURE - 1])
    positions, looked = np.empty(data.n_docs, np.int64), np.empty(data.n_docs, np.bool_)
    for docs in data.groups.slices():
        order = np.argsort(-scores[docs], kind="stable")
        positions[docs][order] = np.arange(len(order))
        last = rng.geometric(LEAVES)  # how many documents the user looks at
        looked[docs] = positions[docs] < last
    attracted = rng.random(data.n_docs) < np.array(CLICKS)[data.labels.astype(int)]
    return replace(data, labels=(looked & attracted).astype(np.float32), positions=positions)


def ours(data: Any, test: Any, seed: int, trees: int, debias: str) -> np.ndarray:
    ranker = rw.LambdaMART(
        n_trees=trees, max_leaves=31, min_docs_in_leaf=50, learning_rate=0.1, growth="best-first", query_fraction=0.9,
        debias=debias, seed=seed, threads=1,
    )  # fmt: skip
    scores: np.ndarray = ranker.fit(data).predict(test)
    return scores


def lightgbm(data: Any, test: Any, seed: int, trees: int, position: bool) -> np.ndarray:
    import lightgbm as lgb

    params = {
        "objective": "lambdarank", "verbose": -1, "bagging_freq": 1, "bagging_fraction": 0.9, "min_data_in_leaf": 50,
        "min_sum_hessian_in_leaf": 5.0, "num_threads": 1, "deterministic": True, "seed": seed,
    }  # fmt: skip
    train = lgb.Dataset(
        data.features, data.labels, group=data.groups.sizes, position=data.positions if position else None
    )
    return np.asarray(lgb.train(params, train, num_boost_round=trees).predict(test.features))


def xgboost(data: Any, test: Any, seed: int, trees: int, unbiased: bool) -> np.ndarray:
    import xgboost as xgb

    order = np.lexsort((data.positions, data.groups.query_of_row))
    train = xgb.DMatrix(data.features[order], data.labels[order], qid=data.groups.query_of_row[order])
    params = {
        "objective": "rank:ndcg", "lambdarank_unbiased": unbiased, "eta": 0.1, "max_depth": 0, "max_leaves": 31,
        "grow_policy": "lossguide", "tree_method": "hist", "subsample": 0.9, "seed": seed, "nthread": 1,
        "lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": 32,
    }  # fmt: skip
    return np.asarray(xgb.train(params, train, trees).predict(xgb.DMatrix(test.features)))


SYSTEMS: dict[str, Any] = {
    "rankwright, naive": lambda data, test, seed, trees: ours(data, test, seed, trees, "none"),
    "rankwright, auto": lambda data, test, seed, trees: ours(data, test, seed, trees, "auto"),
    "rankwright, always": lambda data, test, seed, trees: ours(data, test, seed, trees, "always"),
    "random order": lambda _, test, seed, __: np.random.default_rng(seed).random(test.n_docs),
    "shown order": lambda _, test, __, ___: np.nan_to_num(test.features[:, FEATURE - 1]),
    "lightgbm": lambda data, test, seed, trees: lightgbm(data, test, seed, trees, False),
    "lightgbm, position": lambda data, test, seed, trees: lightgbm(data, test, seed, trees, True),
    "xgboost": lambda data, test, seed, trees: xgboost(data, test, seed, trees, False),
    "xgboost, lambdarank_unbiased": lambda data, test, seed, trees: xgboost(data, test, seed, trees, True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--without", default="", help="systems to leave out, separated by ;")
    given = parser.parse_args()
    systems = {name: system for name, system in SYSTEMS.items() if name not in given.without.split(";")}
    train, test = read("train"), read("test")
    found: dict[str, list[float]] = {name: [] for name in systems}
    for seed in range(given.first, given.first + given.seeds):
        data = clicked(train, seed)
        scores = {name: system(data, test, seed, given.trees) for name, system in systems.items()}
        for name, values in found.items():
            values.append(rw.evaluate(scores[name], test, [METRIC])[METRIC].mean)
        print(seed, {name: round(values[-1], 4) for name, values in found.items()}, flush=True)
    corrected = np.array(found["rankwright, always"])
    rows = []
    for name, values in found.items():
        lead = corrected - np.array(values)
        error = float(lead.std(ddof=1) / np.sqrt(len(lead))) if len(lead) > 1 else float("nan")
        rows.append({"system": name, METRIC: float(np.mean(values)), "always leads by": float(lead.mean()), "±": error})
    show("clicks_lightgbm", f"{METRIC} on LightGBM's position bias, mean of {given.seeds} seeds", rows)


if __name__ == "__main__":
    main()
