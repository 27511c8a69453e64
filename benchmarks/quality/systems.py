"""Rankers to be judged, ours and the peers', by a text such as `lambdamart(max_leaves=7, n_trees=300)`.

A system is trained on a dataset and scores another. `lightgbm()`, `xgboost()` and `catboost()` are the peers with
their own defaults; `tuned-NAME(trials=8)` draws so many settings from the tool's space, the defaults first, measures
each on a quarter of the training queries, and trains the best again on all; with `folds=3` each is measured on all
training queries, held out in three parts, and the defaults are kept where none is better by more than its error.
`before-lambdamart()` and `before-bl-mart()` look for their size as 0.2.0 did.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from benchmarks.quality.long_searches import long_searches

from rankwright.arrays import Float64Array
from rankwright.catalog.rankers import ranker_named
from rankwright.data.dataset import RankingDataset
from rankwright.metrics.evaluation import evaluate
from rankwright.settings.text import values_of

METRIC = "ndcg@10"  # that tuning looks at
INNER_VALID = 0.25
Settings = dict[str, Any]
Scorer = Callable[[RankingDataset], Float64Array]
Trainer = Callable[[RankingDataset, Settings, int], Scorer]


def parse(text: str) -> tuple[str, Settings]:
    """The name and the settings of a system."""
    found = re.fullmatch(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", text)
    if found is None:
        raise ValueError(f"a system reads like lambdamart(max_leaves=7), got {text!r}")
    parts = re.split(r",(?![^\[]*\])", found[2] or "")
    return found[1], values_of(part.strip() for part in parts if part.strip())


def scores_of(system: str, train: RankingDataset, test: RankingDataset, seed: int) -> Float64Array:
    """The scores that the system, trained on `train`, gives to the documents of `test`."""
    name, settings = parse(system)
    return trainer_of(name)(train, settings, seed)(test)


def trainer_of(name: str) -> Trainer:
    """How a system of that name is trained."""
    if name in PEERS:
        return PEERS[name]
    for prefix, wrap in WRAPPERS.items():
        if name.startswith(prefix):
            return lambda *given: wrap(name.removeprefix(prefix), *given)
    return lambda train, settings, seed: _ours(name, train, settings, seed)


def _ours(name: str, train: RankingDataset, settings: Settings, seed: int) -> Scorer:
    ranker = ranker_named(name)(**({"seed": seed, "threads": 1} | settings)).fit(train)
    return lambda data: np.asarray(ranker.predict(data))


def whole_labels(data: RankingDataset) -> Any:
    """Labels as the peers want them."""
    assert data.labels is not None
    return data.labels.astype(np.int64)


def _lightgbm(train: RankingDataset, settings: Settings, seed: int) -> Scorer:
    from lightgbm import LGBMRanker

    quiet: Settings = {"random_state": seed, "n_jobs": 1, "verbose": -1}
    model = LGBMRanker(**(quiet | settings))
    model.fit(train.features, whole_labels(train), group=train.groups.sizes)
    return lambda data: np.asarray(model.booster_.predict(data.features, num_threads=1))


def _xgboost(train: RankingDataset, settings: Settings, seed: int) -> Scorer:
    from xgboost import XGBRanker

    model = XGBRanker(**({"random_state": seed, "n_jobs": 1} | settings))
    model.fit(train.features, whole_labels(train), qid=train.groups.query_of_row)
    return lambda data: np.asarray(model.predict(data.features), np.float64)


def _catboost(train: RankingDataset, settings: Settings, seed: int) -> Scorer:
    from catboost import CatBoostRanker

    quiet = {"random_seed": seed, "thread_count": 1, "verbose": False, "allow_writing_files": False}
    model = CatBoostRanker(**(quiet | settings))
    model.fit(train.features, train.labels, group_id=train.groups.query_of_row)
    return lambda data: np.asarray(model.predict(data.features), np.float64)


PEERS: dict[str, Trainer] = {"lightgbm": _lightgbm, "xgboost": _xgboost, "catboost": _catboost}


def _bagged(name: str, train: RankingDataset, settings: Settings, seed: int) -> Scorer:
    """The mean score of `bags` copies, each trained on a bootstrap sample of the queries."""
    rest = dict(settings)
    n_bags = rest.pop("bags", 30)
    copies = []
    for bag in range(n_bags):
        rng = np.random.default_rng([seed, bag])
        drawn = np.sort(rng.choice(train.n_queries, train.n_queries))
        copies.append(trainer_of(name)(train.take_queries(drawn), rest, seed * 1000 + bag))

    def mean(data: RankingDataset) -> Float64Array:
        return np.asarray(np.mean([copy(data) for copy in copies], axis=0))

    return mean


# Where a search looks: like ranges for like settings. `trees` is the number of trees, the same for all.
TREES = (100, 200, 400, 800)


def _draw_ours(rng: np.random.Generator) -> Settings:
    symmetric = bool(rng.random() < 0.5)
    return {
        "growth": "symmetric" if symmetric else "best-first",
        "max_leaves": int(rng.choice([8, 16, 32, 64] if symmetric else [4, 7, 15, 31])),
        "learning_rate": float(rng.choice([0.02, 0.05, 0.1])),
        "min_docs_in_leaf": int(rng.choice([10, 30, 100])),
        "query_fraction": float(rng.choice([0.5, 1.0])),
        "feature_fraction": float(rng.choice([0.3, 0.5, 1.0])),
    }


def _draw_lightgbm(rng: np.random.Generator) -> Settings:
    return {
        "num_leaves": int(rng.choice([4, 7, 15, 31])),
        "learning_rate": float(rng.choice([0.02, 0.05, 0.1])),
        "min_child_samples": int(rng.choice([10, 30, 100])),
        "subsample": float(rng.choice([0.5, 1.0])),
        "subsample_freq": 1,
        "bagging_by_query": True,
        "colsample_bytree": float(rng.choice([0.3, 0.5, 1.0])),
    }


def _draw_xgboost(rng: np.random.Generator) -> Settings:
    return {
        "max_depth": int(rng.choice([2, 3, 4, 6])),
        "learning_rate": float(rng.choice([0.02, 0.05, 0.1])),
        "min_child_weight": float(rng.choice([1, 5, 20])),
        "subsample": float(rng.choice([0.5, 1.0])),
        "colsample_bytree": float(rng.choice([0.3, 0.5, 1.0])),
    }


def _draw_catboost(rng: np.random.Generator) -> Settings:
    return {
        "depth": int(rng.choice([2, 3, 4, 6])),
        "learning_rate": float(rng.choice([0.02, 0.05, 0.1])),
        "l2_leaf_reg": float(rng.choice([1, 3, 10])),
        "random_strength": float(rng.choice([0.5, 1.0, 2.0])),
        "rsm": float(rng.choice([0.3, 0.5, 1.0])),
    }


DRAWS: dict[str, tuple[str, Callable[[np.random.Generator], Settings]]] = {
    "lambdamart": ("n_trees", _draw_ours),
    "lightgbm": ("n_estimators", _draw_lightgbm),
    "xgboost": ("n_estimators", _draw_xgboost),
    "catboost": ("iterations", _draw_catboost),
}


def _tuned(name: str, train: RankingDataset, settings: Settings, seed: int) -> Scorer:
    n_trees, draw = DRAWS[name]
    rng = np.random.default_rng([seed, 7])  # the same numbers for every tool
    choices: list[Settings] = [{}]
    for _ in range(settings.get("trials", 8) - 1):
        choices.append(draw(rng) | {n_trees: int(rng.choice(TREES))})
    if settings.get("folds", 1) == 1:
        parts = [train.split(valid=INNER_VALID, seed=seed)]
    else:
        parts = list(train.k_fold(settings["folds"], seed=seed))
    values = [_values(trainer_of(name), choice, parts, seed) for choice in choices]
    best = max(range(len(choices)), key=lambda number: float(np.nanmean(values[number])))
    if len(parts) > 1 and not _is_surely_better(values[best], values[0]):
        best = 0
    return trainer_of(name)(train, choices[best], seed)


def _values(trainer: Trainer, choice: Settings, parts: Sequence[Any], seed: int) -> Float64Array:
    """What a setting gets on each held-out query."""
    found = []
    for inner, valid in parts:
        found.append(evaluate(trainer(inner, choice, seed)(valid), valid, [METRIC], threads=1)[METRIC].values)
    return np.concatenate(found)


def _is_surely_better(values: Float64Array, others: Float64Array) -> bool:
    """Whether the mean is better by more than its standard error."""
    gaps = (values - others)[~np.isnan(values - others)]
    return bool(gaps.mean() > gaps.std(ddof=1) / np.sqrt(len(gaps)))


def _before(name: str, train: RankingDataset, settings: Settings, seed: int) -> Scorer:
    with long_searches():
        return trainer_of(name)(train, settings, seed)


WRAPPERS: dict[str, Callable[..., Scorer]] = {"bagged-": _bagged, "tuned-": _tuned, "before-": _before}
